#include "data/covered_cells.hpp"

#include <algorithm>

namespace sidestream {

namespace {

/// The cells of `boxes` that are not covered whole by blocks of `level`, where `ratio` cells lie along one.
std::vector<Box> uncovered(const std::vector<Box>& boxes, const Index3& ratio, std::int32_t mesh, std::int32_t level,
                           std::span<const Block> blocks, const BlockIndex& index) {
  std::vector<Box> result;
  std::vector<std::int64_t> finer;
  for (const Box& box : boxes) {
    Box fine = box;
    for (std::size_t a = 0; a < 3; ++a) {
      fine.lo[a] *= ratio[a];
      fine.hi[a] *= ratio[a];
    }
    index.overlapping(mesh, level, fine, finer);
    std::vector<Box> rest{fine};
    for (const std::int64_t n : finer) rest = difference(rest, blocks[static_cast<std::size_t>(n)].cells);
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

}  // namespace

std::vector<Box> covered_cells(const Mesh& mesh, const Block& block, std::span<const Block> blocks,
                               const BlockIndex& index) {
  std::vector<Box> all;
  const auto levels = static_cast<std::int32_t>(mesh.refinement.size());
  if (block.is_list() || block.cells.empty() || block.level >= levels) return all;
  const Box region = grown(block.cells, 1);
  std::vector<Box> open{region};  // what no finer level covers
  Index3 ratio{1, 1, 1};
  for (std::int32_t level = block.level + 1; level <= levels; ++level) {
    for (std::size_t a = 0; a < 3; ++a) ratio[a] *= mesh.refinement[static_cast<std::size_t>(level) - 1][a];
    open = uncovered(open, ratio, block.mesh, level, blocks, index);
  }
  all.push_back(region);
  for (const Box& box : open) all = difference(all, box);
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
