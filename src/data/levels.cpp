// Blocks on several levels: covered cells, and values of blocks that touch.
//
// covered_cells() begins with a block and one layer around it as the open region. For each finer level it refines the
// open region by the level's ratio and subtracts the level's blocks. What is still open after the finest level lies in
// cells that are not covered completely; these cells are subtracted from the block.
//
// ranges_of_touching_trees() finds pairs of touching bounds by a sweep along x: trees are sorted by their lower bound,
// and each tree is compared with the following ones that begin before its end. Trees without bounds touch all.
#include "data/levels.hpp"

#include <algorithm>
#include <map>

#include "sidestream/kit/data/leaf_contact.hpp"

namespace sidestream {

namespace {

Box finer(const Box& box, const Index3& ratio) {
  Box fine = box;
  for (std::size_t a = 0; a < 3; ++a) {
    fine.lo[a] *= ratio[a];
    fine.hi[a] *= ratio[a];
  }
  return fine;
}

/// The coarser cells that overlap `box`.
Box coarser(const Box& box, const Index3& ratio) {
  Box coarse;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto floor = [&](Index i) { return i / ratio[a] - (i % ratio[a] < 0 ? 1 : 0); };
    coarse.lo[a] = floor(box.lo[a]);
    coarse.hi[a] = floor(box.hi[a] - 1) + 1;
  }
  return coarse;
}

/// The cells of `level` that a block on a finer level overlaps only in part.
std::vector<Box> cut_cells(const Mesh& mesh, const Block& fine, std::int32_t level) {
  Index3 ratio{1, 1, 1};
  for (std::int32_t l = level; l < fine.level; ++l) {
    for (std::size_t a = 0; a < 3; ++a) ratio[a] *= mesh.refinement[static_cast<std::size_t>(l)][a];
  }
  const Box touched = coarser(fine.cells, ratio);
  Box whole = touched;
  const Box back = finer(touched, ratio);
  for (std::size_t a = 0; a < 3; ++a) {
    whole.lo[a] += back.lo[a] < fine.cells.lo[a] ? 1 : 0;
    whole.hi[a] -= back.hi[a] > fine.cells.hi[a] ? 1 : 0;
  }
  return difference({touched}, whole);
}

/// Looks for a cell on a coarser level that a block cuts and that no other blocks complete.
std::optional<CoveredInPart> cut_by(const Mesh& mesh, const Block& fine, std::span<const Block> blocks,
                                    const BlockIndex& index) {
  std::vector<std::int64_t> found;
  for (std::int32_t level = fine.level; level-- > 0;) {
    for (const Box& cut : cut_cells(mesh, fine, level)) {
      index.overlapping(fine.mesh, level, cut, found);
      for (const std::int64_t n : found) {
        const Block& coarse = blocks[static_cast<std::size_t>(n)];
        std::vector<Box> open{intersection(cut, coarse.cells)};
        for (const Box& covered : covered_cells(mesh, coarse, blocks, index)) open = difference(open, covered);
        if (open.empty() || open.front().empty()) continue;
        return CoveredInPart{fine.mesh, open.front().lo, coarse.id, fine.id, level, fine.level};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<CoveredInPart> covered_in_part(const Metadata& metadata, std::span<const Block> blocks,
                                           const BlockIndex& index) {
  std::map<std::int32_t, CoveredInPart> found;
  for (const Block& block : blocks) {
    const Mesh& mesh = metadata.meshes[static_cast<std::size_t>(block.mesh)];
    const bool known = block.level > 0 && static_cast<std::size_t>(block.level) <= mesh.refinement.size();
    if (!known || block.is_list() || block.cells.empty() || found.contains(block.mesh)) continue;
    if (const auto cut = cut_by(mesh, block, blocks, index)) found.emplace(block.mesh, *cut);
  }
  std::vector<CoveredInPart> all;
  for (const auto& [mesh, cut] : found) all.push_back(cut);
  return all;
}

std::vector<Box> covered_cells(const Mesh& mesh, const Block& block, std::span<const Block> blocks,
                               const BlockIndex& index) {
  std::vector<Box> all;
  const auto levels = static_cast<std::int32_t>(mesh.refinement.size());
  if (block.is_list() || block.cells.empty() || block.level >= levels) return all;
  const Box region = grown(block.cells, 1);
  // The part of the box that no finer level covers, in cells of the level that was examined last. Different levels may
  // cover parts of a cell.
  std::vector<Box> open{region};
  std::vector<std::int64_t> found;
  Index3 ratio{1, 1, 1};
  for (std::int32_t level = block.level + 1; level <= levels; ++level) {
    const Index3& step = mesh.refinement[static_cast<std::size_t>(level) - 1];
    for (std::size_t a = 0; a < 3; ++a) ratio[a] *= step[a];
    std::vector<Box> rest;
    for (const Box& box : open) {
      std::vector<Box> left{finer(box, step)};
      index.overlapping(block.mesh, level, left.front(), found);
      for (const std::int64_t n : found) left = difference(left, blocks[static_cast<std::size_t>(n)].cells);
      rest.insert(rest.end(), left.begin(), left.end());
    }
    open = std::move(rest);
  }
  all.push_back(region);
  for (const Box& box : open) all = difference(all, coarser(box, ratio));
  return all;
}

std::vector<bool> wholly_covered(const Metadata& metadata, std::span<const Block> blocks, const BlockIndex& index) {
  std::vector<bool> whole;
  const auto mesh_of = [&](const Block& block) -> const Mesh& {
    return metadata.meshes[static_cast<std::size_t>(block.mesh)];
  };
  const auto refined = [&](const Block& block) { return block.level > 0 && !mesh_of(block).refinement.empty(); };
  if (std::none_of(blocks.begin(), blocks.end(), refined)) return whole;
  whole.assign(blocks.size(), false);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    Index count = 0;
    for (const Box& box : covered_cells(mesh_of(blocks[b]), blocks[b], blocks, index)) {
      count += intersection(box, blocks[b].cells).count();
    }
    whole[b] = count > 0 && count == blocks[b].cells.count();
  }
  return whole;
}

void leave_out_covered(const Selected& selected, const std::vector<bool>& covered, std::vector<bool>& needed) {
  if (selected.covered || !selected.decomposition.is_published()) return;
  for (std::size_t b = 0; b < covered.size(); ++b) needed[b] = needed[b] && !covered[b];
}

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
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (ranges[b] == nullptr || blocks[b].empty()) continue;
    all[b] = ranges[b]->all;
    for (const std::int64_t n : contact.near(b)) {
      const BlockRange* other = ranges[static_cast<std::size_t>(n)];
      if (other == nullptr || within(other->all, all[b])) continue;
      if (contact.between(b, static_cast<std::size_t>(n))) all[b].add(other->all);
    }
  }
  return all;
}

}  // namespace

std::vector<Range> ranges_of_touching_trees(std::span<const Block> blocks,
                                            std::span<const std::optional<Range>> ranges) {
  std::vector<Range> all(blocks.size());
  std::vector<std::size_t> known;
  Range everywhere, unplaced;
  double widest = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!ranges[b] || blocks[b].empty()) continue;
    everywhere.add(*ranges[b]);
    if (blocks[b].bounds.known()) {
      known.push_back(b);
      widest = std::max(widest, blocks[b].bounds.high[0] - blocks[b].bounds.low[0]);
    } else {
      unplaced.add(*ranges[b]);
    }
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!ranges[b] || blocks[b].empty()) continue;
    all[b] = blocks[b].bounds.known() ? *ranges[b] : everywhere;
    all[b].add(unplaced);
  }
  std::sort(known.begin(), known.end(),
            [&](std::size_t a, std::size_t b) { return blocks[a].bounds.low[0] < blocks[b].bounds.low[0]; });
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Bounds& mine = blocks[known[i]].bounds;
    const double end = mine.high[0] + rounding * widest;
    for (std::size_t j = i + 1; j < known.size() && blocks[known[j]].bounds.low[0] <= end; ++j) {
      if (!bounds_touch(mine, blocks[known[j]].bounds)) continue;
      all[known[i]].add(*ranges[known[j]]);
      all[known[j]].add(*ranges[known[i]]);
    }
  }
  return all;
}

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
  if (mesh.kind() != MeshKind::octree) return of_patches(mesh, blocks, ranges);
  std::vector<std::optional<Range>> own(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (ranges[b] != nullptr) own[b] = ranges[b]->all;
  }
  return ranges_of_touching_trees(blocks, own);
}

}  // namespace sidestream
