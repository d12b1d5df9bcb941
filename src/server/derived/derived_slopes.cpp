// Derivatives for derived variables.
//
// On grids: central differences where both neighbours exist, one-sided otherwise, 0 without neighbours. With unequal
// spacing it is the derivative of the parabola through the three points. On curvilinear grids, differences along the
// three grid lines are transformed by the inverse Jacobian (a ratio of triple products), computed once for a line of
// points.
// In cells of unstructured meshes: weighted sums of point values (see below).
#include "server/derived/derived_slopes.hpp"

#include <cmath>
#include <limits>
#include <span>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

using Vector = std::array<double, 3>;

constexpr double no_slope = std::numeric_limits<double>::quiet_NaN();

Vector cross_product(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot_product(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

bool is_zero(const Vector& a) { return a[0] == 0 && a[1] == 0 && a[2] == 0; }

/// A vector perpendicular to both arguments, or to the other one if one is zero.
Vector across(const Vector& a, const Vector& b) {
  const Vector& one = is_zero(a) ? b : a;
  if (!is_zero(a) && !is_zero(b)) return cross_product(a, b);
  return one[0] == 0 && one[1] == 0 ? Vector{1, 0, 0} : Vector{-one[1], one[0], 0};
}

Index3 neighbour(Index3 p, int axis, Index step) {
  p[static_cast<std::size_t>(axis)] += step;
  return p;
}

}  // namespace

DerivedSlopes::Sides DerivedSlopes::sides(const DerivedField& field, const Index3& p, int axis) const noexcept {
  const Index3 below = neighbour(p, axis, -1), above = neighbour(p, axis, 1);
  const bool all = presence_.complete();
  return {field.box.contains(below) && (all || presence_.has(below)),
          field.box.contains(above) && (all || presence_.has(above))};
}

/// Computes a derivative from a value and those of its neighbours that exist. `even`: the uniform spacing, or 0 if the
/// spacings are `before` and `after`.
double DerivedSlopes::difference(const Sides& has, const Values& u, double even, double before, double after) noexcept {
  if (!has.lower && !has.upper) return 0;
  if (even != 0) {
    if (!has.lower) return (u.above - u.here) / even;
    if (!has.upper) return (u.here - u.below) / even;
    return (u.above - u.below) / (2 * even);
  }
  if (!has.lower) return (u.above - u.here) / after;
  if (!has.upper) return (u.here - u.below) / before;
  // Derivative of the parabola through the three points.
  const double a = -after / (before * (before + after)), b = (after - before) / (before * after);
  const double c = before / (after * (before + after));
  return a * u.below + b * u.here + c * u.above;
}

void DerivedSlopes::on_axis(const DerivedField& field, const double* values, int axis, const PointLine& line,
                            double* out) const {
  const auto a = static_cast<std::size_t>(axis);
  const auto stride = static_cast<std::ptrdiff_t>(axis == 0   ? 1
                                                  : axis == 1 ? field.box.extent(0)
                                                              : field.box.extent(0) * field.box.extent(1));
  const double* here = values + field.offset(line.first);
  const double even = points_.spacing(axis);
  // Along other axes all points of a line have the same neighbours, if all points have values.
  const bool alike = axis != 0 && presence_.complete();
  Sides has = sides(field, line.first, axis);
  double before = 0, after = 0;
  Index3 p = line.first;
  for (Index i = 0; i < line.count; ++i, ++p[0], ++here) {
    if (!alike) has = sides(field, p, axis);
    if (even == 0 && (i == 0 || axis == 0)) {
      before =
          field.box.contains(neighbour(p, axis, -1)) ? points_.along(axis, p[a]) - points_.along(axis, p[a] - 1) : 0;
      after = field.box.contains(neighbour(p, axis, 1)) ? points_.along(axis, p[a] + 1) - points_.along(axis, p[a]) : 0;
    }
    const Values u{has.lower ? *(here - stride) : 0, *here, has.upper ? *(here + stride) : 0};
    out[i] = difference(has, u, even, before, after);
  }
}

DerivedSlopes::Surroundings DerivedSlopes::surroundings(const DerivedField& field, const Index3& p) const noexcept {
  Surroundings around;
  std::array<Vector, 3> along{};  // differences of the coordinates of neighbours along each line of the mesh
  std::array<bool, 3> alone{true, true, true};
  for (int axis = 0; axis < dimensions_; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const Sides has = sides(field, p, axis);
    const Index3 from = has.lower ? neighbour(p, axis, -1) : p, to = has.upper ? neighbour(p, axis, 1) : p;
    alone[a] = !has.lower && !has.upper;
    around.from[a] = field.offset(from);
    around.to[a] = field.offset(to);
    for (int d = 0; d < dimensions_; ++d) {
      along[a][static_cast<std::size_t>(d)] = points_.coordinate(d, to) - points_.coordinate(d, from);
    }
  }
  // An axis with one point gets a perpendicular direction, along which the derivative is 0.
  for (std::size_t a = 0; a < 3; ++a) {
    if (alone[a]) along[a] = across(along[(a + 1) % 3], along[(a + 2) % 3]);
  }
  around.across = {cross_product(along[1], along[2]), cross_product(along[2], along[0]),
                   cross_product(along[0], along[1])};
  around.volume = dot_product(along[0], around.across[0]);
  return around;
}

/// Surroundings of all points of a line. Tensors request all derivatives of all components on one line in turn, so they
/// are computed once.
const std::vector<DerivedSlopes::Surroundings>& DerivedSlopes::of_line(const DerivedField& field,
                                                                       const PointLine& line) {
  const bool known = line_.count == line.count && line_.first == line.first && line_box_ == field.box;
  if (known) return of_line_;
  line_ = line;
  line_box_ = field.box;
  of_line_.clear();
  Index3 p = line.first;
  for (Index i = 0; i < line.count; ++i, ++p[0]) of_line_.push_back(surroundings(field, p));
  return of_line_;
}

void DerivedSlopes::in_space(const DerivedField& field, const double* values, int axis, const PointLine& line,
                             double* out) {
  const auto d = static_cast<std::size_t>(axis), dimensions = static_cast<std::size_t>(dimensions_);
  for (const Surroundings& around : of_line(field, line)) {
    Vector rise{0, 0, 0};
    for (std::size_t a = 0; a < dimensions; ++a) rise[a] = values[around.to[a]] - values[around.from[a]];
    const auto& [vw, wu, uv] = around.across;
    *out++ = around.volume == 0 ? no_slope : (rise[0] * vw[d] + (rise[1] * wu[d] + rise[2] * uv[d])) / around.volume;
  }
}

void DerivedSlopes::along(const DerivedField& field, int component, int axis, const PointLine& line, double* out) {
  const double* values = field.components[static_cast<std::size_t>(component)].data();
  if (points_.curved()) return in_space(field, values, axis, line, out);
  on_axis(field, values, axis, line, out);
}

// Derivatives in cells as weighted sums of point values; the weights depend on the mesh only and are computed once.
//
// For a linear cell with parametric coordinates r, s, t, the derivatives of its shape functions N_p at the parametric
// centre are constants (table below). With the edges e_r = sum_p dN_p/dr x_p (e_s, e_t likewise) and their dual basis
// e*_r, point p has the weight dN_p/dr e*_r + dN_p/ds e*_s + dN_p/dt e*_t. All other cells get a least-squares fit of a
// linear function to their points: the weights are (pseudo-inverse of the scatter matrix) (x_p - mean).

namespace {

/// Adds in a different order than dot_product.
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + (a[1] * b[1] + a[2] * b[2]); }
Vector scaled(const Vector& a, double by) { return {a[0] * by, a[1] * by, a[2] * by}; }

/// Derivatives of the shape functions of a linear cell type in the parametric centre.
struct CentreSlopes {
  std::uint8_t type;
  std::size_t points, dimensions;
  std::array<std::array<double, 8>, 3> slopes;  ///< [parameter][point]
};

/// Types, orders of points and centres as in VTK.
constexpr double h = 0.5, q = 0.25, t = 1.0 / 3;
constexpr CentreSlopes linear_cells[] = {
    {3, 2, 1, {{{-1, 1}}}},                                       // line
    {5, 3, 2, {{{-1, 1, 0}, {-1, 0, 1}}}},                        // triangle
    {8, 4, 2, {{{-h, h, -h, h}, {-h, -h, h, h}}}},                // pixel
    {9, 4, 2, {{{-h, h, h, -h}, {-h, -h, h, h}}}},                // quadrilateral
    {10, 4, 3, {{{-1, 1, 0, 0}, {-1, 0, 1, 0}, {-1, 0, 0, 1}}}},  // tetrahedron
    {11, 8, 3, {{{-q, q, -q, q, -q, q, -q, q}, {-q, -q, q, q, -q, -q, q, q}, {-q, -q, -q, -q, q, q, q, q}}}},  // voxel
    {12,
     8,
     3,
     {{{-q, q, q, -q, -q, q, q, -q}, {-q, -q, q, q, -q, -q, q, q}, {-q, -q, -q, -q, q, q, q, q}}}},     // hexahedron
    {13, 6, 3, {{{-h, 0, h, -h, 0, h}, {-h, h, 0, -h, h, 0}, {-t, -t, -t, t, t, t}}}},                  // wedge
    {14, 5, 3, {{{-.48, .48, .32, -.32, 0}, {-.48, -.32, .32, .48, 0}, {-.36, -.24, -.16, -.24, 1}}}},  // pyramid
};

const CentreSlopes* slopes_of(std::int64_t type) {
  for (const CentreSlopes& one : linear_cells) {
    if (one.type == type) return &one;
  }
  return nullptr;
}

/// Dual basis: vectors whose products with the edges are 1 with their own and 0 with the others. They lie in the span
/// of the edges.
std::array<Vector, 3> dual(const std::array<Vector, 3>& edges, std::size_t dimensions) {
  const Vector uv = cross_product(edges[0], edges[1]);
  if (dimensions == 1) return {scaled(edges[0], 1 / dot(edges[0], edges[0]))};
  if (dimensions == 2) {
    const double area = 1 / dot(uv, uv);
    return {scaled(cross_product(edges[1], uv), area), scaled(cross_product(uv, edges[0]), area)};
  }
  const Vector vw = cross_product(edges[1], edges[2]), wu = cross_product(edges[2], edges[0]);
  const double volume = 1 / dot(edges[0], vw);
  return {scaled(vw, volume), scaled(wu, volume), scaled(uv, volume)};
}

/// Computes the weights of a linear cell. A degenerate cell gets infinite or NaN weights, so that its derivative is NaN
/// instead of a number made of rounding errors.
void find_weights(const CentreSlopes& cell, std::span<const Vector> places, std::span<Vector> weights) {
  std::array<Vector, 3> edges{};
  for (std::size_t r = 0; r < cell.dimensions; ++r) {
    for (std::size_t n = 0; n < places.size(); ++n) {
      for (std::size_t d = 0; d < 3; ++d) edges[r][d] += cell.slopes[r][n] * places[n][d];
    }
  }
  const std::array<Vector, 3> duals = dual(edges, cell.dimensions);
  for (std::size_t n = 0; n < places.size(); ++n) {
    for (std::size_t d = 0; d < 3; ++d) {
      weights[n][d] = 0;
      for (std::size_t r = 0; r < cell.dimensions; ++r) weights[n][d] += cell.slopes[r][n] * duals[r][d];
      if (!std::isfinite(weights[n][d])) weights[n][d] = no_slope;
    }
  }
}

/// Pseudo-inverse of a symmetric matrix, by Jacobi's rotations (Golub and Van Loan, "Matrix Computations", 8.5). All
/// NaN for the zero matrix.
std::array<Vector, 3> pseudo_inverse(std::array<Vector, 3> a) {
  std::array<Vector, 3> v{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};  // columns are eigenvectors
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (const auto& [p, r] : {std::pair<std::size_t, std::size_t>{0, 1}, {0, 2}, {1, 2}}) {
      if (a[p][r] == 0) continue;
      const double tau = (a[r][r] - a[p][p]) / (2 * a[p][r]);
      const double tangent = (tau < 0 ? -1 : 1) / (std::fabs(tau) + std::sqrt(1 + tau * tau));
      const double c = 1 / std::sqrt(1 + tangent * tangent), sine = tangent * c;
      for (std::size_t k = 0; k < 3; ++k) {
        const double one = a[k][p], other = a[k][r];
        a[k][p] = c * one - sine * other;
        a[k][r] = sine * one + c * other;
      }
      for (std::size_t k = 0; k < 3; ++k) {
        const double one = a[p][k], other = a[r][k];
        a[p][k] = c * one - sine * other;
        a[r][k] = sine * one + c * other;
        const double x = v[k][p], y = v[k][r];
        v[k][p] = c * x - sine * y;
        v[k][r] = sine * x + c * y;
      }
    }
  }
  const double largest = std::max({a[0][0], a[1][1], a[2][2]});
  std::array<Vector, 3> inverse{};
  for (std::size_t e = 0; e < 3; ++e) {
    if (largest > 0 && !(a[e][e] > 1e-12 * largest)) continue;
    for (std::size_t m = 0; m < 3; ++m) {
      for (std::size_t n = 0; n < 3; ++n) inverse[m][n] += largest > 0 ? v[m][e] * v[n][e] / a[e][e] : no_slope;
    }
  }
  return inverse;
}

