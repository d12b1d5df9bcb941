// Chunks of values on trees. Each is decoded by itself, in any order, with only what it needs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "amr_codec/values/value_coder.hpp"
#include "sidestream/error.hpp"
#include "storage/trees/chunk_coding.hpp"
#include "storage/trees/random_tree.hpp"

using namespace sidestream;
using sidestream::testing::Forest;

namespace {

Mesh mesh_of(const TreeShape& shape) {
  Mesh mesh;
  mesh.name = "tree";
  mesh.dimensions = shape.dimensions;
  mesh.geometry =
      std::make_shared<OctreeGeometry>(Index3{shape.roots, 1, 1}, std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  return mesh;
}

struct Field {
  Variable variable;
  VariableRelations relations;
  Bytes values;
};

VariableRelations declared(const char* parent, const char* equals = "") {
  VariableRelations relations;
  relations.parent = parent;
  relations.equals = equals;
  return relations;
}

Field field(const char* name, Type type, std::int32_t components, VariableRelations relations) {
  Field made;
  made.variable.name = name;
  made.variable.type = type;
  made.variable.components = components;
  made.relations = std::move(relations);
  return made;
}

/// Most parents are means of their children. Some values are NaN.
std::vector<Field> fields_on(LinkedTree& tree, std::mt19937& random) {
  const auto cells = static_cast<std::size_t>(tree.cells());
  const auto children = std::size_t{1} << tree.shape().dimensions;
  std::uniform_real_distribution<double> any(0.5, 2);
  std::vector<double> density(cells), momentum(3 * cells);
  std::vector<float> pressure(cells);
  std::size_t parent_count = 0;
  for (const std::uint8_t flag : tree.refined()) parent_count += flag != 0 ? 1 : 0;
  std::size_t number = parent_count;
  for (std::size_t cell = cells; cell-- > 0;) {
    density[cell] = 1 + 0.1 * any(random);
    pressure[cell] = static_cast<float>(any(random));
    for (std::size_t c = 0; c < 3; ++c)
      momentum[3 * cell + c] = std::sin(0.01 * static_cast<double>(cell)) * density[cell];
    if (tree.refined()[cell] == 0) continue;
    --number;
    const std::size_t first = static_cast<std::size_t>(tree.shape().roots) + number * children;
    double sum = 0;
    for (std::size_t child = first; child < first + children; ++child) sum += density[child];
    density[cell] = sum / static_cast<double>(children);
    if (random() % 50 == 0) density[cell] = std::nan("");
  }
  std::vector<Field> fields;
  fields.push_back(field("density", Type::float64, 1, declared("mean")));
  fields.push_back(field("velocity", Type::float64, 3, declared("mean of density * velocity")));
  fields.push_back(field("pressure", Type::float32, 1, {}));
  fields.push_back(
      field("energy", Type::float64, 1, declared("mean", "2.5 * pressure + 0.5 * density * velocity.x^2")));
  fields.push_back(field("mass", Type::float64, 1, declared("sum")));
  fields.push_back(field("number", Type::int64, 1, {}));
  std::vector<double> velocity(3 * cells), energy(cells), mass(cells);
  std::vector<std::int64_t> numbers(cells);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    for (std::size_t c = 0; c < 3; ++c) velocity[3 * cell + c] = momentum[3 * cell + c] / density[cell];
    energy[cell] =
        2.5 * static_cast<double>(pressure[cell]) + 0.5 * density[cell] * velocity[3 * cell] * velocity[3 * cell];
    mass[cell] = density[cell] * 1e-3;
  }
  const auto bytes = [](const auto& values) {
    const BytesView view = std::as_bytes(std::span(values));
    return Bytes(view.begin(), view.end());
  };
  fields[0].values = bytes(density);
  fields[1].values = bytes(velocity);
  fields[2].values = bytes(pressure);
  fields[3].values = bytes(energy);
  fields[4].values = bytes(mass);
  fields[5].values = bytes(numbers);
  return fields;
}

/// The values of a tree, and their chunks.
class Stored final : public CellValues {
 public:
  Stored(LinkedTree& tree, std::vector<Field>& fields, std::uint64_t chunk) : tree_(tree), fields_(fields) {
    for (Field& one : fields_) {
      const std::uint64_t cell = size_of(one.variable.type) * static_cast<std::uint64_t>(one.variable.components);
      cuts.push_back(cut_levels(tree_, cell, chunk));
      codings.push_back(coding_of(one.variable, one.relations, tree_.shape().dimensions,
                                  [this](const std::string& name) { return find(name); }));
    }
  }
  const Variable* find(const std::string& name) const {
    for (const Field& one : fields_) {
      if (one.variable.name == name) return &one.variable;
    }
    return nullptr;
  }
  BytesView of(const Variable& variable, std::int32_t component, Index first, Index past, Bytes& scratch) override {
    const std::size_t n = number_of(variable);
    const std::size_t element = size_of(variable.type), cell = element * static_cast<std::size_t>(variable.components);
    scratch.resize(static_cast<std::size_t>(past - first) * element);
    asked.insert({n, first, past});
    take_component(
        BytesView(fields_[n].values).subspan(static_cast<std::size_t>(first) * cell, scratch.size() / element * cell),
        element, variable.components, component, scratch);
    return scratch;
  }
  std::size_t number_of(const Variable& variable) const {
    std::size_t n = 0;
    while (&fields_[n].variable != &variable) ++n;
    return n;
  }
  BytesView expected(std::size_t field, std::size_t chunk) const {
    const Variable& v = fields_[field].variable;
    const std::size_t cell = size_of(v.type) * static_cast<std::size_t>(v.components);
    const auto first = static_cast<std::size_t>(cuts[field].cells[chunk]),
               past = static_cast<std::size_t>(cuts[field].cells[chunk + 1]);
    return BytesView(fields_[field].values).subspan(first * cell, (past - first) * cell);
  }
  std::vector<LevelCuts> cuts;
  std::vector<VariableCoding> codings;
  std::set<std::tuple<std::size_t, Index, Index>> asked;

