// The cells of blocks that are boxes, with or without refinement levels:
//
//   for each level, for each block: mark the cells in the box that no block of a lower id has
//     for each finer level: a cell that its blocks cover completely is refined
#include <algorithm>

#include "storage/database/cell_boxes.hpp"
#include "storage/database/cell_finding.hpp"

namespace sidestream::database {

namespace {

constexpr std::uint8_t is_there = 1, is_refined = 2;

/// The cells of a part of a block, i fastest.
class Marks {
 public:
  explicit Marks(const Box& box) : box_(box), marks_(static_cast<std::size_t>(box.count()), is_there) {}

  template <class Visit>
  void for_each(const Box& part, Visit&& visit) {
    const Box inside = intersection(part, box_);
    if (inside.empty()) return;
    for (Index k = inside.lo[2]; k < inside.hi[2]; ++k) {
      for (Index j = inside.lo[1]; j < inside.hi[1]; ++j) {
        for (Index i = inside.lo[0]; i < inside.hi[0]; ++i) visit(Index3{i, j, k}, at({i, j, k}));
      }
    }
  }
  [[nodiscard]] std::size_t at(const Index3& index) const {
    const Index row = (index[2] - box_.lo[2]) * box_.extent(1) + index[1] - box_.lo[1];
    return static_cast<std::size_t>(row * box_.extent(0) + index[0] - box_.lo[0]);
  }
  [[nodiscard]] const Box& box() const noexcept { return box_; }
  [[nodiscard]] std::uint8_t& operator[](std::size_t at) { return marks_[at]; }

 private:
  Box box_;
  std::vector<std::uint8_t> marks_;
};

/// Parts of the blocks of a level, of which none covers another.
std::vector<Box> own_parts(const CellList& list, std::int32_t level, const Box& meeting) {
  std::vector<Box> parts, before;
  for (const PlacedBlock& placed : list.blocks) {
    const Box box = intersection(placed.block.cells, meeting);
    if (placed.block.level != level || box.empty()) continue;
    std::vector<Box> own{box};
    for (const Box& earlier : before) own = difference(own, earlier);
    parts.insert(parts.end(), own.begin(), own.end());
    before.push_back(box);
  }
  return parts;
}

/// Marks the cells that boxes of a finer level cover completely. The boxes do not overlap.
void mark_covered(Marks& marks, const std::vector<Box>& finer, const Index3& ratio) {
  std::vector<Index> covered(static_cast<std::size_t>(marks.box().count()));
  for (const Box& fine : finer) {
    Box coarse = fine;
    for (std::size_t a = 0; a < 3; ++a) {
      coarse.lo[a] = fine.lo[a] / ratio[a] - (fine.lo[a] % ratio[a] < 0 ? 1 : 0);
      coarse.hi[a] = (fine.hi[a] - 1) / ratio[a] - ((fine.hi[a] - 1) % ratio[a] < 0 ? 1 : 0) + 1;
    }
    marks.for_each(coarse, [&](const Index3& index, std::size_t at) {
      Box cell;
      for (std::size_t a = 0; a < 3; ++a) {
        cell.lo[a] = index[a] * ratio[a];
        cell.hi[a] = cell.lo[a] + ratio[a];
      }
      covered[at] += intersection(cell, fine).count();
    });
  }
  const Index whole = ratio[0] * ratio[1] * ratio[2];
  for (std::size_t n = 0; n < covered.size(); ++n) {
    if (covered[n] == whole) marks[n] |= is_refined;
  }
}

void put(const CellRange& range, std::uint32_t number, Marks& marks, CellList& list) {
  const Block& block = list.blocks[number].block;
  const Index row = block.cells.extent(0), plane = row * block.cells.extent(1);
  marks.for_each(marks.box(), [&](const Index3& index, std::size_t at) {
    const bool refined = (marks[at] & is_refined) != 0;
    if ((marks[at] & is_there) == 0 || (range.leaves && refined)) return;
    const Index place =
        index[0] - block.cells.lo[0] + row * (index[1] - block.cells.lo[1]) + plane * (index[2] - block.cells.lo[2]);
    append(list, {block.level, index, refined, block.id, number, place});
  });
}

}  // namespace

void find_patch_cells(const Mesh& mesh, const CellRange& range, CellList& list) {
  const std::int32_t finest = list.blocks.empty() ? -1 : std::min(list.blocks.back().block.level, range.deepest);
  std::vector<Box> before;
  for (std::uint32_t n = 0; n < list.blocks.size(); ++n) {
    const Block& block = list.blocks[n].block;
    if (block.level < range.coarsest || block.level > range.deepest) continue;
    if (n > 0 && list.blocks[n - 1].block.level != block.level) before.clear();
    const Box wanted = intersection(block.cells, on_level(mesh, range.box, range.level, block.level));
    if (wanted.empty()) continue;
    Marks marks(wanted);
    for (const Box& earlier : before) {
      marks.for_each(earlier, [&](const Index3&, std::size_t at) { marks[at] = 0; });
    }
    before.push_back(wanted);
    for (std::int32_t finer = block.level + 1; finer <= finest; ++finer) {
      const std::vector<Box> parts = own_parts(list, finer, on_level(mesh, wanted, block.level, finer));
      mark_covered(marks, parts, ratio_of(mesh, block.level, finer));
    }
    put(range, n, marks, list);
  }
}

}  // namespace sidestream::database