/// Computes the weights of the linear function that fits all points best (least squares).
void fit_weights(std::span<const Vector> places, std::span<Vector> weights) {
  Vector mean{0, 0, 0};
  for (const Vector& x : places) {
    for (std::size_t d = 0; d < 3; ++d) mean[d] += x[d] / static_cast<double>(places.size());
  }
  std::array<Vector, 3> spread{};
  for (const Vector& x : places) {
    for (std::size_t m = 0; m < 3; ++m) {
      for (std::size_t n = 0; n < 3; ++n) spread[m][n] += (x[m] - mean[m]) * (x[n] - mean[n]);
    }
  }
  const std::array<Vector, 3> inverse = pseudo_inverse(spread);
  for (std::size_t p = 0; p < places.size(); ++p) {
    for (std::size_t d = 0; d < 3; ++d) {
      weights[p][d] = 0;
      for (std::size_t n = 0; n < 3; ++n) weights[p][d] += inverse[d][n] * (places[p][n] - mean[n]);
    }
  }
}

std::int64_t whole_at(const BlockView& view, Index i) {
  return with_type(view.array.type,
                   [&](auto zero) { return static_cast<std::int64_t>(*view.array.at<decltype(zero)>(i, 0, 0)); });
}

double real_at(const BlockView& view, Index i, int component) {
  return with_type(view.array.type,
                   [&](auto zero) { return static_cast<double>(*view.array.at<decltype(zero)>(i, 0, 0, component)); });
}

}  // namespace