 private:
  LinkedTree& tree_;
  std::vector<Field>& fields_;
};

const TreeCodec& codec() {
  static const auto made = std::dynamic_pointer_cast<const TreeCodec>(tree_codec_kind().create({}));
  return *made;
}

void check(LinkedTree& tree, std::mt19937& random, std::uint64_t chunk) {
  std::vector<Field> fields = fields_on(tree, random);
  Stored stored(tree, fields, chunk);
  static_cast<void>(tree.links());
  std::vector<std::pair<std::size_t, std::size_t>> order;
  std::vector<std::vector<Bytes>> streams(fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (std::size_t n = 0; n < stored.cuts[f].chunks(); ++n) {
      streams[f].push_back(
          encode_chunk(tree, cells_of(tree, stored.cuts[f], n), stored.codings[f], stored, codec(), false));
      order.emplace_back(f, n);
    }
  }
  std::shuffle(order.begin(), order.end(), random);
  for (const auto& [f, n] : order) {
    CAPTURE(fields[f].variable.name);
    CAPTURE(n);
    const ChunkCells cells = cells_of(tree, stored.cuts[f], n);
    const BytesView expected = stored.expected(f, n);
    Bytes out(expected.size());
    stored.asked.clear();
    decode_chunk(streams[f][n], tree, cells, stored.codings[f], stored, codec(), out);
    REQUIRE(std::equal(out.begin(), out.end(), expected.begin()));
    // The decoder asks for its own values only in the next coarser level. It asks for other variables only in its cells
    // and their parents.
    for (const auto& [of, first, past] : stored.asked) {
      const bool own = first == cells.first && past == cells.past;
      REQUIRE(((of != f && own) || (first == cells.above_first && past == cells.above_past)));
    }
  }
}

}  // namespace

