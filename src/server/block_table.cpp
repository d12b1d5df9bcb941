#include "server/block_table.hpp"

#include <algorithm>
#include <tuple>

namespace sidestream {

BlockTable::BlockTable(std::vector<PlacedBlock> blocks) {
  for (const PlacedBlock& placed : blocks) declared_.insert_or_assign(key_of(placed.block), placed);
  rebuild();
}

void BlockTable::apply(const std::vector<std::vector<BlockChange>>& changes) {
  for (std::size_t server = 0; server < changes.size(); ++server) {
    for (const BlockChange& change : changes[server]) {
      if (change.removed) {
        // Readers of a stream share its blocks out anew: another server may have taken the block over already.
        const auto found = declared_.find(key_of(change.block));
        if (found != declared_.end() && found->second.server == static_cast<std::int32_t>(server))
          declared_.erase(found);
      } else {
        declared_.insert_or_assign(key_of(change.block), PlacedBlock{change.block, static_cast<std::int32_t>(server)});
      }
    }
  }
  rebuild();
}

void BlockTable::rebuild() {
  std::vector<const PlacedBlock*> order;
  order.reserve(declared_.size());
  repeated_.reset();
  for (const auto& [key, placed] : declared_) {
    if (!order.empty() && order.back()->block.mesh == placed.block.mesh && order.back()->block.id == placed.block.id) {
      if (!repeated_) {
        repeated_ = Repeated{placed.block.mesh, placed.block.id, order.back()->block.client, placed.block.client};
      }
      continue;  // so that ids are unique in what others look at
    }
    order.push_back(&placed);
  }
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
  const Box points = variable.points(block);
  std::vector<Box> rest;
  if (!points.empty()) rest.push_back(points);
  if (block.is_list()) return rest;
  for (const std::int64_t position : near(block.mesh, block.level, block.cells)) {
    const Block& other = blocks_[static_cast<std::size_t>(position)];
    if (other.id < block.id) rest = difference(rest, variable.points(other.cells));
  }
  return rest;
}

std::vector<Box> BlockTable::covered(const Mesh& mesh, const Block& block) const {
  std::vector<Box> all;
  const auto levels = static_cast<std::int32_t>(mesh.refinement.size());
  if (block.is_list() || block.cells.empty() || block.level >= levels) return all;
  const Box region = grown(block.cells, 1);
  std::vector<Box> open{region};  // what no finer level covers
  Index3 ratio{1, 1, 1};
  for (std::int32_t level = block.level + 1; level <= levels; ++level) {
    for (std::size_t a = 0; a < 3; ++a) ratio[a] *= mesh.refinement[static_cast<std::size_t>(level) - 1][a];
    open = uncovered(open, ratio, block.mesh, level);
  }
  all.push_back(region);
  for (const Box& box : open) all = difference(all, box);
  return all;
}

/// The cells of `boxes` that are not covered whole by blocks of `level`, where `ratio` cells lie along one.
std::vector<Box> BlockTable::uncovered(const std::vector<Box>& boxes, const Index3& ratio, std::int32_t mesh,
                                       std::int32_t level) const {
  std::vector<Box> result;
  std::vector<std::int64_t> finer;
  for (const Box& box : boxes) {
    Box fine = box;
    for (std::size_t a = 0; a < 3; ++a) {
      fine.lo[a] *= ratio[a];
      fine.hi[a] *= ratio[a];
    }
    index_.overlapping(mesh, level, fine, finer);
    std::vector<Box> rest{fine};
    for (const std::int64_t n : finer) rest = difference(rest, blocks_[static_cast<std::size_t>(n)].cells);
    // Cells of which a part is left count whole; they may meet in several parts.
    std::vector<Box> cells;
    for (const Box& part : rest) {
      Box coarse;
      for (std::size_t a = 0; a < 3; ++a) {
        const auto floor = [&](Index i) { return i / ratio[a] - (i % ratio[a] < 0 ? 1 : 0); };
        coarse.lo[a] = floor(part.lo[a]);
        coarse.hi[a] = floor(part.hi[a] - 1) + 1;
      }
      std::vector<Box> more{coarse};
      for (const Box& known : cells) more = difference(more, known);
      cells.insert(cells.end(), more.begin(), more.end());
    }
    result.insert(result.end(), cells.begin(), cells.end());
  }
  return result;
}

std::optional<std::pair<Block, Block>> BlockTable::overlap() const {
  std::vector<std::int64_t> others;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    if (block.is_list() || block.cells.empty()) continue;
    index_.overlapping(block.mesh, block.level, block.cells, others);
    for (const std::int64_t other : others) {
      if (static_cast<std::size_t>(other) != b) return std::pair(block, blocks_[static_cast<std::size_t>(other)]);
    }
  }
  return std::nullopt;
}

}  // namespace sidestream
