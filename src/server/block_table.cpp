#include "server/block_table.hpp"

#include <algorithm>
#include <tuple>

namespace sidestream {

BlockTable::BlockTable(std::vector<PlacedBlock> blocks) {
  for (const PlacedBlock& placed : blocks) by_id_.insert_or_assign({placed.block.mesh, placed.block.id}, placed);
  rebuild();
}

void BlockTable::apply(const std::vector<std::vector<BlockChange>>& changes) {
  // Of each server's changes of a block the last one counts. Removals go first, and only if the block is still the
  // client's: another client's declaration, in this iteration or an earlier one, replaces it.
  std::map<std::pair<std::int32_t, std::int64_t>, PlacedBlock> declared;
  for (std::size_t server = 0; server < changes.size(); ++server) {
    std::map<std::pair<std::int32_t, std::int64_t>, BlockChange> last;
    for (const BlockChange& change : changes[server]) last[{change.block.mesh, change.block.id}] = change;
    for (const auto& [key, change] : last) {
      const auto known = by_id_.find(key);
      if (!change.removed) {
        declared.insert_or_assign(key, PlacedBlock{change.block, static_cast<std::int32_t>(server)});
      } else if (known != by_id_.end() && known->second.block.client == change.block.client) {
        by_id_.erase(known);
      }
    }
  }
  for (const auto& [key, placed] : declared) by_id_.insert_or_assign(key, placed);
  rebuild();
}

void BlockTable::rebuild() {
  std::vector<const PlacedBlock*> order;
  order.reserve(by_id_.size());
  for (const auto& [key, placed] : by_id_) order.push_back(&placed);
  const auto key = [](const PlacedBlock* b) { return std::tuple(b->block.client, b->block.mesh, b->block.id); };
  std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
  blocks_.clear();
  servers_.clear();
  for (const PlacedBlock* placed : order) {
    blocks_.push_back(placed->block);
    servers_.push_back(placed->server);
  }
  index_ = BlockIndex(blocks_);
}

std::vector<std::int64_t> BlockTable::near(std::int32_t mesh, std::int32_t level, const Box& cells) const {
  std::vector<std::int64_t> found;
  index_.overlapping(mesh, level, grown(cells, 1), found);
  return found;
}

std::vector<Box> BlockTable::owned(const Variable& variable, const Block& block) const {
  const Box points = variable.points(block.cells);
  std::vector<Box> rest;
  if (!points.empty()) rest.push_back(points);
  for (const std::int64_t position : near(block.mesh, block.level, block.cells)) {
    const Block& other = blocks_[static_cast<std::size_t>(position)];
    if (other.id < block.id) rest = difference(rest, variable.points(other.cells));
  }
  return rest;
}

}  // namespace sidestream