TEST_CASE("chunks are cut by level, at groups of siblings") {
  std::mt19937 random(5);
  for (int n = 0; n < 60; ++n) {
    const Forest forest(random, 1 + n % 3, 1 + static_cast<Index>(random() % 3), 1, 8 / (1 + n % 3), 0.7);
    LinkedTree tree(mesh_of(forest.shape), forest.published(random, 0).refined);
    const std::uint64_t cell = 1 + random() % 24, chunk = 8 * (1 + random() % 64);
    const LevelCuts cuts = cut_levels(tree, cell, chunk);
    const auto children = Index{1} << forest.shape.dimensions;
    if (static_cast<std::uint64_t>(children) * cell > chunk) {
      REQUIRE(cuts.chunks() == 0);
      continue;
    }
    REQUIRE(cuts.cells.back() == tree.cells());
    for (std::size_t c = 0; c < cuts.chunks(); ++c) {
      const auto level = static_cast<std::size_t>(cuts.level[c]);
      REQUIRE(cuts.cells[c] < cuts.cells[c + 1]);
      REQUIRE(cuts.cells[c] >= tree.starts()[level]);
      REQUIRE(cuts.cells[c + 1] <= tree.starts()[level + 1]);
      REQUIRE((cuts.cells[c] - tree.starts()[level]) % children == 0);
      REQUIRE(static_cast<std::uint64_t>(cuts.cells[c + 1] - cuts.cells[c]) * cell <= chunk);
      for (Index at = cuts.cells[c]; at < cuts.cells[c + 1]; ++at) REQUIRE(cuts.chunk_of(at) == c);
    }
  }
}

TEST_CASE("each chunk is decoded alone, every bit") {
  std::mt19937 random(42);
  for (int n = 0; n < 12; ++n) {
    const int dimensions = 1 + n % 3;
    const Forest forest(random, dimensions, 1 + static_cast<Index>(random() % 3), 1,
                        dimensions == 3 ? 4 : 12 / dimensions, 0.75);
    LinkedTree tree(mesh_of(forest.shape), forest.published(random, 0).refined);
    CAPTURE(n);
    check(tree, random, n % 2 == 0 ? 1024 : 1 << 20);
  }
}

TEST_CASE("what relations name must be at hand, or they are left out") {
  const Variable variable = field("energy", Type::float64, 1, {}).variable;
  const Variable density = field("density", Type::float64, 1, {}).variable;
  const VariableRelations said = declared("mean of density * energy + 2 * pressure", "0.5 * density");
  const auto some = [&](const std::string& name) { return name == "density" ? &density : nullptr; };
  const DeclaredRelations declared = declared_relations(variable, said, 0, 3, some);
  CHECK(!declared.relations.mean.has_value());
  REQUIRE(declared.relations.closure.size() == 1);
  CHECK(declared.relations.closure[0].coefficient == 0.5);
  CHECK(declared.companions == std::vector<NamedComponent>{{"density", 0}});
  CHECK(declared.relations.companions == 1);
}

TEST_CASE("damaged chunks give errors") {
  std::mt19937 random(3);
  const Forest forest(random, 3, 1, 1, 3, 1.0);
  LinkedTree tree(mesh_of(forest.shape), forest.published(random, 0).refined);
  std::vector<Field> fields = fields_on(tree, random);
  Stored stored(tree, fields, 1 << 20);
  const ChunkCells cells = cells_of(tree, stored.cuts[1], stored.cuts[1].chunks() - 1);
  const Bytes stream = encode_chunk(tree, cells, stored.codings[1], stored, codec(), false);
  Bytes out(stored.expected(1, stored.cuts[1].chunks() - 1).size());
  for (int n = 0; n < 400; ++n) {
    Bytes wrong = stream;
    if (n % 2 == 0) {
      wrong.resize(random() % stream.size());
    } else {
      wrong[random() % stream.size()] ^= static_cast<std::byte>(1 + random() % 255);
    }
    CHECK_THROWS_AS(decode_chunk(wrong, tree, cells, stored.codings[1], stored, codec(), out), Error);
  }
}
