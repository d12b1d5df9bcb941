#include "data/covered_cells.hpp"

#include <algorithm>

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

/// The cells that have a part in `box`.
Box coarser(const Box& box, const Index3& ratio) {
  Box coarse;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto floor = [&](Index i) { return i / ratio[a] - (i % ratio[a] < 0 ? 1 : 0); };
    coarse.lo[a] = floor(box.lo[a]);
    coarse.hi[a] = floor(box.hi[a] - 1) + 1;
  }
  return coarse;
}

}  // namespace

std::vector<Box> covered_cells(const Mesh& mesh, const Block& block, std::span<const Block> blocks,
                               const BlockIndex& index) {
  std::vector<Box> all;
  const auto levels = static_cast<std::int32_t>(mesh.refinement.size());
  if (block.is_list() || block.cells.empty() || block.level >= levels) return all;
  const Box region = grown(block.cells, 1);
  // What no finer level covers, in cells of the level that was looked at last: parts of a cell may be covered by
  // different levels.
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

}  // namespace sidestream
