// Positions in cells, compared with the maps of the cells, which are written out once more here.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "visualisation/mesh/cells/cell_shape.hpp"

using namespace sidestream::sampling;

namespace {

struct Case {
  CellType type;
  std::vector<Place> corners;  // of the reference cell, in VTK's order
};

const std::vector<Case> cases{
    {CellType::line, {{0, 0, 0}, {1, 0, 0}}},
    {CellType::triangle, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}},
    {CellType::pixel, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}},
    {CellType::quad, {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}},
    {CellType::tetrahedron, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {CellType::voxel, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}}},
    {CellType::hexahedron, {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}},
    {CellType::wedge, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}}},
    {CellType::pyramid, {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1}}}};

/// Corners moved by an affine map, and then each by a small distance.
std::vector<Place> distorted(const std::vector<Place>& corners, std::mt19937& random, double offset, double scale) {
  std::uniform_real_distribution<double> little(-0.12, 0.12);
  std::vector<Place> result;
  for (const Place& p : corners) {
    result.push_back({offset + scale * (2 * p[0] + 0.3 * p[1] - 0.2 * p[2] + little(random)),
                      offset + scale * (0.1 * p[0] + 1.5 * p[1] + 0.4 * p[2] + little(random)),
                      offset + scale * (-0.3 * p[0] + 0.2 * p[1] + 1.2 * p[2] + little(random))});
  }
  return result;
}

/// A position in the cell. A mean of the corners with positive weights lies in their hull, which is the cell if its
/// faces are flat. For other cells the map of products is used.
Place inside_of(const Case& c, const std::vector<Place>& corners, std::mt19937& random) {
  std::uniform_real_distribution<double> part(0.02, 0.98);
  const double r = part(random), s = part(random), t = part(random);
  Place place{};
  const auto add = [&](std::size_t corner, double weight) {
    for (std::size_t a = 0; a < 3; ++a) place[a] += weight * corners[corner][a];
  };
  for (std::size_t n = 0; n < corners.size(); ++n) {
    const Place& p = c.corners[n];
    const auto along = [](double corner, double x) { return corner == 1 ? x : 1 - x; };
    switch (c.type) {
      case CellType::line:
        add(n, along(p[0], r));
        break;
      case CellType::triangle:
        add(n, n == 0 ? 1 - r / 2 - s / 2 : n == 1 ? r / 2 : s / 2);
        break;
      case CellType::pixel:
      case CellType::quad:
        add(n, along(p[0], r) * along(p[1], s));
        break;
      case CellType::tetrahedron:
        add(n, n == 0 ? 1 - (r + s + t) / 3 : n == 1 ? r / 3 : n == 2 ? s / 3 : t / 3);
        break;
      case CellType::wedge:
        add(n, along(p[2], t) * (n % 3 == 0 ? 1 - r / 2 - s / 2 : n % 3 == 1 ? r / 2 : s / 2));
        break;
      case CellType::pyramid:
        add(n, n == 4 ? t : (1 - t) * along(p[0], r) * along(p[1], s));
        break;
      default:
        add(n, along(p[0], r) * along(p[1], s) * along(p[2], t));
    }
  }
  return place;
}

}  // namespace

TEST_CASE("weights give the place back, and linear fields exactly") {
  std::mt19937 random(5);
  for (const Case& c : cases) {
    const auto number = static_cast<std::uint8_t>(c.type);
    CAPTURE(int{number});
    CHECK(kind_of(number).corners == c.corners.size());
    const int dimensions = kind_of(number).dimensions;
    for (const double offset : {0.0, 1000.0}) {
      for (const double scale : {1.0, 1e-6}) {
        for (int round = 0; round < 100; ++round) {
          const std::vector<Place> corners = distorted(c.corners, random, offset, scale);
          const Place place = inside_of(c, corners, random);
          const auto found = locate(number, corners, place);
          REQUIRE(found);
          const Weights& weights = found->weights;
          CHECK(found->margin >= 0);
          CHECK(found->margin <= 0.5);
          double sum = 0;
          Place there{};
          for (std::size_t n = 0; n < corners.size(); ++n) {
            CHECK(weights[n] >= 0);
            sum += weights[n];
            for (std::size_t a = 0; a < 3; ++a) there[a] += weights[n] * corners[n][a];
          }
          CHECK(std::fabs(sum - 1) < 1e-12);
          for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
            REQUIRE(std::fabs(there[a] - place[a]) < 1e-9 * scale + 1e-12 * offset);
          }
        }
      }
    }
  }
}

TEST_CASE("places outside are in no cell, corners are in theirs") {
  std::mt19937 random(6);
  for (const Case& c : cases) {
    const auto number = static_cast<std::uint8_t>(c.type);
    CAPTURE(int{number});
    for (int round = 0; round < 50; ++round) {
      const std::vector<Place> corners = distorted(c.corners, random, 3, 1);
      Place middle{};
      for (const Place& p : corners) {
        for (std::size_t a = 0; a < 3; ++a) middle[a] += p[a] / static_cast<double>(corners.size());
      }
      for (std::size_t n = 0; n < corners.size(); ++n) {
        const auto at = locate(number, corners, corners[n]);
        REQUIRE(at);
        CHECK(at->weights[n] == 1);
        CHECK(at->margin == 0);
        Place beyond;
        for (std::size_t a = 0; a < 3; ++a) beyond[a] = corners[n][a] + 0.3 * (corners[n][a] - middle[a]);
        CHECK(!locate(number, corners, beyond));
      }
      CHECK(!locate(number, corners, {50, 50, 50}));
      CHECK(!locate(number, corners, {std::nan(""), 0, 0}));
    }
    const std::vector<Place> flat(c.corners.size(), Place{1, 1, 1});
    CHECK(!locate(number, flat, {1, 1, 2}) == (kind_of(number).dimensions == 3));
    CHECK(!locate(number, flat, {2, 1, 1}));
  }
  for (const std::uint8_t other : {0, 1, 2, 4, 7, 42, 25}) CHECK(kind_of(other).dimensions == 0);
}
