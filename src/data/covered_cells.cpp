#include "data/covered_cells.hpp"

#include <algorithm>
#include <map>
#include <optional>

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
  // The part that no finer level covers, in cells of the level that was examined last. Different levels may cover parts
  // of a cell.
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
