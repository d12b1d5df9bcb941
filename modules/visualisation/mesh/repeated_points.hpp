// Points that have the same number at different positions. Codes that number the points of a periodic mesh may give
// those at both ends the same number. Cells joined at such points would extend across the mesh.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

/// A total order of positions, also with NaN coordinates.
[[nodiscard]] inline std::strong_ordering order_of(const std::array<double, 3>& a,
                                                   const std::array<double, 3>& b) noexcept {
  for (std::size_t d = 0; d < 3; ++d) {
    if (const std::strong_ordering way = std::strong_order(a[d], b[d]); way != 0) return way;
  }
  return std::strong_ordering::equal;
}

/// The known points of one number. Blocks that share a point may have rounded its position differently.
class PointsOfOneNumber {
 public:
  /// `reach` is the largest absolute coordinate.
  explicit PointsOfOneNumber(double reach) : tolerance_(1e-6 * reach) {}
  void clear() noexcept { known_.clear(); }
  /// Adds a position. Throws Error(usage) if the number has far more positions than the ends of a periodic mesh
  /// produce. Then the array was never filled, and a search of all positions would take too long.
  void add(const std::array<double, 3>& place, std::int64_t point) {
    constexpr std::size_t most = 1000;
    if (known_.size() == most) {
      fail(Code::usage,
           "found one number in point_ids at {} places, among them ({}) and ({}), expected a number for "
           "each point; fill the array, or leave it out",
           most, fmt::join(first(), ", "), fmt::join(place, ", "));
    }
    known_.emplace_back(place, point);
  }
  /// The point at a position; -1: there is none.
  [[nodiscard]] std::int64_t at(const std::array<double, 3>& place) const noexcept {
    for (const auto& [known, point] : known_) {
      bool near = true;
      for (std::size_t d = 0; d < 3; ++d) near = near && is_near(known[d], place[d]);
      if (near) return point;
    }
    return -1;
  }
  [[nodiscard]] const std::array<double, 3>& first() const noexcept { return known_.front().first; }

 private:
  /// Compares coordinates; two NaNs count as equal.
  [[nodiscard]] bool is_near(double a, double b) const noexcept {
    return a == b || std::abs(a - b) <= tolerance_ || (std::isnan(a) && std::isnan(b));
  }

  double tolerance_;
  std::vector<std::pair<std::array<double, 3>, std::int64_t>> known_;
};

/// Number of points that were kept apart from a point with the same number, and the positions of the first two.
struct RepeatedPoints {
  std::int64_t count = 0;
  std::array<double, 3> here{}, there{};

  void note(const std::array<double, 3>& known, const std::array<double, 3>& place) {
    if (count++ == 0) here = known, there = place;
  }
};

/// The findings of all servers, on rank 0. Collective.
[[nodiscard]] inline RepeatedPoints gathered(const RepeatedPoints& mine, Communicator& servers) {
  RepeatedPoints all;
  for (const Bytes& bytes : servers.gather(bytes_of(mine), 0)) {
    const auto found = record_of<RepeatedPoints>(bytes);
    if (all.count == 0) all.here = found.here, all.there = found.there;
    all.count += found.count;
  }
  return all;
}

/// Extends `reach` to the largest finite coordinate of `places`.
template <class Places>
double reach_of(const Places& places, double reach) {
  for (std::size_t p = 0; p < places.size(); ++p) {
    const std::array<double, 3> place = places[p];
    for (const double x : place) {
      if (std::isfinite(x)) reach = std::max(reach, std::abs(x));
    }
  }
  return reach;
}

/// Reports once per result that points were kept apart.
class RepeatedPointsNotice {
 public:
  explicit RepeatedPointsNotice(std::string file) : file_(std::move(file)) {}
  void tell(const RepeatedPoints& found) {
    if (warned_ || found.count == 0) return;
    warned_ = true;
    log::warning(
        "'{}': {} of its points have a number (point_ids) of another one that is elsewhere, such as those at ({}, {}, "
        "{}) and ({}, {}, {}); they are kept apart. A periodic mesh may number its ends so; otherwise correct point_ids",
        file_, found.count, found.here[0], found.here[1], found.here[2], found.there[0], found.there[1],
        found.there[2]);
  }

 private:
  std::string file_;
  bool warned_ = false;
};

}  // namespace sidestream
