// Blocks of spectral elements, on the points of Gauss-Lobatto-Legendre quadrature.
//
// The inner points of order N are the zeros of P'_N, found by Newton's method from the Chebyshev points; with L = P_N
// at the points, the weights are 2 / (N (N + 1) L^2), and the derivative of the polynomial through the values has the
// matrix L_i / (L_j (x_i - x_j)) (Canuto et al., Spectral Methods, 2006).
#include "client/spectral_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr const char* call = "set_spectral_block";
constexpr int most_order = 64;

Index power(Index base, int exponent) {
  Index product = 1;
  for (int n = 0; n < exponent; ++n) product *= base;
  return product;
}

void check_sizes(const SpectralBlock& block) {
  if (block.order < 1 || block.order > most_order) {
    fail(Code::usage, "{}: the order of block {} of the mesh '{}' is {}, expected 1 to {}", call, block.id,
         block.mesh.name, block.order, most_order);
  }
  // Entries of the connectivity have 32 bits.
  const Index most = std::numeric_limits<std::int32_t>::max() / std::max(block.points_of_one(), block.corners_of_one());
  if (block.elements >= 0 && block.elements <= most) return;
  fail(Code::usage,
       "{}: block {} of the mesh '{}' has {} elements, expected 0 to {} of order {}; divide it into several blocks",
       call, block.id, block.mesh.name, block.elements, most, block.order);
}

void check_axes(const SpectralBlock& block, std::span<const double* const> axes) {
  const auto given = static_cast<std::size_t>(std::count_if(axes.begin(), axes.end(), [](auto* a) { return a; }));
  const auto needed = static_cast<std::size_t>(block.mesh.dimensions);
  const bool in_order = std::is_partitioned(axes.begin(), axes.end(), [](auto* a) { return a != nullptr; });
  if (in_order && (given == needed || (given < needed && block.elements == 0))) return;
  fail(Code::usage,
       "{}: positions along {} axes are given for block {} of the mesh '{}' of {} dimensions; give x, y and z for as "
       "many axes as it has",
       call, given, block.id, block.mesh.name, needed);
}

void set_volumes(SpectralBlock& block) {
  const SpectralRule rule(block.order);
  const auto points = static_cast<std::size_t>(block.points_of_one());
  const auto axes = static_cast<std::size_t>(block.mesh.dimensions);
  block.volumes.resize(static_cast<std::size_t>(block.points()));
  for (std::size_t e = 0; e < static_cast<std::size_t>(block.elements); ++e) {
    const auto place = std::span<const double>(block.place).subspan(e * points * axes, points * axes);
    if (rule.volumes(place, block.mesh.dimensions, std::span(block.volumes).subspan(e * points, points))) continue;
    fail(Code::usage,
         "{}: the Jacobian of element {} of block {} of the mesh '{}' is not finite, or changes its sign within the "
         "element; give the positions of its points element by element, the mesh's first axis fastest",
         call, e, block.id, block.mesh.name);
  }
}

}  // namespace

Index SpectralBlock::points_of_one() const noexcept { return power(order + 1, mesh.dimensions); }
Index SpectralBlock::cells_of_one() const noexcept { return power(order, mesh.dimensions); }

SpectralNames::SpectralNames(const std::string& mesh)
    : place(mesh + "_place"),
      corners(mesh + "_corners"),
      ends(mesh + "_ends"),
      kinds(mesh + "_kinds"),
      number(mesh + "_number"),
      mass(mesh + "_mass") {}

SpectralBlock spectral_block(const SpectralMesh& mesh, std::int64_t id, int order, Index elements,
                             std::span<const double* const> axes, const std::int64_t* numbers) {
  SpectralBlock block{mesh, id, order, elements};
  check_sizes(block);
  check_axes(block, axes);
  if (numbers) block.numbers.assign(numbers, numbers + elements);
  const auto dimensions = static_cast<std::size_t>(mesh.dimensions);
  const auto points = static_cast<std::size_t>(block.points());
  block.place.resize(points * dimensions);
  for (std::size_t a = 0; a < dimensions && points > 0; ++a) {
    for (std::size_t p = 0; p < points; ++p) block.place[p * dimensions + a] = axes[a][p];
  }
  set_volumes(block);
  return block;
}

Block list_of(const SpectralBlock& block) {
  Block list;
  list.id = block.id;
  list.space = IndexSpace::list;
  list.cells = list_box(block.elements * block.cells_of_one());
  list.lengths = {block.points(), block.elements * block.corners_of_one(), 0};
  if (block.elements == 0) return list;
  const auto axes = static_cast<std::size_t>(block.mesh.dimensions);
  for (std::size_t a = axes; a < 3; ++a) list.bounds.low[a] = list.bounds.high[a] = 0;
  for (std::size_t n = 0; n < block.place.size(); ++n) {
    list.bounds.low[n % axes] = std::min(list.bounds.low[n % axes], block.place[n]);
    list.bounds.high[n % axes] = std::max(list.bounds.high[n % axes], block.place[n]);
  }
  return list;
}

