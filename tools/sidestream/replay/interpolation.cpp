// New values are sums of stored ones with a weight for each axis, so that the share of a stored value is a product of
// three. Conservative refinement adds slopes along the axes of cells: along each the smaller one of both differences to
// the neighbours, none at an extremum, all together scaled so that no new value leaves the range of the neighbours. The
// new cells of a stored one lie evenly around its centre, so their mean is its value.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "resolution.hpp"

namespace sidestream {

namespace {

/// The smaller difference if both have one sign, else 0; also where a value is not a number.
double limited(double below, double above) {
  if (!(below * above > 0) || !std::isfinite(below) || !std::isfinite(above)) return 0;
  return std::abs(below) < std::abs(above) ? below : above;
}

}  // namespace

Interpolation Resampling::way(const Variable& variable) const noexcept {
  const bool real = variable.type == Type::float32 || variable.type == Type::float64;
  return real ? interpolation_ : Interpolation::pick;
}

bool Resampling::has_slope(int axis, const Variable& variable) const noexcept {
  return way(variable) == Interpolation::conservative && refine_[axis] > 1 && !at_nodes(variable.centering, axis);
}

double Resampling::node(int axis, Index index) const {
  return nodes_[axis].empty() ? static_cast<double>(index) : nodes_[axis].at(static_cast<std::size_t>(index));
}

Resampling::Taps Resampling::taps(int axis, Index index, const Variable& variable) const {
  const Index coarsen = coarsen_[axis], refine = refine_[axis];
  const Interpolation how = way(variable);
  if (how == Interpolation::pick || (coarsen == 1 && refine == 1) || has_slope(axis, variable)) {
    return {{source(axis, index, variable.centering), 1}};
  }
  if (at_nodes(variable.centering, axis)) {
    // New nodes are spaced evenly between stored ones.
    const Index whole = index / refine * coarsen, part = index % refine;
    if (part == 0) return {{whole, 1}};
    const double share = static_cast<double>(part) / static_cast<double>(refine);
    return {{whole, 1 - share}, {whole + 1, share}};
  }
  return how == Interpolation::conservative ? mean_taps(axis, index) : linear_taps(axis, index);
}

/// The merged cells, weighted by their lengths.
Resampling::Taps Resampling::mean_taps(int axis, Index index) const {
  const Index first = index * coarsen_[axis], last = first + coarsen_[axis];
  const double length = node(axis, last) - node(axis, first);
  Taps taps;
  for (Index n = first; n < last; ++n) taps.push_back({n, (node(axis, n + 1) - node(axis, n)) / length});
  return taps;
}

/// The two stored centres around the centre of the new cell.
Resampling::Taps Resampling::linear_taps(int axis, Index index) const {
  const Index coarsen = coarsen_[axis], refine = refine_[axis];
  const auto centre = [&](Index n) { return 0.5 * (node(axis, n) + node(axis, n + 1)); };
  const auto edge = [&](Index n) {  // of new cells
    const Index whole = n / refine * coarsen, part = n % refine;
    const double at = node(axis, whole);
    if (part == 0) return at;
    return at + (node(axis, whole + 1) - at) * static_cast<double>(part) / static_cast<double>(refine);
  };
  const double at = 0.5 * (edge(index) + edge(index + 1));
  Index below = index / refine * coarsen;
  while (below + 1 < stored_size_[axis] && centre(below + 1) <= at) ++below;
  while (below > 0 && centre(below) > at) --below;
  if (at <= centre(below) || below + 1 == stored_size_[axis]) return {{below, 1}};
  const double share = (at - centre(below)) / (centre(below + 1) - centre(below));
  return {{below, 1 - share}, {below + 1, share}};
}

/// Stored values of a variable over a box.
template <class T>
class Resampling::Field {
 public:
  Field(const Resampling& how, const Variable& variable, const Box& box, std::span<const T> values)
      : how_(how), variable_(variable), box_(box), values_(values) {}

