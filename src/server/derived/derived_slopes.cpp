#include "server/derived/derived_slopes.hpp"

#include <limits>

namespace sidestream {

namespace {

using Vector = std::array<double, 3>;

constexpr double no_slope = std::numeric_limits<double>::quiet_NaN();

Vector cross_product(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot_product(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

bool is_zero(const Vector& a) { return a[0] == 0 && a[1] == 0 && a[2] == 0; }

/// A vector perpendicular to both, or, if one is zero, to the other.
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
  // An axis with one point gets a perpendicular direction, along which nothing is known to change.
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

}  // namespace sidestream
