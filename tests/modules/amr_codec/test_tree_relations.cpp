// Declared relations save bytes where they hold, do no harm where they don't, and never lose a bit.
#include <doctest/doctest.h>

#include "amr_codec/values/value_coder.hpp"
#include "modules/amr_codec/random_trees.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// The number of bytes of all chunks. Checks every bit.
template <class T>
std::size_t size_of_all(const RandomTree& tree, const Field<T>& field, const Relations& relations, const Others& others,
                        const TreeCoding& coding = {}, std::size_t chunk = 2048) {
  std::size_t size = 0;
  each_chunk<T>(tree, field, chunk, others, [&](const SomeChunk& one) {
    const Bytes stream = encode_tree_values(one.values, one.chunk, relations, coding);
    Bytes back(one.values.size());
    decode_tree_values(stream, one.chunk, relations, back);
    REQUIRE(std::equal(back.begin(), back.end(), one.values.begin()));
    size += stream.size();
  });
  return size;
}

template <class T>
double raw_size(const Field<T>& field) {
  std::size_t cells = 0;
  for (const auto& level : field) cells += level.size();
  return static_cast<double>(cells * sizeof(T));
}

/// A field that is not smooth, and random to the last bit: parents and siblings do not help to predict it.
double rough(const std::array<double, 3>& at, double seed) {
  std::uint64_t bits = std::bit_cast<std::uint64_t>(seed + 0.5);
  for (const double n : at) {
    bits = (bits ^ std::bit_cast<std::uint64_t>(n + 1.5)) * 0xbf58476d1ce4e5b9u;
    bits ^= bits >> 29;
  }
  bits *= 0x94d049bb133111ebu;
  return static_cast<double>((bits ^ bits >> 31) >> 11) * 0x1p-53;
}

Field<double> rough_field(const RandomTree& tree, double seed, double least = 0) {
  return field_of<double>(tree, [&](const auto& at, std::size_t) { return least + rough(at, seed); });
}

RandomTree some_tree(int dimensions, unsigned seed = 21) {
  std::mt19937_64 random(seed);
  return random_tree(random, dimensions, {2, 1, 2}, dimensions == 1 ? 11 : dimensions == 2 ? 7 : 5, 0.8);
}

double sum_of(const Field<double>& field, std::size_t level, std::size_t first, std::size_t children) {
  double sum = 0;
  for (std::size_t n = 0; n < children; ++n) sum += field[level][first + n];
  return sum;
}

/// A gas: density, one velocity, pressure. Parents have the means of conserved quantities.
struct Gas {
  static constexpr double gamma = 1.4;
  explicit Gas(const RandomTree& tree)
      : density(rough_field(tree, 1, 0.5)), velocity(rough_field(tree, 2, -0.5)), pressure(rough_field(tree, 3, 0.1)) {
    const double children = static_cast<double>(tree.children());
    set_parents(tree, density, [&](std::size_t level, std::size_t first) {
      return sum_of(density, level, first, tree.children()) / children;
    });
    for (std::size_t level = tree.places.size(); level-- > 1;) {
      for (std::size_t group = 0; group < tree.links[level].parent.size(); ++group) {
        const auto parent = static_cast<std::size_t>(tree.links[level].parent[group]);
        double momentum = 0, energy = 0;
        for (std::size_t n = group * tree.children(); n < (group + 1) * tree.children(); ++n) {
          const double rho = density[level][n], u = velocity[level][n];
          momentum += rho * u;
          energy += pressure[level][n] / (gamma - 1) + 0.5 * rho * u * u;
        }
        const double rho = density[level - 1][parent], u = momentum / children / rho;
        velocity[level - 1][parent] = u;
        pressure[level - 1][parent] = (gamma - 1) * (energy / children - 0.5 * rho * u * u);
      }
    }
  }
  Field<double> density, velocity, pressure;
};

Relations weighted_mean() {
  Relations relations;
  relations.mean = MeanRelation{1, 0, {}};
  relations.companions = 1;
  return relations;
}

Relations energy_mean() {
  Relations relations;
  relations.mean = MeanRelation{1 / (Gas::gamma - 1), -1, {{0.5, {0, 1, 1}, {}}}};
  relations.companions = 2;
  return relations;
}