  [[nodiscard]] double at(const Index3& p, std::size_t component) const {
    const int fast = variable_.order == Order::column ? 0 : 2, slow = 2 - fast;
    const Index line = (p[slow] - box_.lo[slow]) * box_.extent(1) + p[1] - box_.lo[1];
    const auto n = static_cast<std::size_t>(line * box_.extent(fast) + p[fast] - box_.lo[fast]);
    return static_cast<double>(values_[n * static_cast<std::size_t>(variable_.components) + component]);
  }
  /// The weighted sum around a place that is moved by `moved`.
  [[nodiscard]] double sum(const Around& around, const Index3& moved, std::size_t component) const {
    double value = 0;
    for (const Tap& z : *around[2]) {
      for (const Tap& y : *around[1]) {
        for (const Tap& x : *around[0]) {
          const double weight = x.weight * y.weight * z.weight;
          if (weight == 0) continue;  // a value that is not a number has no part then
          value += weight * at({x.source + moved[0], y.source + moved[1], z.source + moved[2]}, component);
        }
      }
    }
    return value;
  }
  /// The sum, and slopes along axes that have them.
  [[nodiscard]] double value(const Around& around, const Index3& p, std::size_t component) const {
    const double middle = sum(around, {}, component);
    double change = 0, most = 0, least = middle, greatest = middle;
    for (int a = 0; a < 3; ++a) {
      if (!how_.has_slope(a, variable_)) continue;
      const Index own = around[a]->front().source;
      Index3 step{};
      step[a] = 1;
      const double above = own + 1 < how_.stored_size_[a] ? sum(around, step, component) : middle;
      step[a] = -1;
      const double below = own > 0 ? sum(around, step, component) : middle;
      const double slope = limited(middle - below, above - middle), parts = static_cast<double>(how_.refine_[a]);
      change += slope * (static_cast<double>(2 * (p[a] % how_.refine_[a]) + 1) / parts - 1) / 2;
      most += std::abs(slope) * (1 - 1 / parts) / 2;
      least = std::min({least, below, above});
      greatest = std::max({greatest, below, above});
    }
    const double room = std::min(middle - least, greatest - middle);
    return change == 0 ? middle : middle + (most > room ? change * (room / most) : change);
  }

 private:
  const Resampling& how_;
  const Variable& variable_;
  Box box_;
  std::span<const T> values_;
};

template <class T>
void Resampling::interpolate(const Box& points, const Variable& variable, std::span<const std::byte> from,
                             std::span<std::byte> to) const {
  const Field<T> field(*this, variable, stored(points, variable),
                       {reinterpret_cast<const T*>(from.data()), from.size() / sizeof(T)});
  const int fast = variable.order == Order::column ? 0 : 2, slow = 2 - fast;
  std::array<std::vector<Taps>, 3> all;
  for (int a = 0; a < 3; ++a) {
    for (Index n = points.lo[a]; n < points.hi[a]; ++n) all[a].push_back(taps(a, n, variable));
  }
  T* out = reinterpret_cast<T*>(to.data());
  Index3 p;
  for (p[slow] = points.lo[slow]; p[slow] < points.hi[slow]; ++p[slow]) {
    for (p[1] = points.lo[1]; p[1] < points.hi[1]; ++p[1]) {
      for (p[fast] = points.lo[fast]; p[fast] < points.hi[fast]; ++p[fast]) {
        Around around{};
        for (int a = 0; a < 3; ++a) around[a] = &all[a][static_cast<std::size_t>(p[a] - points.lo[a])];
        for (int c = 0; c < variable.components; ++c) {
          *out++ = static_cast<T>(field.value(around, p, static_cast<std::size_t>(c)));
        }
      }
    }
  }
}

void Resampling::fill(const Box& points, const Variable& variable, std::span<const std::byte> from,
                      std::span<std::byte> to) const {
  if (way(variable) != Interpolation::pick) {
    return variable.type == Type::float64 ? interpolate<double>(points, variable, from, to)
                                          : interpolate<float>(points, variable, from, to);
  }
  const Box box = stored(points, variable);
  const std::size_t point_bytes = size_of(variable.type) * static_cast<std::size_t>(variable.components);
  const int fast = variable.order == Order::column ? 0 : 2, slow = 2 - fast;
  std::byte* out = to.data();
  Index3 at;
  for (at[slow] = points.lo[slow]; at[slow] < points.hi[slow]; ++at[slow]) {
    for (at[1] = points.lo[1]; at[1] < points.hi[1]; ++at[1]) {
      for (at[fast] = points.lo[fast]; at[fast] < points.hi[fast]; ++at[fast], out += point_bytes) {
        Index3 there;
        for (int a = 0; a < 3; ++a) there[a] = source(a, at[a], variable.centering) - box.lo[a];
        const Index n = (there[slow] * box.extent(1) + there[1]) * box.extent(fast) + there[fast];
        std::memcpy(out, from.data() + static_cast<std::size_t>(n) * point_bytes, point_bytes);
      }
    }
  }
}

}  // namespace sidestream
