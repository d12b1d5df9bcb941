// Metadata files: the golden file is read and written, wrong files are refused, and the output writes them.
#include <doctest/doctest.h>
#include <mpi.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/mpi/communicator.hpp"
#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"
#include "data/mesh_arrays.hpp"
#include "storage/files/output_directory.hpp"
#include "storage/formats/metadata_file.hpp"
#include "storage/writers/kinds.hpp"
#include "support/fake_domain.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Block block(std::int32_t mesh, std::int64_t id, std::int32_t level, std::int32_t client, const Box& cells) {
  return {id, mesh, level, client, IndexSpace::box, cells};
}

/// The contents of the golden file.
MetadataFile golden() {
  MetadataFile content;
  content.iteration = {3, 30, 0.1};
  Mesh grid;
  grid.id = 0;
  grid.name = "grid";
  grid.cells = {{0, 0, 0}, {8, 4, 2}};
  grid.geometry = std::make_shared<UniformGeometry>(std::array{0.5, -1.0, 0.0}, std::array{0.1, 1e-20, 3.0});
  grid.periodic = {true, false, true};
  grid.refinement = {{2, 2, 2}, {4, 2, 1}};
  grid.fixed = true;
  Mesh column;
  column.id = 1;
  column.name = "a \"column\"";
  column.cells = {{0, 0, 0}, {2, 1, 1}};
  column.dimensions = 2;
  column.geometry = std::make_shared<RectilinearGeometry>(
      Index3{0, 0, 0}, std::array<std::vector<double>, 3>{{{0, 1, 2.5}, {-1, 1}, {0, 1}}});
  content.metadata.meshes = {grid, column};
  Variable t, n;
  t.id = t.mesh = 0;
  t.name = "t";
  t.unit = "K";
  t.label = "Temperature: \\T";
  t.group = "gas";
  n.id = n.mesh = 1;
  n.name = "n";
  n.type = Type::uint16;
  n.centering = nodes_of(2);
  n.components = 3;
  n.order = Order::row;
  n.time_varying = false;
  content.metadata.variables = {t, n};
  content.catalogue.blocks = {block(0, 0, 0, 0, {{0, 0, 0}, {4, 4, 2}}), block(0, 7, 0, 2, {{4, 0, 0}, {8, 4, 2}}),
                              block(0, INT64_MAX, 1, 1, {{3, 2, 0}, {7, 6, 4}}), block(1, 0, 0, 0, {})};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  content.catalogue.counted = {{0, 0, 0, 0, {-1.5, 2}}, {0, INT64_MAX, 0, 0, {0.1, 0.25}}, {7, 0, 1, 2, {}}};
  content.catalogue.ranges = {{0, 0, 0, {-1.5, 1e300}, {Range{0.1, 0.2}, Range{}, Range{-1.5, -1.5}}},
                              {7, 1, 2, {-infinity, infinity}, {Range{0, 65535}, Range{1, 2}, Range{3, 4}}}};
  return content;
}