/// A field without divergence on the faces of the cells, from a potential on the finest level.
class Faces {
 public:
  Faces(const RandomTree& tree, std::size_t deepest) : tree_(tree), deepest_(deepest) {}
  [[nodiscard]] Field<double> field(std::size_t axis, bool high) const {
    Field<double> field;
    for (std::size_t level = 0; level < tree_.places.size(); ++level) {
      std::vector<double>& values = field.emplace_back();
      for (Place place : tree_.places[level]) {
        place.at[axis] += high ? 1 : 0;
        values.push_back(face(axis, place.at, level));
      }
    }
    return field;
  }

 private:
  // The value on a face: from the potential on level `deepest_`, and above it the mean of the faces below, as codes
  // take it.
  [[nodiscard]] double face(std::size_t axis, std::array<Index, 3> at, std::size_t level) const {
    if (level == deepest_) return curl(axis, at);
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t child = 0; child < tree_.children(); ++child) {
      if ((child >> axis & 1) != 0) continue;
      std::array<Index, 3> below{};
      for (std::size_t a = 0; a < static_cast<std::size_t>(tree_.dimensions); ++a) {
        below[a] = 2 * at[a] + static_cast<Index>(child >> a & 1);
      }
      sum += face(axis, below, level + 1);
      ++count;
    }
    return sum / static_cast<double>(count);
  }
  [[nodiscard]] static double potential(std::size_t axis, const std::array<Index, 3>& at) {
    return rough({static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2])},
                 static_cast<double>(axis));
  }
  [[nodiscard]] double curl(std::size_t axis, std::array<Index, 3> at) const {
    if (tree_.dimensions == 2) {
      std::array<Index, 3> up = at;
      ++up[1 - axis];
      const double along = potential(2, up) - potential(2, at);
      return axis == 0 ? along : -along;
    }
    const std::size_t b = (axis + 1) % 3, c = (axis + 2) % 3;
    std::array<Index, 3> up_b = at, up_c = at;
    ++up_b[b];
    ++up_c[c];
    return (potential(c, up_b) - potential(c, at)) - (potential(b, up_c) - potential(b, at));
  }
  const RandomTree& tree_;
  std::size_t deepest_;
};

Relations face_relation(int axis, bool high, int opposite, std::vector<int> others, int companions) {
  Relations relations;
  relations.face = FaceRelation{axis, high, opposite, std::move(others), {}};
  relations.companions = companions;
  return relations;
}

}  // namespace

TEST_CASE("the parent is the mean: one child of a group costs next to nothing") {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const RandomTree tree = some_tree(dimensions);
    Field<double> field = rough_field(tree, 4);
    const double without = static_cast<double>(size_of_all(tree, field, {}, {}));
    take_means(tree, field);
    Relations relations;
    relations.mean = MeanRelation{};
    const double with = static_cast<double>(size_of_all(tree, field, relations, {}));
    // One of 2, 4 or 8 children is known except for a few bits.
    CHECK(with < without * (1 - 0.8 / static_cast<double>(tree.children())));
    // Without a declaration the size is about the same.
    CHECK(static_cast<double>(size_of_all(tree, field, {}, {})) < 1.01 * with);
  }
}

TEST_CASE("weighted means and the energy closure") {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const RandomTree tree = some_tree(dimensions);
    const Gas gas(tree);
    CAPTURE(dimensions);
    TreeCoding predicted;
    predicted.method = TreeMethod::predicted;
    for (const std::size_t chunk : {std::size_t{2048}, std::size_t{8192}}) {
      CAPTURE(chunk);
      const auto size = [&](const Field<double>& field, const Relations& relations, const Others& others,
                            const TreeCoding& coding = {}) {
        return static_cast<double>(size_of_all(tree, field, relations, others, coding, chunk));
      };
      const auto check = [&](const Field<double>& field, const Relations& relations, const Others& others) {
        const double with = size(field, relations, others), children = static_cast<double>(tree.children());
        // One child of a group is known except for a few bits. The others take as much as they do by prediction.
        CHECK(with < size(field, {}, {}, predicted) * (1 - 0.75 / children));
        // Prediction takes more than packing for values this rough, so not all of that is saved.
        CHECK(with < size(field, {}, {}) * (1 - 0.4 / children));
      };
      check(gas.velocity, weighted_mean(), {&gas.density});
      check(gas.pressure, energy_mean(), {&gas.density, &gas.velocity});
    }
  }
}

