#include "data/block_index.hpp"

#include <algorithm>

namespace sidestream {

namespace {

constexpr Index floor_divided(Index a, Index b) noexcept { return a / b - (a % b < 0 ? 1 : 0); }

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

BlockIndex::BlockIndex(std::span<const Block> blocks) {
  for (const Block& block : blocks) {
    if (block.cells.empty()) continue;
    Layer& layer = layers_[layer_of(block.mesh, block.level)];
    ++layer.count;
    for (int a = 0; a < 3; ++a) layer.largest[a] = std::max(layer.largest[a], block.cells.extent(a));
  }
  // Counted first and filled then: one array for all buckets, in the order of the list within each.
  std::vector<Key> keys(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].cells.empty()) continue;
    const std::uint64_t layer = layer_of(blocks[b].mesh, blocks[b].level);
    keys[b] = {layer, bucket_of(blocks[b].cells.lo, layers_[layer].largest)};
    ++buckets_[keys[b]].second;
  }
  std::int64_t at = 0;
  for (auto& [key, range] : buckets_) {
    const std::int64_t count = range.second;
    range = {at, at};
    at += count;
  }
  entries_.resize(static_cast<std::size_t>(at));
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].cells.empty()) continue;
    entries_[static_cast<std::size_t>(buckets_[keys[b]].second++)] = {blocks[b].cells, static_cast<std::int64_t>(b)};
  }
}

void BlockIndex::overlapping(std::int32_t mesh, std::int32_t level, const Box& cells,
                             std::vector<std::int64_t>& found) const {
  found.clear();
  const std::uint64_t number = layer_of(mesh, level);
  const auto layer = layers_.find(number);
  if (cells.empty() || layer == layers_.end()) return;
  const auto look = [&](const Entry& entry) {
    if (!intersection(entry.cells, cells).empty()) found.push_back(entry.position);
  };
  const Index3& size = layer->second.largest;
  Index3 first{}, last{};
  double buckets = 1;
  for (int a = 0; a < 3; ++a) {
    // A block that reaches into `cells` begins less than its extent before them.
    first[a] = floor_divided(cells.lo[a] - size[a] + 1, size[a]);
    last[a] = floor_divided(cells.hi[a] - 1, size[a]);
    buckets *= static_cast<double>(last[a] - first[a] + 1);
  }
  if (buckets > static_cast<double>(buckets_.size())) {
    for (const auto& [key, range] : buckets_) {
      if (key.layer != number) continue;
      for (std::int64_t e = range.first; e < range.second; ++e) look(entries_[static_cast<std::size_t>(e)]);
    }
  } else {
    Index3 b{};
    for (b[2] = first[2]; b[2] <= last[2]; ++b[2]) {
      for (b[1] = first[1]; b[1] <= last[1]; ++b[1]) {
        for (b[0] = first[0]; b[0] <= last[0]; ++b[0]) {
          const auto bucket = buckets_.find({number, b});
          if (bucket == buckets_.end()) continue;
          const auto [begin, end] = bucket->second;
          for (std::int64_t e = begin; e < end; ++e) look(entries_[static_cast<std::size_t>(e)]);
        }
      }
    }
  }
  std::sort(found.begin(), found.end());
}

}  // namespace sidestream
