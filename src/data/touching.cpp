#include "data/touching.hpp"

#include <algorithm>

#include "data/leaf_contact.hpp"
#include "sidestream/kit/data/block_index.hpp"

namespace sidestream {
namespace {

constexpr double rounding = 1e-9;  ///< relative error of bounds, which simulations compute

bool bounds_touch(const Bounds& a, const Bounds& b) {
  for (std::size_t d = 0; d < 3; ++d) {
    const double width = rounding * std::max(a.high[d] - a.low[d], b.high[d] - b.low[d]);
    if (a.low[d] > b.high[d] + width || b.low[d] > a.high[d] + width) return false;
  }
  return true;
}

/// True if a range adds nothing to another.
bool within(const Range& range, const Range& of) {
  return range.empty() || (!of.empty() && range.minimum >= of.minimum && range.maximum <= of.maximum);
}

std::vector<Range> of_patches(const Mesh& mesh, std::span<const Block> blocks,
                              std::span<const BlockRange* const> ranges) {
  std::vector<Range> all(blocks.size());
  const BlockIndex index(blocks);
  LeafContact contact(mesh, blocks, index);
  const auto finest = static_cast<std::int32_t>(mesh.refinement.size());
  std::vector<std::int64_t> near;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (ranges[b] == nullptr || blocks[b].empty()) continue;
    all[b] = ranges[b]->all;
    for (std::int32_t level = 0; level <= finest && blocks[b].level <= finest; ++level) {
      index.overlapping(mesh.id, level, reach_on(mesh, blocks[b], level), near);
      for (const std::int64_t n : near) {
        const BlockRange* other = ranges[static_cast<std::size_t>(n)];
        if (other == nullptr || within(other->all, all[b])) continue;
        if (contact.between(b, static_cast<std::size_t>(n))) all[b].add(other->all);
      }
    }
  }
  return all;
}

std::vector<Range> of_trees(std::span<const Block> blocks, std::span<const BlockRange* const> ranges) {
  std::vector<Range> all(blocks.size());
  std::vector<std::size_t> known;
  Range everywhere, unplaced;
  double widest = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (ranges[b] == nullptr || blocks[b].empty()) continue;
    everywhere.add(ranges[b]->all);
    if (blocks[b].bounds.known()) {
      known.push_back(b);
      widest = std::max(widest, blocks[b].bounds.high[0] - blocks[b].bounds.low[0]);
    } else {
      unplaced.add(ranges[b]->all);
    }
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (ranges[b] == nullptr || blocks[b].empty()) continue;
    all[b] = blocks[b].bounds.known() ? ranges[b]->all : everywhere;
    all[b].add(unplaced);
  }
  std::sort(known.begin(), known.end(),
            [&](std::size_t a, std::size_t b) { return blocks[a].bounds.low[0] < blocks[b].bounds.low[0]; });
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Bounds& mine = blocks[known[i]].bounds;
    const double end = mine.high[0] + rounding * widest;
    for (std::size_t j = i + 1; j < known.size() && blocks[known[j]].bounds.low[0] <= end; ++j) {
      if (!bounds_touch(mine, blocks[known[j]].bounds)) continue;
      all[known[i]].add(ranges[known[j]]->all);
      all[known[j]].add(ranges[known[i]]->all);
    }
  }
  return all;
}

}  // namespace

bool may_touch(const Mesh& mesh, const Block& a, const Block& b) {
  if (mesh.kind() != MeshKind::octree) return boxes_touch(mesh, a.cells, a.level, b.cells, b.level);
  return !a.bounds.known() || !b.bounds.known() || bounds_touch(a.bounds, b.bounds);
}

Box reach_on(const Mesh& mesh, const Block& block, std::int32_t level) {
  const Index3 from = mesh.ratio_to(block.level), to = mesh.ratio_to(level);
  const auto floor = [](Index a, Index b) { return a / b - (a % b < 0 ? 1 : 0); };
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = floor(block.cells.lo[a] * to[a], from[a]);
    box.hi[a] = -floor(-block.cells.hi[a] * to[a], from[a]);
  }
  return grown(box, 1);
}

std::vector<Range> ranges_with_touching(const Mesh& mesh, std::span<const Block> blocks,
                                        std::span<const BlockRange* const> ranges) {
  return mesh.kind() == MeshKind::octree ? of_trees(blocks, ranges) : of_patches(mesh, blocks, ranges);
}

}  // namespace sidestream