TEST_CASE("values that follow from others in each cell") {
  const RandomTree tree = some_tree(3);
  const Gas gas(tree);
  Field<double> energy = gas.pressure, enthalpy = gas.pressure;
  for (std::size_t level = 0; level < energy.size(); ++level) {
    for (std::size_t n = 0; n < energy[level].size(); ++n) {
      const double p = gas.pressure[level][n], rho = gas.density[level][n], u = gas.velocity[level][n];
      energy[level][n] = p / 0.4 + 0.5 * rho * u * u;
      enthalpy[level][n] = 3.5 * p / rho + 1e-3 * u;
    }
  }
  Relations relations;
  relations.companions = 3;
  relations.closure = {{1 / 0.4, {0}, {}}, {0.5, {1, 2, 2}, {}}};
  const Others others{&gas.pressure, &gas.density, &gas.velocity};
  CHECK(static_cast<double>(size_of_all(tree, energy, relations, others)) < 0.1 * raw_size(energy));
  relations.closure = {{3.5, {0}, {1}}, {1e-3, {2}, {}}};
  CHECK(static_cast<double>(size_of_all(tree, enthalpy, relations, others)) < 0.1 * raw_size(energy));
}

TEST_CASE("a factor for what a cell has all of") {
  const RandomTree tree = some_tree(3);
  Field<double> mass = field_of<double>(tree, [](const auto& at, std::size_t level) {
    return std::ldexp(2 + std::sin(at[0] + 2.3571113 * at[1] + std::sqrt(0.5) * at[2]), -3 * static_cast<int>(level));
  });
  set_parents(tree, mass,
              [&](std::size_t level, std::size_t first) { return sum_of(mass, level, first, tree.children()); });
  Relations relations;
  relations.factor = 0.125;
  relations.mean = MeanRelation{};
  const double with = static_cast<double>(size_of_all(tree, mass, relations, {}));
  CHECK(with < 0.9 * static_cast<double>(size_of_all(tree, mass, {}, {})));
}

TEST_CASE("faces that cells share, and a field without divergence") {
  for (int dimensions = 2; dimensions <= 3; ++dimensions) {
    const RandomTree tree = some_tree(dimensions);
    const Faces faces(tree, dimensions == 2 ? 7 : 5);
    std::vector<Field<double>> low, high;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
      low.push_back(faces.field(a, false));
      high.push_back(faces.field(a, true));
    }
    const double raw = raw_size(low[0]);
    const int last = dimensions - 1;
    // Predicted only from its neighbours: low from high and high from low.
    CHECK(static_cast<double>(size_of_all(tree, high[0], face_relation(0, true, 0, {}, 1), {&low[0]})) < 0.35 * raw);
    CHECK(static_cast<double>(size_of_all(tree, low[0], face_relation(0, false, 0, {}, 1), {&high[0]})) < 0.35 * raw);
    // The flow through the other faces: the opposite face is known, or the chain from one cell to the next.
    Others all;
    std::vector<int> others;
    for (int a = 0; a < last; ++a) {
      for (const Field<double>* field : {&low[static_cast<std::size_t>(a)], &high[static_cast<std::size_t>(a)]}) {
        others.push_back(static_cast<int>(all.size()));
        all.push_back(field);
      }
    }
    const auto end = static_cast<std::size_t>(last);
    const int companions = static_cast<int>(all.size());
    const Relations low_chain = face_relation(last, false, -1, others, companions);
    const Relations high_chain = face_relation(last, true, -1, others, companions);
    CHECK(static_cast<double>(size_of_all(tree, low[end], low_chain, all)) < 0.4 * raw);
    CHECK(static_cast<double>(size_of_all(tree, high[end], high_chain, all)) < 0.4 * raw);
    all.push_back(&low[end]);
    CHECK(static_cast<double>(size_of_all(
              tree, high[end], face_relation(last, true, companions, others, companions + 1), all)) < 0.1 * raw);
    all.back() = &high[end];
    CHECK(static_cast<double>(size_of_all(
              tree, low[end], face_relation(last, false, companions, others, companions + 1), all)) < 0.1 * raw);
  }
}

TEST_CASE("cells that are no cubes") {
  const RandomTree tree = some_tree(2);
  const Faces faces(tree, 7);
  const Field<double> x_low = faces.field(0, false), x_high = faces.field(0, true);
  Field<double> y_low = faces.field(1, false), y_high = faces.field(1, true);
  // Cells are twice as high as wide, so that the same flow per area is half as much upwards.
  for (Field<double>* field : {&y_low, &y_high}) {
    for (auto& level : *field) {
      for (double& value : level) value *= 2;
    }
  }
  Relations relations = face_relation(1, true, 2, {0, 1}, 3);
  relations.face->lengths = {1, 2};
  CHECK(static_cast<double>(size_of_all(tree, y_high, relations, {&x_low, &x_high, &y_low})) < 0.1 * raw_size(y_high));
}

