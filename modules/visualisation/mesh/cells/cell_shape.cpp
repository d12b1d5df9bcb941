// Locating a position in a cell by Newton's method. The map from parameters to space is a sum of shape functions:
// products of linear ones (lines, squares, cubes), barycentric ones (triangles, tetrahedra), or combinations (wedges,
// pyramids). Each step solves the linearised equations for the change of the parameters. Parameters inside the unit
// cell, within a tolerance, give the weights of the corners.
#include "visualisation/mesh/cells/cell_shape.hpp"

#include <algorithm>
#include <cmath>

namespace sidestream::sampling {
namespace {

constexpr double tolerance = 1e-9;
constexpr int most_steps = 30;

/// Weights of the corners, and their derivatives by each parameter.
struct Shape {
  Weights weights{};
  std::array<Weights, 3> slopes{};
};

/// The corners of a line, a square or a cube where each parameter is 1: bit a of a corner's entry.
constexpr std::array<unsigned, 8> in_order{0, 1, 2, 3, 4, 5, 6, 7}, around{0, 1, 3, 2, 4, 5, 7, 6};

/// Products of r or 1 - r over the axes.
Shape product(const Place& r, int dimensions, const std::array<unsigned, 8>& corner_bits) {
  Shape s;
  for (std::size_t c = 0; c < std::size_t{1} << dimensions; ++c) {
    s.weights[c] = 1;
    for (int a = 0; a < dimensions; ++a) s.slopes[static_cast<std::size_t>(a)][c] = 1;
    for (int a = 0; a < dimensions; ++a) {
      const bool upper = (corner_bits[c] >> a & 1) != 0;
      const double factor = upper ? r[static_cast<std::size_t>(a)] : 1 - r[static_cast<std::size_t>(a)];
      s.weights[c] *= factor;
      for (int b = 0; b < dimensions; ++b) {
        s.slopes[static_cast<std::size_t>(b)][c] *= a != b ? factor : upper ? 1.0 : -1.0;
      }
    }
  }
  return s;
}

/// Shape functions of a triangle or a tetrahedron.
Shape simplex(const Place& r, int dimensions) {
  Shape s;
  s.weights[0] = 1;
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
    s.weights[0] -= r[a];
    s.weights[a + 1] = r[a];
    s.slopes[a][0] = -1;
    s.slopes[a][a + 1] = 1;
  }
  return s;
}

/// Triangles at t = 0 and t = 1.
Shape wedge(const Place& r) {
  const Shape triangle = simplex(r, 2);
  Shape s;
  for (std::size_t c = 0; c < 3; ++c) {
    s.weights[c] = triangle.weights[c] * (1 - r[2]);
    s.weights[c + 3] = triangle.weights[c] * r[2];
    for (std::size_t a = 0; a < 2; ++a) {
      s.slopes[a][c] = triangle.slopes[a][c] * (1 - r[2]);
      s.slopes[a][c + 3] = triangle.slopes[a][c] * r[2];
    }
    s.slopes[2][c] = -triangle.weights[c];
    s.slopes[2][c + 3] = triangle.weights[c];
  }
  return s;
}

/// A cube whose upper four corners coincide, as VTK defines it.
Shape pyramid(const Place& r) {
  const Shape square = product(r, 2, around);
  Shape s;
  for (std::size_t c = 0; c < 4; ++c) {
    s.weights[c] = square.weights[c] * (1 - r[2]);
    for (std::size_t a = 0; a < 2; ++a) s.slopes[a][c] = square.slopes[a][c] * (1 - r[2]);
    s.slopes[2][c] = -square.weights[c];
  }
  s.weights[4] = r[2];
  s.slopes[2][4] = 1;
  return s;
}

Shape shape_of(CellType type, const Place& r) {
  switch (type) {
    case CellType::line:
      return product(r, 1, in_order);
    case CellType::triangle:
      return simplex(r, 2);
    case CellType::pixel:
      return product(r, 2, in_order);
    case CellType::quad:
      return product(r, 2, around);
    case CellType::tetrahedron:
      return simplex(r, 3);
    case CellType::voxel:
      return product(r, 3, in_order);
    case CellType::hexahedron:
      return product(r, 3, around);
    case CellType::wedge:
      return wedge(r);
    case CellType::pyramid:
      break;
  }
  return pyramid(r);
}

/// Solves m x = b of n equations by elimination with the largest pivot; false if m is singular.
bool solve(std::array<Place, 3> m, Place b, int n, Place& x) {
  const auto count = static_cast<std::size_t>(n);
  for (std::size_t column = 0; column < count; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < count; ++row) {
      if (std::fabs(m[row][column]) > std::fabs(m[pivot][column])) pivot = row;
    }
    if (!(std::fabs(m[pivot][column]) > 0)) return false;
    std::swap(m[pivot], m[column]);
    std::swap(b[pivot], b[column]);
    for (std::size_t row = column + 1; row < count; ++row) {
      const double factor = m[row][column] / m[column][column];
      for (std::size_t c = column; c < count; ++c) m[row][c] -= factor * m[column][c];
      b[row] -= factor * b[column];
    }
  }
  for (std::size_t row = count; row-- > 0;) {
    x[row] = b[row];
    for (std::size_t c = row + 1; c < count; ++c) x[row] -= m[row][c] * x[c];
    x[row] /= m[row][row];
    if (!std::isfinite(x[row])) return false;
  }
  return true;
}

