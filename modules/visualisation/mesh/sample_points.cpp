#include "visualisation/mesh/sample_points.hpp"

#include <algorithm>
#include <numeric>

namespace sidestream::sampling {

bool SamplePoints::any_within(const Place& low, const Place& high) const {
  bool any = false;
  within(low, high, [&](std::int64_t) { any = true; });
  return any;
}

ScatteredPoints::ScatteredPoints(int dimensions, std::vector<Place> places)
    : dimensions_(dimensions), places_(std::move(places)), order_(places_.size()) {
  double widest = -1;
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
    const auto less = [a](const Place& x, const Place& y) { return x[a] < y[a]; };
    const auto [low, high] = std::minmax_element(places_.begin(), places_.end(), less);
    if (places_.empty() || (*high)[a] - (*low)[a] <= widest) continue;
    widest = (*high)[a] - (*low)[a];
    axis_ = a;
  }
  std::iota(order_.begin(), order_.end(), 0);
  const auto where = [&](std::int64_t n) { return places_[static_cast<std::size_t>(n)][axis_]; };
  std::sort(order_.begin(), order_.end(), [&](auto x, auto y) { return where(x) < where(y); });
  for (const std::int64_t n : order_) sorted_.push_back(where(n));
}

void ScatteredPoints::within(const Place& low, const Place& high, const std::function<void(std::int64_t)>& f) const {
  const auto first = std::lower_bound(sorted_.begin(), sorted_.end(), low[axis_]);
  for (auto n = first; n != sorted_.end() && *n <= high[axis_]; ++n) {
    const std::int64_t target = order_[static_cast<std::size_t>(n - sorted_.begin())];
    const Place& place = places_[static_cast<std::size_t>(target)];
    bool inside = true;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions_); ++a) {
      inside = inside && place[a] >= low[a] && place[a] <= high[a];
    }
    if (inside) f(target);
  }
}

std::int64_t GridPoints::count() const noexcept {
  std::int64_t all = 1;
  for (const auto& axis : positions_) all *= static_cast<std::int64_t>(axis.size());
  return all;
}

Place GridPoints::at(std::int64_t target) const {
  Place place{};
  for (std::size_t a = 0; a < positions_.size(); ++a) {
    const auto extent = static_cast<std::int64_t>(positions_[a].size());
    place[a] = positions_[a][static_cast<std::size_t>(target % extent)];
    target /= extent;
  }
  return place;
}

void GridPoints::within(const Place& low, const Place& high, const std::function<void(std::int64_t)>& f) const {
  std::array<std::int64_t, 3> first{0, 0, 0}, end{1, 1, 1}, stride{1, 0, 0};
  std::int64_t all = 1;
  for (std::size_t a = 0; a < positions_.size(); ++a) {
    const auto& axis = positions_[a];
    first[a] = std::lower_bound(axis.begin(), axis.end(), low[a]) - axis.begin();
    // NaN bounds select nothing, because `!(position <= high)` is true everywhere.
    end[a] = std::partition_point(axis.begin(), axis.end(), [&](double x) { return x <= high[a]; }) - axis.begin();
    if (!(low[a] <= high[a]) || first[a] >= end[a]) return;
    stride[a] = all;
    all *= static_cast<std::int64_t>(axis.size());
  }
  for (std::int64_t k = first[2]; k < end[2]; ++k) {
    for (std::int64_t j = first[1]; j < end[1]; ++j) {
      const std::int64_t line = j * stride[1] + k * stride[2];
      for (std::int64_t i = first[0]; i < end[0]; ++i) f(line + i);
    }
  }
}

}  // namespace sidestream::sampling
