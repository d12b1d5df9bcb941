#include "visualisation/contour/plane_buffer.hpp"

#include <algorithm>
#include <limits>

namespace sidestream {
namespace {

/// Uses four lanes, so that the compiler can use vector instructions without being allowed to reorder.
PlaneBuffer::Row summarise(const double* row, Index n) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double low[4] = {infinity, infinity, infinity, infinity}, high[4] = {-infinity, -infinity, -infinity, -infinity};
  double poison[4] = {0, 0, 0, 0};  // stays 0 while everything is finite
  const auto take = [&](int lane, double v) {
    low[lane] = v < low[lane] ? v : low[lane];
    high[lane] = v > high[lane] ? v : high[lane];
    poison[lane] += v * 0.0;
  };
  Index i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int lane = 0; lane < 4; ++lane) take(lane, row[i + lane]);
  }
  for (; i < n; ++i) take(0, row[i]);
  return {std::min({low[0], low[1], low[2], low[3]}), std::max({high[0], high[1], high[2], high[3]}),
          poison[0] + poison[1] + poison[2] + poison[3] == 0};
}

}  // namespace

void PlaneBuffer::move_to(const Box& box) {
  const bool same_rows =
      box.lo[0] == box_.lo[0] && box.hi[0] == box_.hi[0] && box.lo[1] == box_.lo[1] && box.hi[1] == box_.hi[1];
  const Index kept_from = std::max(box.lo[2], box_.lo[2]), kept_to = std::min(box.hi[2], box_.hi[2]);
  const bool keep = same_rows && kept_from == box.lo[2] && kept_to > kept_from;
  const Index plane = box.extent(0) * box.extent(1);
  const Index skip = keep ? kept_from - box_.lo[2] : 0, kept = keep ? kept_to - kept_from : 0;
  std::copy_n(values_.begin() + skip * plane, kept * plane, values_.begin());
  std::copy_n(rows_.begin() + skip * box.extent(1), kept * box.extent(1), rows_.begin());
  box_ = box;
  values_.resize(static_cast<std::size_t>(std::max<Index>(box.count(), static_cast<Index>(values_.size()))));
  rows_.resize(std::max(rows_.size(), static_cast<std::size_t>(box.extent(1) * box.extent(2))));

  Box fresh = box;
  fresh.lo[2] += kept;
  if (fresh.empty()) return;
  source_.fill(fresh, values_.data() + kept * plane);
  for (Index n = kept * box.extent(1); n < box.extent(1) * box.extent(2); ++n) {
    rows_[static_cast<std::size_t>(n)] = summarise(values_.data() + n * box.extent(0), box.extent(0));
  }
}

}  // namespace sidestream
