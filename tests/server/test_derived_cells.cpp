// Derivatives in cells of unstructured meshes: of linear functions in every kind of cell, and results by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "server/derived/derived_slopes.hpp"
#include "support/message_of.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

using Vector = std::array<double, 3>;

/// One block, made by hand.
struct Cells {
  int dimensions = 3;
  std::vector<double> places{};
  std::vector<std::int32_t> links{};
  std::vector<std::int64_t> ends{};
  std::vector<std::uint8_t> types{};

  void add(std::uint8_t type, const std::vector<Vector>& points) {
    for (const Vector& x : points) {
      links.push_back(static_cast<std::int32_t>(places.size()) / dimensions);
      places.insert(places.end(), x.begin(), x.begin() + dimensions);
    }
    ends.push_back(static_cast<std::int64_t>(links.size()));
    types.push_back(type);
  }
  [[nodiscard]] CellWeights weights() const {
    Mesh mesh;
    mesh.name = "hull";
    mesh.dimensions = dimensions;
    const auto view = [&](const auto& values, Type type, int components) {
      BlockView made;
      made.block.id = 4;
      made.points = list_box(static_cast<Index>(values.size()) / components);
      made.array = {values.data(), type, MemorySpace::host, made.points, components, {components, 0, 0, 1}};
      return made;
    };
    const BlockView x = view(places, Type::float64, dimensions), l = view(links, Type::int32, 1);
    const BlockView e = view(ends, Type::int64, 1), t = view(types, Type::uint8, 1);
    return CellWeights(mesh, {x, l, e, t});
  }
  /// The derivatives of f, given at the points, along each axis in every cell.
  template <class F>
  [[nodiscard]] std::vector<Vector> slopes(F&& f) const {
    std::vector<double> values;
    for (std::size_t n = 0; n < places.size(); n += static_cast<std::size_t>(dimensions)) {
      Vector x{0, 0, 0};
      for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) x[d] = places[n + d];
      values.push_back(f(x));
    }
    const CellWeights weights = this->weights();
    const auto count = static_cast<Index>(types.size());
    std::vector<Vector> found(types.size(), Vector{0, 0, 0});
    std::vector<double> out(types.size());
    for (int axis = 0; axis < dimensions; ++axis) {
      weights.along(values.data(), axis, {{0, 0, 0}, count}, out.data());
      for (std::size_t n = 0; n < out.size(); ++n) found[n][static_cast<std::size_t>(axis)] = out[n];
    }
    return found;
  }
};

double linear(const Vector& x) { return 4 + 2 * x[0] - 3 * x[1] + 0.5 * x[2]; }

/// Sheared and stretched, so that no edge lies along an axis.
std::vector<Vector> bent(std::vector<Vector> points) {
  for (Vector& x : points) x = {x[0] + 0.3 * x[1] + 0.1, 0.7 * x[1] - 0.2 * x[0] + 0.4 * x[2], 1.5 * x[2] + 0.1 * x[0]};
  return points;
}

std::vector<Vector> flat(std::vector<Vector> points) {
  for (Vector& x : points) x = {x[0] + 0.3 * x[1], 0.7 * x[1] - 0.2 * x[0], 0};
  return points;
}

}  // namespace

TEST_CASE("linear functions have their slope in every solid cell") {
  const std::vector<Vector> box{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  const auto some = [&](const std::vector<std::size_t>& which) {
    std::vector<Vector> points;
    for (const std::size_t n : which) points.push_back(box[n]);
    return bent(points);
  };
  Cells cells;
  cells.add(10, some({0, 1, 2, 4}));
  cells.add(11, bent(box));
  cells.add(12, some({0, 1, 3, 2, 4, 5, 7, 6}));
  cells.add(13, some({0, 2, 1, 4, 6, 5}));
  cells.add(14, some({0, 1, 3, 2, 4}));
  cells.add(42, some({0, 1, 2, 3, 4, 5, 6, 7}));  // a polyhedron
  cells.add(24, some({0, 1, 2, 4, 3, 5, 6}));     // of higher order: uses all of its points, whatever their number
  for (const Vector& slope : cells.slopes(linear)) {
    CHECK(slope[0] == doctest::Approx(2));
    CHECK(slope[1] == doctest::Approx(-3));
    CHECK(slope[2] == doctest::Approx(0.5));
  }
}

TEST_CASE("flat cells and lines of meshes of fewer dimensions") {
  Cells cells{2};
  cells.add(5, flat({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
  cells.add(8, flat({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}));
  cells.add(9, flat({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}));
  cells.add(7, flat({{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {1, 2, 0}, {0, 1, 0}}));
  for (const Vector& slope : cells.slopes(linear)) {
    CHECK(slope[0] == doctest::Approx(2));
    CHECK(slope[1] == doctest::Approx(-3));
  }
  Cells lines{1};
  lines.add(3, {{1, 0, 0}, {4, 0, 0}});
  CHECK(lines.slopes(linear)[0][0] == doctest::Approx(2));
}

TEST_CASE("across a surface nothing changes") {
  Cells cells;
  cells.add(5, {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}});
  cells.add(9, {{0, 0, 1}, {1, 0, 1}, {1, 2, 1}, {0, 2, 1}});
  cells.add(7, {{0, 0, 1}, {1, 0, 1}, {2, 1, 1}, {1, 2, 1}, {0, 1, 1}});
  cells.add(3, {{0, 0, 1}, {3, 0, 1}});
  const std::vector<Vector> slopes = cells.slopes(linear);
  for (std::size_t n = 0; n < slopes.size(); ++n) {
    CHECK(slopes[n][0] == doctest::Approx(2));
    CHECK(slopes[n][1] == doctest::Approx(n == 3 ? 0 : -3));
    CHECK(slopes[n][2] == doctest::Approx(0));
  }
}

TEST_CASE("a hexahedron's derivative is that of its shape functions in the middle") {
  Cells cells;
  cells.add(12, {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}});
  const auto product = [](const Vector& x) { return x[0] * x[1] + x[2] * x[0]; };
  const Vector slope = cells.slopes(product)[0];  // in (1, 1, 1)
  CHECK(slope[0] == doctest::Approx(2));
  CHECK(slope[1] == doctest::Approx(1));
  CHECK(slope[2] == doctest::Approx(1));
}

TEST_CASE("cells without extent and NaN in coordinates or values give no derivative") {
  Cells cells;
  cells.add(1, {{1, 2, 3}});
  cells.add(10, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}});
  cells.add(3, {{1, 1, 1}, {1, 1, 1}});
  cells.add(10, {{0, 0, 0}, {NAN, 0, 0}, {0, 1, 0}, {1, 1, 1}});
  cells.add(42, {{0, 0, 0}, {NAN, 0, 0}, {0, 1, 0}, {1, 1, 1}});
  for (const Vector& slope : cells.slopes(linear)) {
    for (const double one : slope) CHECK(std::isnan(one));
  }
}

TEST_CASE("lists that do not fit get a sentence") {
  Cells cells;
  cells.add(10, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  cells.links[2] = 4;
  CHECK(contains(message_of([&] { static_cast<void>(cells.weights()); }),
                 "cell 0 of block 4 of the mesh 'hull' has point 4, but the block has 4"));
  cells.links[2] = 2;
  cells.types[0] = 12;
  CHECK(contains(message_of([&] { static_cast<void>(cells.weights()); }), "is of type 12 and has the entries 0 to 4"));
  cells.types[0] = 10;
  cells.ends[0] = 5;
  CHECK(contains(message_of([&] { static_cast<void>(cells.weights()); }), "entries 0 to 5 of a connectivity of 4"));
}