void check_same(const MetadataFile& a, const MetadataFile& b) {
  CHECK(a.iteration.index == b.iteration.index);
  CHECK(a.iteration.cycle == b.iteration.cycle);
  CHECK(a.iteration.time == b.iteration.time);
  REQUIRE(a.metadata.meshes.size() == b.metadata.meshes.size());
  for (std::size_t m = 0; m < a.metadata.meshes.size(); ++m) {
    const Mesh &x = a.metadata.meshes[m], &y = b.metadata.meshes[m];
    CHECK((x.id == y.id && x.name == y.name && x.cells == y.cells && x.dimensions == y.dimensions));
    CHECK((x.periodic == y.periodic && x.refinement == y.refinement && x.fixed == y.fixed));
    CHECK(x.geometry->kind() == y.geometry->kind());
    for (int axis = 0; axis < x.dimensions; ++axis) {
      for (Index i = x.cells.lo[axis]; i <= x.cells.hi[axis]; ++i) {
        CHECK(x.geometry->axes()->node(axis, i) == y.geometry->axes()->node(axis, i));
      }
    }
  }
  REQUIRE(a.metadata.variables.size() == b.metadata.variables.size());
  for (std::size_t v = 0; v < a.metadata.variables.size(); ++v) {
    const Variable &x = a.metadata.variables[v], &y = b.metadata.variables[v];
    CHECK((x.id == y.id && x.name == y.name && x.mesh == y.mesh && x.type == y.type && x.centering == y.centering));
    CHECK((x.components == y.components && x.order == y.order && x.time_varying == y.time_varying));
    CHECK((x.unit == y.unit && x.label == y.label && x.group == y.group));
  }
  CHECK(a.catalogue.blocks == b.catalogue.blocks);
  REQUIRE(a.catalogue.ranges.size() == b.catalogue.ranges.size());
  for (std::size_t r = 0; r < a.catalogue.ranges.size(); ++r) {
    const BlockRange &x = a.catalogue.ranges[r], &y = b.catalogue.ranges[r];
    CHECK((x.block == y.block && x.variable == y.variable && x.component == y.component));
    CHECK((x.all == y.all && x.lowest == y.lowest));
  }
  REQUIRE(a.catalogue.counted.size() == b.catalogue.counted.size());
  for (std::size_t r = 0; r < a.catalogue.counted.size(); ++r) {
    const CountedRange &x = a.catalogue.counted[r], &y = b.catalogue.counted[r];
    CHECK((x.block == y.block && x.beside == y.beside && x.variable == y.variable && x.component == y.component));
    CHECK(x.range == y.range);
  }
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse_metadata(text, "m.yaml"));
  } catch (const Error& error) {
    CHECK(error.code() == Code::configuration);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the golden file is read and written to the byte") {
  const std::string text = contents(SIDESTREAM_GOLDEN_DIRECTORY "metadata.yaml");
  REQUIRE(!text.empty());
  check_same(parse_metadata(text, "metadata.yaml"), golden());
  CHECK(metadata_text(golden()) == text);
}

TEST_CASE("files of version 1 are still read") {
  MetadataFile expected = golden();
  expected.catalogue.counted.clear();
  check_same(parse_metadata(contents(SIDESTREAM_GOLDEN_DIRECTORY "metadata-1.yaml"), "metadata.yaml"), expected);
}