CellWeights::CellWeights(const Mesh& mesh, const CellArrays& arrays) : points_(arrays.coordinates.points) {
  const auto corners = static_cast<std::int64_t>(arrays.connectivity.points.count());
  const Index cells = arrays.types.points.count(), points = points_.count();
  weights_.resize(static_cast<std::size_t>(corners));
  std::vector<Vector> places;
  std::int64_t begin = 0;
  for (Index cell = 0; cell < cells; ++cell) {
    const std::int64_t end = whole_at(arrays.offsets, cell), type = whole_at(arrays.types, cell);
    const CentreSlopes* slopes = slopes_of(type);
    const bool complete = slopes == nullptr || end - begin == static_cast<std::int64_t>(slopes->points);
    if (end < begin || end > corners || !complete) {
      fail(
          Code::analysis,
          "cell {} of block {} of the mesh '{}' is of type {} and has the entries {} to {} of a connectivity of {}; its "
          "type has other numbers of points, or offsets do not ascend: correct the arrays",
          cell, arrays.types.block.id, mesh.name, type, begin, end, corners);
    }
    places.clear();
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t p = whole_at(arrays.connectivity, n);
      if (p < 0 || p >= points) {
        fail(Code::analysis,
             "cell {} of block {} of the mesh '{}' has point {}, but the block has {}; correct the arrays", cell,
             arrays.types.block.id, mesh.name, p, points);
      }
      links_.push_back(static_cast<std::size_t>(p));
      Vector& x = places.emplace_back(Vector{0, 0, 0});
      for (int d = 0; d < mesh.dimensions; ++d) x[static_cast<std::size_t>(d)] = real_at(arrays.coordinates, p, d);
    }
    const std::span<Vector> mine = std::span(weights_).subspan(static_cast<std::size_t>(begin), places.size());
    slopes != nullptr ? find_weights(*slopes, places, mine) : fit_weights(places, mine);
    ends_.push_back(static_cast<std::size_t>(end));
    begin = end;
  }
}

void CellWeights::along(const double* values, int axis, const PointLine& line, double* out) const {
  for (Index i = 0; i < line.count; ++i) {
    const auto cell = static_cast<std::size_t>(line.first[0] + i);
    const std::size_t begin = cell == 0 ? 0 : ends_[cell - 1];
    double sum = begin == ends_[cell] ? no_slope : 0;
    for (std::size_t n = begin; n < ends_[cell]; ++n) {
      sum += weights_[n][static_cast<std::size_t>(axis)] * values[links_[n]];
    }
    out[i] = sum;
  }
}

void CellWeights::mean(const double* values, const PointLine& line, double* out) const {
  for (Index i = 0; i < line.count; ++i) {
    const auto cell = static_cast<std::size_t>(line.first[0] + i);
    const std::size_t begin = cell == 0 ? 0 : ends_[cell - 1], count = ends_[cell] - begin;
    double sum = 0;
    for (std::size_t n = begin; n < ends_[cell]; ++n) sum += values[links_[n]];
    out[i] = count == 0 ? no_slope : sum / static_cast<double>(count);
  }
}

}  // namespace sidestream
