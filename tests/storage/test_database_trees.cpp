// Octrees in a database: levels of several chunks, reading of coarse levels without finer ones, and damage.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "storage/codecs/pipeline.hpp"
#include "storage/database/tree_storing.hpp"
#include "storage/support/small_database.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::database;

namespace {

/// All cells of a cube are refined to this level, which has 2^18 cells, two chunks of doubles.
constexpr int depth = 6;

std::vector<std::uint8_t> whole_tree() {
  std::vector<std::uint8_t> refined;
  for (int level = 0; level <= depth; ++level)
    refined.insert(refined.end(), std::size_t{1} << 3 * level, level < depth ? 1 : 0);
  return refined;
}

Variable on_tree(std::int32_t id, const char* name, Type type, Role role) {
  Variable made;
  made.id = id;
  made.mesh = 0;
  made.name = name;
  made.type = type;
  made.role = role;
  return made;
}

Schema schema_of() {
  Schema schema;
  schema.provenance = "a test";
  schema.chunk = chunk_bytes;
  Mesh mesh;
  mesh.id = 0;
  mesh.name = "tree";
  mesh.geometry =
      std::make_shared<OctreeGeometry>(Index3{1, 1, 1}, std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  mesh.arrays[static_cast<std::size_t>(Role::refined)] = 0;
  schema.metadata.meshes.push_back(mesh);
  schema.metadata.variables = {
      on_tree(0, "split", Type::uint8, Role::refined), on_tree(1, "raw", Type::float64, Role::none),
      on_tree(2, "packed", Type::float64, Role::none), on_tree(3, "twice", Type::float64, Role::none),
      on_tree(4, "both", Type::float64, Role::none)};
  schema.codecs = {{tree_codec}, {}, {tree_codec}, {tree_codec}, {tree_codec}};
  schema.relations.resize(5);
  schema.relations[3].equals = "2 * raw";
  schema.relations[4].equals = "packed + twice";
  return schema;
}

/// The value of a cell in variables 1 and 2. Variables 3 and 4 have what their relations say.
double value(std::size_t cell) { return std::sin(0.001 * static_cast<double>(cell)); }
double value_of(std::uint32_t variable, std::size_t cell) {
  const double one = value(cell);
  return variable < 3 ? one : variable == 3 ? 2 * one : one + 2 * one;
}

BlockView view_of(const Variable& variable, const void* data, Index cells) {
  BlockView view;
  view.block.id = 5;
  view.block.space = IndexSpace::list;
  view.block.cells = view.points = list_box(cells);
  view.array = {data, variable.type, MemorySpace::host, view.points, 1, packed_strides(view.points, 1, Order::column)};
  return view;
}

void store(const std::string& directory) {
  MpiCommunicator self{MPI_COMM_SELF};
  StoringOptions options;
  options.directory = directory;
  options.max_file_size = std::uint64_t{1} << 31;
  options.flush = options.show = false;
  Storing storing(options);
  const Schema schema = schema_of();
  StoredTree tree{LinkedTree(schema.metadata.meshes[0], whole_tree()), {}, {}, 0};
  std::vector<double> values(static_cast<std::size_t>(tree.tree.cells()));
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = value(n);
  WorkerPool pool(2);
  const Encoding encoding{&pool, {}, find_tree_codec(tree_codec, {}, {}).codec};
  const auto& variables = schema.metadata.variables;
  const BlockView flags = view_of(variables[0], tree.tree.refined().data(), tree.tree.cells());
  const BlockView raw = view_of(variables[1], values.data(), tree.tree.cells());
  const LevelCuts cuts = cut_levels(tree.tree, 8, chunk_bytes);
  REQUIRE(cuts.chunks() == depth + 2);
  Domain domain;
  domain.add_made(0, variables[0], flags, packed_flags(tree, Role::refined, std::as_bytes(tree.tree.refined())));
  domain.add_levels(1, variables[1], raw, cuts, {}, encoding);
  std::vector<BlockView> views(5);
  std::vector<std::vector<double>> all(5);
  for (std::uint32_t n = 1; n < 5; ++n) {
    for (std::size_t cell = 0; cell < values.size(); ++cell) all[n].push_back(value_of(n, cell));
    views[n] = view_of(variables[n], all[n].data(), tree.tree.cells());
  }
  const auto find = [&](const std::string& name) { return schema.metadata.find_variable(name); };
  const auto view = [&](const Variable& of) -> const BlockView* { return &views[static_cast<std::size_t>(of.id)]; };
  for (std::uint32_t n = 2; n < 5; ++n) {
    const auto made = encoded_levels(tree.tree, cuts, variables[n], schema.relations_of(n), find, view, encoding);
    domain.add_made(n, variables[n], views[n], made);
  }
  storing.store(self, domain, schema, {0, 0, 0});
}

Entry entry_of(const std::string& directory) { return read_journal(directory).contexts.at(0); }

std::size_t cells_down_to(int level) {
  std::size_t cells = 0;
  for (int l = 0; l <= level; ++l) cells += std::size_t{1} << 3 * l;
  return cells;
}

/// Checks levels down to `deepest`. Throws what reading throws.
void check_levels(const std::string& directory, std::uint32_t variable, int deepest) {
  Context context(directory, entry_of(directory));
  const PieceRow* const piece = context.find(0, variable, 0);
  REQUIRE(piece != nullptr);
  std::vector<double> values(cells_down_to(deepest));
  read_levels(context, 0, *piece, deepest, std::as_writable_bytes(std::span(values)));
  for (std::size_t n = 0; n < values.size(); ++n) REQUIRE(values[n] == value(n));
}

/// Overwrites the values of a variable from a chunk on.
void spoil(const std::string& directory, std::uint32_t variable, std::size_t chunk) {
  Context context(directory, entry_of(directory));
  const PieceRow* const piece = context.find(0, variable, 0);
  const std::vector<std::uint64_t> stored = context.places(0, *piece).stored;
  std::fstream file(directory + "/" + segment_name(entry_of(directory).run, 0, piece->number),
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(stored[chunk]));
  const std::string nonsense(stored.back() - stored[chunk], 'x');
  file.write(nonsense.data(), static_cast<std::streamsize>(nonsense.size()));
  REQUIRE(file.good());
}

}  // namespace

TEST_CASE("levels are read down to one, whatever is behind them") {
  const sidestream::testing::Scratch folder;
  const std::string directory = folder.path + "/data";
  store(directory);
  CHECK(entry_of(directory).version == tree_version);
  Context context(directory, entry_of(directory));
  CHECK(verify(context).empty());
  CHECK(context.find(0, 0, 0)->bytes < 100);
  CHECK(context.find(0, 1, 0)->chunks == depth + 2);
  CHECK(context.find(0, 2, 0)->bytes < context.find(0, 1, 0)->bytes);
  for (const std::uint32_t variable : {1U, 2U}) {
    for (int deepest = 0; deepest <= depth; ++deepest) check_levels(directory, variable, deepest);
    spoil(directory, variable, 4);  // each level except the last is one chunk
    check_levels(directory, variable, 3);
    CHECK_THROWS_AS(check_levels(directory, variable, 4), Error);
  }
  Context damaged(directory, entry_of(directory));
  const std::vector<std::string> damages = verify(damaged);
  REQUIRE(damages.size() == 4);  // includes the two variables that are decoded with these
  CHECK(damages[0].find("'raw' on block 5") != std::string::npos);
  CHECK(damages[1].find("'packed' on block 5") != std::string::npos);
}

TEST_CASE("values are decoded with what their relations name, whatever is read first") {
  const sidestream::testing::Scratch folder;
  const std::string directory = folder.path + "/data";
  store(directory);
  // Predicted variables need almost no bytes of their own.
  Context sizes(directory, entry_of(directory));
  for (const std::uint32_t variable : {3U, 4U}) CHECK(sizes.find(0, variable, 0)->bytes < 4096);
  for (const std::uint32_t variable : {4U, 3U, 2U}) {
    Context context(directory, entry_of(directory));
    const PieceRow& piece = *context.find(0, variable, 0);
    const std::vector<std::uint64_t> starts = context.places(0, piece).values;
    for (std::size_t n = starts.size() - 1; n-- > 0;) {  // the finest first: each is decoded by itself
      std::vector<double> values((starts[n + 1] - starts[n]) / sizeof(double));
      context.read_chunk(0, piece, n, std::as_writable_bytes(std::span(values)));
      for (std::size_t cell = 0; cell < values.size(); ++cell) {
        REQUIRE(values[cell] == value_of(variable, starts[n] / sizeof(double) + cell));
      }
    }
  }
  spoil(directory, 1, 0);
  Context damaged(directory, entry_of(directory));
  std::vector<double> values(9);
  CHECK_THROWS_WITH_AS(read_levels(damaged, 0, *damaged.find(0, 4, 0), 1, std::as_writable_bytes(std::span(values))),
                       doctest::Contains("'raw' on block 5"), Error);
}

TEST_CASE("room that is not that of the levels is refused") {
  const sidestream::testing::Scratch folder;
  store(folder.path + "/data");
  Context context(folder.path + "/data", entry_of(folder.path + "/data"));
  std::vector<double> values(8);
  CHECK_THROWS_WITH_AS(read_levels(context, 0, *context.find(0, 1, 0), 1, std::as_writable_bytes(std::span(values))),
                       doctest::Contains("down to 1 have 72 bytes of values, but room for 64 was given"), Error);
}