SpectralCells cells_of(const SpectralBlock& block) {
  constexpr std::uint8_t line = 3, quadrilateral = 9, hexahedron = 12;
  const int dimensions = block.mesh.dimensions;
  const std::int32_t n = block.order + 1, points = static_cast<std::int32_t>(block.points_of_one());
  // Steps from the lowest corner of a cell to its corners, in VTK's order.
  const std::int32_t steps[8] = {0, 1, n + 1, n, n * n, n * n + 1, n * n + n + 1, n * n + n};
  const std::int32_t corners = 1 << dimensions;
  const std::int32_t ends[3] = {block.order, dimensions > 1 ? block.order : 1, dimensions > 2 ? block.order : 1};
  SpectralCells cells;
  for (std::int32_t e = 0; e < block.elements; ++e) {
    for (std::int32_t k = 0; k < ends[2]; ++k) {
      for (std::int32_t j = 0; j < ends[1]; ++j) {
        for (std::int32_t i = 0; i < ends[0]; ++i) {
          for (std::int32_t c = 0; c < corners; ++c) {
            cells.corners.push_back(e * points + (k * n + j) * n + i + steps[c]);
          }
          cells.ends.push_back(static_cast<std::int32_t>(cells.corners.size()));
        }
      }
    }
  }
  cells.types.assign(cells.ends.size(), dimensions == 1 ? line : dimensions == 2 ? quadrilateral : hexahedron);
  return cells;
}

namespace {

/// Values of the Legendre polynomials of degrees N and N - 1.
std::array<double, 2> legendre(int order, double x) {
  double before = 1, now = x;
  for (int n = 2; n <= order; ++n) {
    const double next = ((2 * n - 1) * x * now - (n - 1) * before) / n;
    before = now;
    now = next;
  }
  return {now, before};
}

/// A zero of P'_N near `x`. With q = (1 - x^2) P'_N = N (P_(N-1) - x P_N), q' is -N (N + 1) P_N.
double inner_point(int order, double x) {
  constexpr int enough = 50;
  for (int step = 0; step < enough; ++step) {
    const auto [now, before] = legendre(order, x);
    const double change = (before - x * now) / ((order + 1) * now);
    x += change;
    if (std::abs(change) < 1e-15) break;
  }
  return x;
}

}  // namespace

SpectralRule::SpectralRule(int order) {
  const auto n = static_cast<std::size_t>(order) + 1;
  at_.resize(n);
  at_.front() = -1;
  at_.back() = 1;
  // Points are antisymmetric, exactly.
  for (std::size_t i = 1; i < n / 2; ++i) {
    at_[i] = inner_point(order, -std::cos(std::numbers::pi * static_cast<double>(i) / order));
    at_[n - 1 - i] = -at_[i];
  }
  if (n % 2 == 1) at_[n / 2] = 0;
  std::vector<double> value(n);
  for (std::size_t i = 0; i < n; ++i) value[i] = legendre(order, at_[i])[0];
  const double pairs = static_cast<double>(order) * (order + 1);
  for (std::size_t i = 0; i < n; ++i) weights_.push_back(2 / (pairs * value[i] * value[i]));
  slopes_.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j) slopes_[i * n + j] = value[i] / (value[j] * (at_[i] - at_[j]));
    }
  }
  slopes_.front() = -pairs / 4;
  slopes_.back() = pairs / 4;
}

/// The derivative of a coordinate along one axis of the element at index `along` of the line through `at`, whose points
/// are `step` apart. `stride`: numbers for each point.
double SpectralRule::slope(std::span<const double> place, std::size_t stride, std::size_t at, std::size_t along,
                           std::size_t step) const {
  const std::size_t n = points();
  double sum = 0;
  for (std::size_t j = 0; j < n; ++j) sum += slopes_[along * n + j] * place[stride * (at + j * step)];
  return sum;
}

namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

double determinant(const Matrix& m, int dimensions) {
  if (dimensions == 1) return m[0][0];
  if (dimensions == 2) return m[0][0] * m[1][1] - m[0][1] * m[1][0];
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

}  // namespace

bool SpectralRule::volumes(std::span<const double> place, int dimensions, std::span<double> out) const {
  const std::size_t n = points();
  const auto axes = static_cast<std::size_t>(dimensions);
  const std::array<std::size_t, 3> steps{1, n, n * n};
  double sign = 0;
  for (std::size_t point = 0; point < out.size(); ++point) {
    Matrix jacobian{};
    double weight = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::size_t along = point / steps[axis] % n;
      weight *= weights_[along];
      for (std::size_t c = 0; c < axes; ++c) {
        jacobian[axis][c] = slope(place.subspan(c), axes, point - along * steps[axis], along, steps[axis]);
      }
    }
    const double size = determinant(jacobian, dimensions);
    if (!std::isfinite(size) || size * sign < 0) return false;
    if (size != 0) sign = size > 0 ? 1 : -1;
    out[point] = weight * std::abs(size);
  }
  return true;
}

}  // namespace sidestream
