// A uniform grid of buckets per mesh and level, as wide as the level's largest block. A block is in the bucket of its
// lower corner, so the blocks that overlap a box are in the buckets of the box or in those just below. The buckets are
// filled by counting sort. If they fill most of a box, a bucket's number is computed from its indices; otherwise it is
// looked up in a hash table. A changed block is marked as removed and added to a list; when that has grown, the index
// is rebuilt.
#include "sidestream/kit/data/block_index.hpp"

#include <algorithm>
#include <utility>

#include "data/levels.hpp"

namespace sidestream {

namespace {

Index3 bucket_of(const Index3& corner, const Index3& size) noexcept {
  return {floor_divided(corner[0], size[0]), floor_divided(corner[1], size[1]), floor_divided(corner[2], size[2])};
}

}  // namespace

std::uint64_t BlockIndex::layer_of(std::int32_t mesh, std::int32_t level) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(mesh)) << 32 | static_cast<std::uint32_t>(level);
}

std::size_t BlockIndex::Hash::operator()(const Key& key) const noexcept {
  std::uint64_t hash = key.layer * 0x9e3779b97f4a7c15ull;
  for (const Index i : key.bucket) {
    hash = (hash ^ static_cast<std::uint64_t>(i)) * 0xff51afd7ed558ccdull;
    hash ^= hash >> 32;
  }
  return hash;
}

void BlockIndex::measure(std::span<const Block> blocks) {
  for (const Block& block : blocks) {
    if (!has_place(block)) continue;
    Layer& layer = layers_[layer_of(block.mesh, block.level)];
    ++layer.count;
    for (int a = 0; a < 3; ++a) layer.largest[a] = std::max(layer.largest[a], block.cells.extent(a));
  }
  std::unordered_map<std::uint64_t, Box> reach;  // in buckets
  for (const Block& block : blocks) {
    if (!has_place(block)) continue;
    const std::uint64_t name = layer_of(block.mesh, block.level);
    const Index3 bucket = bucket_of(block.cells.lo, layers_[name].largest);
    Box& box = reach.try_emplace(name, Box{bucket, bucket}).first->second;
    for (int a = 0; a < 3; ++a) {
      box.lo[a] = std::min(box.lo[a], bucket[a]);
      box.hi[a] = std::max(box.hi[a], bucket[a] + 1);
    }
  }
  std::int64_t next = 0;
  for (auto& [name, layer] : layers_) {
    const Box& box = reach.at(name);
    double buckets = 1;
    for (int a = 0; a < 3; ++a) {
      layer.first[a] = box.lo[a];
      layer.extent[a] = box.extent(a);
      buckets *= static_cast<double>(layer.extent[a]);
    }
    if (buckets > 8 * static_cast<double>(layer.count) + 64) continue;
    layer.base = next;
    next += layer.extent[0] * layer.extent[1] * layer.extent[2];
  }
  begins_.assign(static_cast<std::size_t>(next) + 1, 0);
}

std::int64_t BlockIndex::number_of(std::uint64_t name, const Layer& layer, const Index3& bucket) const noexcept {
  if (layer.base < 0) {
    const auto found = numbers_.find({name, bucket});
    return found == numbers_.end() ? -1 : found->second;
  }
  Index3 at{};
  for (int a = 0; a < 3; ++a) {
    at[a] = bucket[a] - layer.first[a];
    if (at[a] < 0 || at[a] >= layer.extent[a]) return -1;
  }
  return layer.base + (at[2] * layer.extent[1] + at[1]) * layer.extent[0] + at[0];
}

BlockIndex::BlockIndex(std::span<const Block> blocks) {
  measure(blocks);
  // Counts first, then fills: one array for all buckets, in the order of the list within each.
  std::vector<std::int64_t> numbers(blocks.size(), -1);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!has_place(blocks[b])) continue;
    const std::uint64_t name = layer_of(blocks[b].mesh, blocks[b].level);
    const Layer& layer = layers_[name];
    const Index3 bucket = bucket_of(blocks[b].cells.lo, layer.largest);
    numbers[b] = number_of(name, layer, bucket);
    if (numbers[b] < 0) {
      numbers[b] = static_cast<std::int64_t>(begins_.size()) - 1;
      numbers_.emplace(Key{name, bucket}, numbers[b]);
      begins_.push_back(0);
    }
    ++begins_[static_cast<std::size_t>(numbers[b])];
  }
  std::int64_t at = 0;
  for (std::int64_t& begin : begins_) at += std::exchange(begin, at);
  entries_.resize(static_cast<std::size_t>(at));
  std::vector<std::int64_t> next = begins_;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (numbers[b] < 0) continue;
    std::int64_t& place = next[static_cast<std::size_t>(numbers[b])];
    entries_[static_cast<std::size_t>(place++)] = {blocks[b].cells, static_cast<std::int64_t>(b)};
  }
}

