#include "visualisation/relevance/block_values.hpp"

#include <algorithm>
#include <cmath>

#include "sidestream/extend/merging.hpp"

namespace sidestream {

BlockValues values_of(const BlockView& view, int component) {
  BlockValues block;
  block.id = view.block.id;
  block.cells = view.block.cells;
  if (view.copy) return block;
  const auto count = static_cast<std::size_t>(block.cells.count());
  block.values.assign(count, 0);
  block.counts.assign(count, 0);
  bool first = true;
  for_each_counted(view, component, [&](const Index3& p, double value) {
    const std::size_t n = block.at(p);
    block.values[n] = value;
    block.counts[n] = 1;
    ++block.counted;
    if (!std::isfinite(value)) {
      block.finite = false;
      return;
    }
    block.low = first ? value : std::min(block.low, value);
    block.high = first ? value : std::max(block.high, value);
    first = false;
  });
  return block;
}

}  // namespace sidestream
