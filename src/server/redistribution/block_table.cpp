// Block table, updated by differences.
//
// `declared_` holds the declaration of each client under (mesh, id, client). Among the declarations of a name (mesh,
// id), the lowest client's block is visible. An update remembers the visible block of each changed name, applies the
// changes, and compares. Blocks that only changed in place are replaced; all others are merged into the sorted lists.
// The spatial index is rebuilt only if blocks were added or removed, or if it cannot replace a block.
#include "server/redistribution/block_table.hpp"

#include <algorithm>

namespace sidestream {

namespace {

/// Sort key of the visible blocks.
std::tuple<std::int32_t, std::int32_t, std::int64_t> order_of(const Block& block) {
  return {block.client, block.mesh, block.id};
}

bool comes_first(const Block& a, const Block& b) { return order_of(a) < order_of(b); }

}  // namespace

BlockTable::BlockTable(std::vector<PlacedBlock> blocks) {
  for (const PlacedBlock& placed : blocks) declared_.insert_or_assign(key_of(placed.block), placed);
  Before all;
  for (const auto& [key, placed] : declared_) all.try_emplace({placed.block.mesh, placed.block.id});
  note_repeated(all);
  update(all);
}

void BlockTable::apply(const std::vector<std::vector<BlockChange>>& changes) {
  Before before;
  declare(changes, before);
  note_repeated(before);
  update(before);
}

/// Returns the visible block of a name, the lowest client's, so that ids are unique.
const PlacedBlock* BlockTable::find(const Name& name) const {
  const auto at = declared_.lower_bound({name.first, name.second, INT32_MIN});
  if (at == declared_.end() || at->second.block.mesh != name.first || at->second.block.id != name.second)
    return nullptr;
  return &at->second;
}

void BlockTable::declare(const std::vector<std::vector<BlockChange>>& changes, Before& before) {
  for (std::size_t s = 0; s < changes.size(); ++s) {
    const auto server = static_cast<std::int32_t>(s);
    for (const BlockChange& change : changes[s]) {
      const Name name{change.block.mesh, change.block.id};
      if (!before.contains(name)) {
        const PlacedBlock* const known = find(name);
        before.emplace(name, known ? std::optional(*known) : std::nullopt);
      }
      if (change.removed) {
        // Readers of a stream redistribute its blocks, so another server may already have taken over the block.
        const auto found = declared_.find(key_of(change.block));
        if (found != declared_.end() && found->second.server == server) declared_.erase(found);
      } else {
        declared_.insert_or_assign(key_of(change.block), PlacedBlock{change.block, server});
      }
    }
  }
}

void BlockTable::note_repeated(const Before& before) {
  for (const auto& [name, known] : before) {
    const auto first = declared_.lower_bound({name.first, name.second, INT32_MIN});
    const auto second = first == declared_.end() ? first : std::next(first);
    const bool twice = second != declared_.end() && find(name) && second->second.block.mesh == name.first &&
                       second->second.block.id == name.second;
    if (twice) {
      repeats_.insert(name);
    } else {
      repeats_.erase(name);
    }
  }
  repeated_.reset();
  if (repeats_.empty()) return;
  const auto& [mesh, id] = *repeats_.begin();
  const auto first = declared_.lower_bound({mesh, id, INT32_MIN});
  repeated_ = Repeated{mesh, id, first->second.block.client, std::next(first)->second.block.client};
}

std::int64_t BlockTable::position_of(const Block& block) const {
  return std::lower_bound(blocks_.begin(), blocks_.end(), block, comes_first) - blocks_.begin();
}

/// Updates the visible blocks after changes of `declared_`.
void BlockTable::update(const Before& before) {
  std::vector<Block> leaving;
  std::vector<PlacedBlock> fresh;
  bool stands = true;  // the index is still valid
  covered_.reset();
  in_part_.reset();
  changed_.clear();
  for (const auto& [name, known] : before) {
    const PlacedBlock* const now = find(name);
    if (known && now && order_of(known->block) == order_of(now->block)) {
      stands &= replace(*known, *now);
      continue;
    }
    if (known) leaving.push_back(known->block);
    if (now) fresh.push_back(*now);
  }
  const bool moves = !leaving.empty() || !fresh.empty();
  if (moves) merge(leaving, std::move(fresh));
  if (moves || !stands) index_ = BlockIndex(blocks_);
  std::sort(changed_.begin(), changed_.end());
}

/// Replaces a block in place. Returns false if the index must be rebuilt.
bool BlockTable::replace(const PlacedBlock& before, const PlacedBlock& after) {
  const std::int64_t position = position_of(after.block);
  const auto n = static_cast<std::size_t>(position);
  servers_[n] = after.server;
  if (before.block == after.block) return true;
  blocks_[n] = after.block;
  changed_.push_back(position);
  const bool same_place = before.block.cells == after.block.cells && before.block.level == after.block.level &&
                          before.block.space == after.block.space;
  return same_place || index_.replace(position, before.block, after.block);
}

void BlockTable::merge(const std::vector<Block>& leaving, std::vector<PlacedBlock> fresh) {
  std::vector<bool> stays(blocks_.size(), true), is_changed(blocks_.size(), false);
  for (const Block& block : leaving) stays[static_cast<std::size_t>(position_of(block))] = false;
  for (const std::int64_t position : changed_) is_changed[static_cast<std::size_t>(position)] = true;
  std::sort(fresh.begin(), fresh.end(), [](const auto& a, const auto& b) { return comes_first(a.block, b.block); });
  std::vector<Block> blocks;
  std::vector<std::int32_t> servers;
  blocks.reserve(blocks_.size() + fresh.size() - leaving.size());
  servers.reserve(blocks.capacity());
  changed_.clear();
  const auto add = [&](const Block& block, std::int32_t server, bool changed) {
    if (changed) changed_.push_back(static_cast<std::int64_t>(blocks.size()));
    blocks.push_back(block);
    servers.push_back(server);
  };
  auto next = fresh.begin();
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (!stays[b]) continue;
    for (; next != fresh.end() && comes_first(next->block, blocks_[b]); ++next) add(next->block, next->server, true);
    add(blocks_[b], servers_[b], is_changed[b]);
  }
  for (; next != fresh.end(); ++next) add(next->block, next->server, true);
  blocks_ = std::move(blocks);
  servers_ = std::move(servers);
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
    if (other.id < block.id) rest = difference(rest, variable.points(other));
  }
  return rest;
}

