#include "visualisation/relevance/metric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace sidestream {

namespace {

double variance_of(const BlockValues& block) {
  // Distances from one of the values: a constant block has exactly 0.
  double sum = 0, squares = 0;
  const auto count = static_cast<double>(block.counted);
  for (std::size_t n = 0; n < block.values.size(); ++n) {
    if (block.counts[n] != 0) sum += block.values[n] - block.low;
  }
  const double mean = sum / count;
  for (std::size_t n = 0; n < block.values.size(); ++n) {
    const double distance = block.values[n] - block.low - mean;
    if (block.counts[n] != 0) squares += distance * distance;
  }
  return squares / count;
}

double gradient_of(const BlockValues& block, const Mesh& mesh) {
  double total = 0;
  for (int a = 0; a < mesh.dimensions; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    double squares = 0;
    std::int64_t pairs = 0;
    for_each_cell(block.cells, [&](const Index3& p) {
      Index3 next = p;
      if (++next[axis] >= block.cells.hi[axis]) return;
      const std::size_t here = block.at(p), there = block.at(next);
      if (block.counts[here] == 0 || block.counts[there] == 0) return;
      const double length = mesh.axes()->centre(a, next[axis]) - mesh.axes()->centre(a, p[axis]);
      const double slope = (block.values[there] - block.values[here]) / length;
      squares += slope * slope;
      ++pairs;
    });
    if (pairs > 0) total += squares / static_cast<double>(pairs);
  }
  return std::sqrt(total);
}

double entropy_of(const BlockValues& block, const EntropyBins& bins) {
  // Halves: the width of the range of the greatest numbers does not overflow.
  const double low = bins.low / 2, width = bins.high / 2 - low;
  if (!(width > 0)) return 0;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins.count), 0);
  for (std::size_t n = 0; n < block.values.size(); ++n) {
    if (block.counts[n] == 0) continue;
    const double place = std::clamp((block.values[n] / 2 - low) / width, 0.0, 1.0);
    const auto bin = static_cast<std::size_t>(place * static_cast<double>(bins.count));
    ++counts[std::min(bin, counts.size() - 1)];
  }
  double entropy = 0;
  for (const std::int64_t count : counts) {
    const double share = static_cast<double>(count) / static_cast<double>(block.counted);
    if (count > 0) entropy -= share * std::log2(share);
  }
  return entropy + 0.0;  // not -0
}

}  // namespace

double metric_of(BlockMetric metric, const BlockValues& block, const Mesh& mesh, const EntropyBins& bins) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // Sums of distances within the block, as means need them, must be finite, too.
  const double sums = (block.high - block.low) * static_cast<double>(std::max<std::int64_t>(block.counted, 1));
  if (!block.finite || !std::isfinite(sums)) return infinity;
  double value = 0;
  switch (metric) {
    case BlockMetric::variance:
      value = variance_of(block);
      break;
    case BlockMetric::range:
      value = block.high - block.low;
      break;
    case BlockMetric::gradient:
      value = gradient_of(block, mesh);
      break;
    case BlockMetric::entropy:
      value = entropy_of(block, bins);
      break;
  }
  return std::isfinite(value) ? value : infinity;
}

}  // namespace sidestream