void BlockIndex::look(std::int64_t number, const Box& cells, std::vector<std::int64_t>& found) const {
  if (number < 0) return;
  const auto n = static_cast<std::size_t>(number);
  for (std::int64_t e = begins_[n]; e < begins_[n + 1]; ++e) {
    const Entry& entry = entries_[static_cast<std::size_t>(e)];
    if (entry.position >= 0 && !intersection(entry.cells, cells).empty()) found.push_back(entry.position);
  }
  if (added_.empty()) return;
  const auto [first, last] = added_.equal_range(number);
  for (auto it = first; it != last; ++it) {
    if (!intersection(it->second.cells, cells).empty()) found.push_back(it->second.position);
  }
}

/// The number of the bucket that a block with a position belongs to; -1 if it fits into none.
std::int64_t BlockIndex::number_of(const Block& block) const {
  const std::uint64_t name = layer_of(block.mesh, block.level);
  const auto layer = layers_.find(name);
  if (layer == layers_.end()) return -1;
  for (int a = 0; a < 3; ++a) {
    if (block.cells.extent(a) > layer->second.largest[a]) return -1;
  }
  return number_of(name, layer->second, bucket_of(block.cells.lo, layer->second.largest));
}

bool BlockIndex::replace(std::int64_t position, const Block& before, const Block& after) {
  const std::int64_t to = has_place(after) ? number_of(after) : -1;
  if ((has_place(after) && to < 0) || added_.size() > entries_.size() / 4 + 16) return false;
  if (has_place(before)) {
    const std::int64_t from = number_of(before);
    if (from < 0) return false;
    const auto mine = [&](const Entry& entry) { return entry.position == position; };
    const auto end = entries_.begin() + begins_[static_cast<std::size_t>(from) + 1];
    const auto known = std::find_if(entries_.begin() + begins_[static_cast<std::size_t>(from)], end, mine);
    if (known != end) known->position = -1;
    const auto [first, last] = added_.equal_range(from);
    const auto more = std::find_if(first, last, [&](const auto& one) { return mine(one.second); });
    if (more != last) added_.erase(more);
  }
  if (to >= 0) added_.emplace(to, Entry{after.cells, position});
  return true;
}

void BlockIndex::overlapping(std::int32_t mesh, std::int32_t level, const Box& cells,
                             std::vector<std::int64_t>& found) const {
  found.clear();
  const std::uint64_t name = layer_of(mesh, level);
  const auto layer = layers_.find(name);
  if (cells.empty() || layer == layers_.end()) return;
  const Index3& size = layer->second.largest;
  const bool dense = layer->second.base >= 0;
  Index3 first{}, last{};
  double buckets = 1;
  for (int a = 0; a < 3; ++a) {
    // A block that overlaps `cells` begins less than its extent before them.
    first[a] = floor_divided(cells.lo[a] - size[a] + 1, size[a]);
    last[a] = floor_divided(cells.hi[a] - 1, size[a]);
    if (dense) {
      first[a] = std::max(first[a], layer->second.first[a]);
      last[a] = std::min(last[a], layer->second.first[a] + layer->second.extent[a] - 1);
    }
    buckets *= static_cast<double>(last[a] - first[a] + 1);
  }
  if (!dense && buckets > static_cast<double>(numbers_.size())) {
    for (const auto& [key, number] : numbers_) {
      if (key.layer == name) look(number, cells, found);
    }
  } else {
    Index3 b{};
    for (b[2] = first[2]; b[2] <= last[2]; ++b[2]) {
      for (b[1] = first[1]; b[1] <= last[1]; ++b[1]) {
        for (b[0] = first[0]; b[0] <= last[0]; ++b[0]) look(number_of(name, layer->second, b), cells, found);
      }
    }
  }
  std::sort(found.begin(), found.end());
}

}  // namespace sidestream