std::vector<Box> BlockTable::covered(const Mesh& mesh, const Block& block) const {
  return covered_cells(mesh, block, blocks_, index_);
}

const std::vector<bool>& BlockTable::wholly_covered(const Metadata& metadata) const {
  if (!covered_) covered_ = sidestream::wholly_covered(metadata, blocks_, index_);
  return *covered_;
}

const std::vector<CoveredInPart>& BlockTable::covered_in_part(const Metadata& metadata) const {
  if (!in_part_) in_part_ = sidestream::covered_in_part(metadata, blocks_, index_);
  return *in_part_;
}

std::optional<std::pair<Block, Block>> BlockTable::overlap(bool of_all,
                                                           const std::function<bool(const Block&)>& ignored) const {
  std::vector<std::int64_t> others;
  const std::size_t count = of_all ? blocks_.size() : changed_.size();
  for (std::size_t n = 0; n < count; ++n) {
    const std::int64_t b = of_all ? static_cast<std::int64_t>(n) : changed_[n];
    const Block& block = blocks_[static_cast<std::size_t>(b)];
    if (block.is_list() || block.cells.empty() || ignored(block)) continue;
    index_.overlapping(block.mesh, block.level, block.cells, others);
    for (const std::int64_t o : others) {
      const Block& other = blocks_[static_cast<std::size_t>(o)];
      if (o != b && !ignored(other)) return std::pair(block, other);
    }
  }
  return std::nullopt;
}

}  // namespace sidestream