TEST_CASE_TEMPLATE("relations that do not hold do no harm", T, float, double) {
  std::mt19937_64 random(22);
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    if ((dimensions == 2) == std::is_same_v<T, double> && !test_all()) continue;
    const RandomTree tree = some_tree(dimensions);
    Field<T> field = field_of<T>(
        tree, [](const auto& at, std::size_t) { return 2 + std::sin(5 * at[0]) * std::cos(at[1] + at[2]); });
    Field<double> odd = rough_field(tree, 9, -0.5);
    for (auto& level : odd) {
      for (double& value : level) value = random() % 16 == 0 ? odd_number<double>(random) : value;
    }
    const Field<double> other = rough_field(tree, 10);
    const double alone = static_cast<double>(size_of_all(tree, field, {}, {}));
    const auto check = [&](const Relations& relations) {
      const Others others{&odd, &other, &odd, &other, &odd};
      CHECK(static_cast<double>(size_of_all(tree, field, relations, others)) < 1.01 * alone + 64);
      TreeCoding predicted;
      predicted.method = TreeMethod::predicted;
      size_of_all(tree, field, relations, others, predicted);
    };
    Relations relations = weighted_mean();
    relations.companions = 5;
    check(relations);
    relations = energy_mean();
    relations.companions = 5;
    relations.mean->weight = 4;
    check(relations);
    relations.closure = {{2, {0, 1}, {2}}};
    check(relations);
    relations = {};
    relations.factor = 0.125;
    check(relations);
    for (const bool high : {false, true}) {
      if (high == (dimensions == 2) && !test_all()) continue;
      for (int axis = test_all() ? 0 : dimensions - 1; axis < dimensions; ++axis) {
        check(face_relation(axis, high, 0, {}, 5));
        const std::vector<int> others = dimensions == 1   ? std::vector<int>{}
                                        : dimensions == 2 ? std::vector<int>{0, 1}
                                                          : std::vector<int>{0, 1, 2, 3};
        check(face_relation(axis, high, 4, others, 5));
        check(face_relation(axis, high, -1, others, 5));
      }
    }
  }
}

TEST_CASE("values and companions of any type, wherever they lie in memory") {
  const RandomTree tree = some_tree(3);
  const Gas gas(tree);
  const std::size_t level = 4, above = 3;
  const std::vector<float> density(gas.density[level].begin(), gas.density[level].end());
  const std::vector<float> density_above(gas.density[above].begin(), gas.density[above].end());
  const std::vector<std::int32_t> velocity(gas.velocity[level].size(), -3),
      velocity_above(gas.velocity[above].size(), 2);
  // Each one is shifted by one byte, so that it is not aligned.
  std::vector<Bytes> moved;
  moved.reserve(6);
  const auto shifted = [&](BytesView bytes) {
    Bytes& copy = moved.emplace_back(bytes.size() + 1);
    std::copy(bytes.begin(), bytes.end(), copy.begin() + 1);
    return BytesView(copy).subspan(1);
  };
  const std::vector<Companion> companions{
      {Type::float32, shifted(std::as_bytes(std::span(density))), shifted(std::as_bytes(std::span(density_above)))},
      {Type::int32, shifted(std::as_bytes(std::span(velocity))), shifted(std::as_bytes(std::span(velocity_above)))}};
  TreeChunk chunk;
  chunk.groups = {3, tree.links[level].parent, tree.links[level].beside};
  chunk.parents = shifted(std::as_bytes(std::span(gas.pressure[above])));
  chunk.companions = companions;
  const BytesView values = shifted(std::as_bytes(std::span(gas.pressure[level])));
  for (const TreeMethod method : {TreeMethod::parent_xor, TreeMethod::predicted, TreeMethod::predicted_zstd}) {
    TreeCoding coding;
    coding.method = method;
    const Bytes stream = encode_tree_values(values, chunk, energy_mean(), coding);
    const BytesView there = shifted(stream);
    Bytes back(values.size() + 1);
    decode_tree_values(there, chunk, energy_mean(), std::span(back).subspan(1));
    CHECK(std::equal(back.begin() + 1, back.end(), values.begin()));
    moved.pop_back();
  }
}
