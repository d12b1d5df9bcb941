#include "server/block_table.hpp"

#include <algorithm>
#include <tuple>

namespace sidestream {

namespace {
auto key(const PlacedBlock& b) { return std::tuple(b.block.mesh, b.block.level, b.block.cells.lo[0], b.block.id); }
}  // namespace

BlockTable::BlockTable(std::vector<PlacedBlock> blocks) : blocks_(std::move(blocks)) {
  std::sort(blocks_.begin(), blocks_.end(), [](const auto& a, const auto& b) { return key(a) < key(b); });
  for (const PlacedBlock& b : blocks_) longest_ = std::max(longest_, b.block.cells.extent(0));
}

std::vector<const PlacedBlock*> BlockTable::near(std::int32_t mesh, std::int32_t level, const Box& cells) const {
  const Box reach = grown(cells, 1);
  PlacedBlock first;
  first.block.mesh = mesh;
  first.block.level = level;
  first.block.cells.lo[0] = reach.lo[0] - longest_;
  first.block.id = INT64_MIN;
  auto it = std::lower_bound(blocks_.begin(), blocks_.end(), first,
                             [](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<const PlacedBlock*> found;
  for (; it != blocks_.end() && it->block.mesh == mesh && it->block.level == level; ++it) {
    if (it->block.cells.lo[0] >= reach.hi[0]) break;
    if (!intersection(it->block.cells, reach).empty()) found.push_back(&*it);
  }
  return found;
}

std::vector<Box> BlockTable::owned(const Variable& variable, const Block& block) const {
  const Box points = variable.points(block.cells);
  std::vector<Box> rest;
  if (!points.empty()) rest.push_back(points);
  for (const PlacedBlock* other : near(block.mesh, block.level, block.cells)) {
    if (other->block.id < block.id) rest = difference(rest, variable.points(other->block.cells));
  }
  return rest;
}

}  // namespace sidestream