TEST_CASE("every kind of mesh, lists and bounds come back") {
  MetadataFile content;
  for (const MeshKind kind : {MeshKind::curvilinear, MeshKind::unstructured, MeshKind::points}) {
    Mesh mesh;
    mesh.id = static_cast<std::int32_t>(content.metadata.meshes.size());
    mesh.geometry = std::make_shared<ArrayGeometry>(kind);
    mesh.name = mesh.geometry->kind();
    mesh.dimensions = 2;
    if (kind == MeshKind::curvilinear) mesh.cells = {{0, 0, 0}, {5, 4, 1}};
    content.metadata.meshes.push_back(mesh);
  }
  Mesh tree;
  tree.id = 3;
  tree.name = "octree";
  tree.dimensions = 2;
  tree.geometry = std::make_shared<OctreeGeometry>(Index3{3, 2, 1}, std::array<double, 3>{-1, 0.1, 0},
                                                   std::array<double, 3>{0.25, 1e-9, 1});
  content.metadata.meshes.push_back(tree);
  const auto add = [&](std::int32_t mesh, Role role, Type type) {
    Variable v;
    v.id = static_cast<std::int32_t>(content.metadata.variables.size());
    v.name = "v" + std::to_string(v.id);
    v.mesh = mesh;
    v.type = type;
    v.components = role == Role::coordinates ? 2 : 1;
    content.metadata.variables.push_back(v);
    assign_role(content.metadata, content.metadata.meshes[static_cast<std::size_t>(mesh)].name, role, v.name);
  };
  for (const std::int32_t mesh : {0, 1, 2}) add(mesh, Role::coordinates, Type::float32);
  add(1, Role::connectivity, Type::int64);
  add(1, Role::offsets, Type::int64);
  add(1, Role::types, Type::uint8);
  add(2, Role::point_ids, Type::int32);
  add(3, Role::refined, Type::uint8);
  add(3, Role::owned, Type::uint8);
  Block box = block(0, 3, 0, 1, {{0, 0, 0}, {5, 2, 1}});
  box.bounds = {{0, 0.1, 0}, {1, 2, 0}};
  Block cells{7, 1, 0, 2, IndexSpace::list, list_box(9), {20, 36, 0}, {}};
  Block points{8, 2, 0, 0, IndexSpace::list, list_box(0), {0, 0, 0}, {{-1, -1e300, 0}, {1, 1, 0}}};
  Block domain{9, 3, 0, 1, IndexSpace::list, list_box(14), {}, {}};
  content.catalogue.blocks = {box, cells, points, domain};
  const MetadataFile read = parse_metadata(metadata_text(content), "m.yaml");
  CHECK(read.catalogue.blocks == content.catalogue.blocks);
  for (std::size_t m = 0; m < 4; ++m) {
    CHECK(read.metadata.meshes[m].kind() == content.metadata.meshes[m].kind());
    CHECK(read.metadata.meshes[m].arrays == content.metadata.meshes[m].arrays);
    CHECK(read.metadata.meshes[m].cells == content.metadata.meshes[m].cells);
    CHECK(read.metadata.meshes[m].dimensions == 2);
  }
  const auto& back = dynamic_cast<const OctreeGeometry&>(*read.metadata.meshes[3].geometry);
  const auto& given = dynamic_cast<const OctreeGeometry&>(*tree.geometry);
  CHECK(back.roots() == given.roots());
  CHECK(back.origin() == given.origin());
  CHECK(back.spacing() == given.spacing());
  for (std::size_t v = 0; v < content.metadata.variables.size(); ++v) {
    CHECK(read.metadata.variables[v].role == content.metadata.variables[v].role);
    CHECK(read.metadata.variables[v].centering == content.metadata.variables[v].centering);
  }
}

TEST_CASE("numbers come back exactly, in large files too") {
  MetadataFile content = golden();
  content.catalogue.blocks.clear();
  content.catalogue.ranges.clear();
  std::mt19937_64 random(1);
  for (std::int64_t b = 0; b < 1 << 15; ++b) {
    content.catalogue.blocks.push_back(block(0, b, 1, static_cast<int>(b % 7), {{b, -b, 0}, {b + 1, b, INT64_MAX}}));
    const auto number = [&] {
      double value;
      do {
        value = std::bit_cast<double>(random());
      } while (value != value);
      return value;
    };
    content.catalogue.ranges.push_back(
        {b, 0, 0, {number(), number()}, {Range{number(), 0}, Range{0, number()}, Range{number(), number()}}});
  }
  check_same(parse_metadata(metadata_text(content), "m.yaml"), content);
}