/// True if the parameters lie in the cell; those just outside are moved into it.
bool inside(CellType type, int dimensions, Place& r) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
    if (!(r[a] >= -tolerance && r[a] <= 1 + tolerance)) return false;
    r[a] = std::clamp(r[a], 0.0, 1.0);
  }
  const bool three = type == CellType::tetrahedron;
  if (!three && type != CellType::triangle && type != CellType::wedge) return true;
  const double sum = r[0] + r[1] + (three ? r[2] : 0);
  if (sum <= 1) return true;
  if (sum > 1 + 3 * tolerance) return false;
  for (std::size_t a = 0; a < (three ? 3u : 2u); ++a) r[a] /= sum;
  return true;
}

/// Distance of parameters in the cell from the nearest face.
double margin_of(CellType type, int dimensions, const Place& r) {
  double margin = 1;
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
    margin = std::min({margin, r[a], 1 - r[a]});
  }
  const bool three = type == CellType::tetrahedron;
  if (!three && type != CellType::triangle && type != CellType::wedge) return margin;
  return std::min(margin, 1 - r[0] - r[1] - (three ? r[2] : 0));
}

Place start_of(CellType type) {
  if (type == CellType::tetrahedron) return {0.25, 0.25, 0.25};
  if (type == CellType::triangle || type == CellType::wedge) return {1.0 / 3, 1.0 / 3, 0.5};
  if (type == CellType::pyramid) return {0.5, 0.5, 0.2};
  return {0.5, 0.5, 0.5};
}

/// Newton's method: parameters whose image is `place`.
std::optional<Place> invert(CellType type, int dimensions, std::span<const Place> corners, const Place& place) {
  const auto n = static_cast<std::size_t>(dimensions);
  Place r = start_of(type);
  for (int step = 0; step < most_steps; ++step) {
    const Shape shape = shape_of(type, r);
    Place rest{}, change{};
    std::array<Place, 3> slopes{};
    for (std::size_t x = 0; x < n; ++x) {
      rest[x] = place[x];
      for (std::size_t c = 0; c < corners.size(); ++c) {
        rest[x] -= shape.weights[c] * corners[c][x];
        for (std::size_t a = 0; a < n; ++a) slopes[x][a] += shape.slopes[a][c] * corners[c][x];
      }
    }
    if (!solve(slopes, rest, dimensions, change)) return std::nullopt;
    double largest = 0;
    for (std::size_t a = 0; a < n; ++a) {
      r[a] += change[a];
      largest = std::max(largest, std::fabs(change[a]));
      if (std::fabs(r[a]) > 100) return std::nullopt;  // far outside
    }
    if (largest < 1e-13) return r;
  }
  return r;  // this is as accurate as possible; it may be wrong in an inverted cell
}

/// True if the corners' mean with these weights is the position, up to rounding.
bool is_there(const Weights& weights, std::span<const Place> corners, const Place& place, int dimensions) {
  for (std::size_t x = 0; x < static_cast<std::size_t>(dimensions); ++x) {
    double sum = 0, low = corners[0][x], high = low;
    for (std::size_t c = 0; c < corners.size(); ++c) {
      sum += weights[c] * corners[c][x];
      low = std::min(low, corners[c][x]);
      high = std::max(high, corners[c][x]);
    }
    if (!(std::fabs(sum - place[x]) <= 1e-7 * (high - low))) return false;
  }
  return true;
}

}  // namespace

CellKind kind_of(std::uint8_t type) noexcept {
  switch (static_cast<CellType>(type)) {
    case CellType::line:
      return {1, 2};
    case CellType::triangle:
      return {2, 3};
    case CellType::pixel:
    case CellType::quad:
      return {2, 4};
    case CellType::tetrahedron:
      return {3, 4};
    case CellType::voxel:
    case CellType::hexahedron:
      return {3, 8};
    case CellType::wedge:
      return {3, 6};
    case CellType::pyramid:
      return {3, 5};
  }
  return {};
}

std::optional<Located> locate(std::uint8_t number, std::span<const Place> corners, const Place& place) {
  const auto type = static_cast<CellType>(number);
  const int dimensions = kind_of(number).dimensions;
  // Positions relative to the first corner keep the digits of small cells far from the origin.
  std::array<Place, most_corners> near{};
  Place there{};
  for (std::size_t x = 0; x < static_cast<std::size_t>(dimensions); ++x) {
    for (std::size_t c = 0; c < corners.size(); ++c) near[c][x] = corners[c][x] - corners[0][x];
    there[x] = place[x] - corners[0][x];
  }
  const std::span<const Place> shifted(near.data(), corners.size());
  for (std::size_t c = 0; c < corners.size(); ++c) {
    if (near[c] != there) continue;
    Located one{};  // the map of a pyramid has no inverse at its apex
    one.weights[c] = 1;
    return one;
  }
  std::optional<Place> r = invert(type, dimensions, shifted, there);
  if (!r || !inside(type, dimensions, *r)) return std::nullopt;
  const Weights weights = shape_of(type, *r).weights;
  if (!is_there(weights, shifted, there, dimensions)) return std::nullopt;
  return Located{weights, margin_of(type, dimensions, *r)};
}

}  // namespace sidestream::sampling