TEST_CASE("errors name the place") {
  const std::string text = metadata_text(golden());
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    REQUIRE(changed.find(from) != std::string::npos);
    return error_of(changed.replace(changed.find(from), from.size(), to));
  };
  const auto says = [](const std::string& message, const std::string& part) {
    CAPTURE(message);
    CHECK(message.find(part) != std::string::npos);
  };
  says(broken("sidestream_metadata: 2", "sidestream_metadata: 3"), "m.yaml:1:22: found version '3', expected");
  says(broken("sidestream_metadata: 2\n", ""), "m.yaml:1:1: found no 'sidestream_metadata'");
  says(broken("blocks: |", "block: |"), "m.yaml:10:1: found the unknown key 'block'");
  says(broken("  0 7 0 2 4", "  0 x 0 2 4"), "m.yaml:12:1: found '0 x 0 2 4 0 0 8 4 2' under 'blocks', expected 'mesh");
  says(broken("0 4 4 2\n", "0 4 4 2 1\n"), "m.yaml:11:1: found more than is expected in '0 0 0 0 0 0 0 4 4 2 1'");
  says(broken("0 4 4 2\n", "0 4 4\n"), "m.yaml:11:1: found '0 0 0 0 0 0 0 4 4' under 'blocks'");
  says(broken("  0 7 0 2 4", "  2 7 0 2 4"), "found the mesh number 2 of 2 meshes in");
  says(broken("  0 7 0 2 4", "  0 7 -1 2 4"), "found a level or a client below 0 in");
  says(broken("0 0 8 4 2", "0 0 9 4 2"), "m.yaml:12:1: found a block that reaches beyond its mesh in");
  says(broken("  0 7 0 2 4", "  0 0 0 2 4"), "found block 0 of the mesh 'grid' twice");
  says(broken("  7 1 2 -inf", "  7 2 2 -inf"), "m.yaml:18:1: found the variable number 2 of 2 variables in");
  says(broken("  7 1 2 -inf", "  7 1 3 -inf"), "found the component 3 of 3 components in");
  says(broken("  7 1 2 -inf", "  7 1 2 1-inf"), "under 'ranges', expected 'block variable component");
  says(broken("blocks: |", "blocks: [1]\nx: |"), "found the unknown key 'x'");
  says(error_of("sidestream_metadata: 1\nblocks: [1]\n"), "m.yaml:2:9: found a list for 'blocks'");
  says(broken("2x2x2", "2x2"), "found '2x2' in 'refinement', expected a number from 1 to 1024 or one for each axis");
  says(broken("[x, z]", "[x, w]"), "found 'w' for 'periodic'");
}

TEST_CASE("the output writes what the catalogue holds, sorted, with the ranges that it asks for") {
  const std::string folder = "/tmp/sidestream_metadata_" + std::to_string(getpid());
  const MetadataFile content = golden();
  const WriterKind kind = metadata_writer();
  const Parameters none;
  const auto settings = [&](const std::string& yaml) {
    const Node node = parse_node(yaml, "run.yaml");
    return read_settings(node, kind.options, "the output", node.where, {ExpressionContext{none}, &content.metadata});
  };
  {
    const auto writer = kind.create(settings("{ranges: n}"), content.metadata, open_output_directory(folder, "test"));
    const Selection selection = writer->selection();
    CHECK(selection.variables.empty());
    CHECK(selection.catalogue);
    CHECK(selection.ranges == std::vector<RangeRequest>{{1, 0}, {1, 1}, {1, 2}});
    Catalogue shuffled = content.catalogue;
    std::reverse(shuffled.blocks.begin(), shuffled.blocks.end());
    std::reverse(shuffled.counted.begin(), shuffled.counted.end());
    const std::vector<std::vector<BlockView>> blocks(2);
    LocalInput input{content.iteration, content.metadata, blocks, 0, {}, &shuffled};
    MpiCommunicator self(MPI_COMM_SELF);
    CapturedResults results;
    const std::vector<Bytes> partials{writer->local(input)};
    writer->combine({content.iteration, content.metadata, partials, 0, self, results, &input});
    MetadataFile expected = content;
    expected.catalogue.ranges.erase(expected.catalogue.ranges.begin());  // the range of t, which another task asked for
    expected.catalogue.counted.erase(expected.catalogue.counted.begin(), expected.catalogue.counted.begin() + 2);
    check_same(parse_metadata(contents(folder + "/metadata-000030.yaml"), "m.yaml"), expected);
    CHECK(!contents(folder + "/metadata.yaml.series").empty());
    input.catalogue = nullptr;
    CHECK_THROWS_WITH_AS(static_cast<void>(writer->local(input)), doctest::Contains("no list of all blocks"), Error);
    CHECK_THROWS_AS(kind.create(settings("{file: m.yaml}"), content.metadata, open_output_directory(folder, "")),
                    Error);
  }
  std::filesystem::remove_all(folder);
}
