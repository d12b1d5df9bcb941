// The cells of all levels of a tree or of patches, and which of them are neighbours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/halos/finder/lattice.hpp"
#include "mesh/amr/lattice.hpp"

namespace sidestream::halos {

/// A cell of a level. Its indices are counted from the lower end of the mesh. Travels.
struct LevelCell {
  std::int32_t level = 0;
  Index3 index{};
  bool operator==(const LevelCell& other) const noexcept { return level == other.level && index == other.index; }
  [[nodiscard]] bool before(const LevelCell& other) const noexcept {
    return level != other.level ? level < other.level : index < other.index;
  }
  [[nodiscard]] std::uint64_t hash() const noexcept;
};

/// Cells are neighbours if, of the finer one (or of either, of the same level), a neighbour on its own level by the
/// rule of connectivity is the other one, or a part of it: just those some of whose parts are neighbours when all cells
/// are cut into cells of the finest level. Keeps a reference to the mesh.
class AmrGrid {
 public:
  AmrGrid(const Mesh& mesh, int connectivity);

  [[nodiscard]] int dimensions() const noexcept { return mesh_.dimensions; }
  [[nodiscard]] const Mesh& mesh() const noexcept { return mesh_; }
  /// From the mesh's lower end. Throws Error(analysis) if there are not so many levels.
  [[nodiscard]] LevelCell cell_of(std::int32_t level, const Index3& index) const;
  [[nodiscard]] TreeCell in_mesh(const LevelCell& cell) const;
  [[nodiscard]] LevelCell parent_of(const LevelCell& cell) const noexcept;
  /// The cell of a level that is not finer and has it in it, or is it.
  [[nodiscard]] LevelCell ancestor_of(LevelCell cell, std::int32_t level) const noexcept {
    while (cell.level > level) cell = parent_of(cell);
    return cell;
  }
  /// How many levels there may be.
  [[nodiscard]] std::size_t levels() const noexcept { return volumes_.size(); }
  /// How many cells a level has along each axis.
  [[nodiscard]] const Index3& extents(std::int32_t level) const { return extents_[static_cast<std::size_t>(level)]; }
  /// The cell of a level in which a position lies: the upper face of the mesh belongs to its last cell, periodic axes
  /// go on. None outside of the mesh, and at no place.
  [[nodiscard]] std::optional<LevelCell> cell_at(std::int32_t level, const std::array<double, 3>& x) const noexcept;
  /// Steps to the neighbours of a cell on its own level.
  [[nodiscard]] const std::vector<Index3>& steps() const noexcept { return offsets_; }
  /// The cell of the same level that lies so far from it, round the ends of periodic axes; none beyond the mesh.
  [[nodiscard]] std::optional<LevelCell> beside(const LevelCell& cell, const Index3& step) const noexcept;

  /// How long and how large cells of a level are: lengths in half steps of the finest level that there may be; volumes
  /// in units of `unit_volume`, without rounding.
  [[nodiscard]] Index length(std::int32_t level, std::size_t axis) const { return 2 * lattice_.steps(level)[axis]; }
  [[nodiscard]] double volume(std::int32_t level) const { return volumes_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] double unit_volume() const noexcept { return unit_volume_; }
  /// Of the whole mesh, in units of coordinates.
  [[nodiscard]] double whole_volume() const noexcept;

  /// Where the middle of a cell is along an axis, in half steps from the lower end.
  [[nodiscard]] Index middle(std::int32_t level, std::size_t axis, Index index) const {
    return length(level, axis) * index + length(level, axis) / 2;
  }
  /// How far a middle lies above another one, the short way round along periodic axes: from half the mesh below.
  [[nodiscard]] Index difference(std::size_t axis, Index from, Index to) const noexcept;
  /// The same for a difference of middles that is no whole number.
  [[nodiscard]] double wrapped(std::size_t axis, double half_steps) const noexcept;
  /// How long the mesh is, in half steps.
  [[nodiscard]] Index length_of_mesh(std::size_t axis) const noexcept {
    return 2 * lattice_.domain().extent(static_cast<int>(axis));
  }
  /// Half steps as a length in coordinates.
  [[nodiscard]] double in_coordinates(std::size_t axis, double half_steps) const noexcept {
    return half_steps * half_step_[axis];
  }
  /// The position of what is so many half steps above the middle of a cell, brought back into a periodic mesh.
  [[nodiscard]] double position(std::size_t axis, const LevelCell& cell, double half_steps, bool brought_back) const;

  /// Of cells that do not overlap: the order of their last parts when all are cut into cells of the finest level, by
  /// linear index. Ties are broken by it, and tables sorted.
  [[nodiscard]] Index3 rank(const LevelCell& cell) const;

 private:
  const Mesh& mesh_;
  sidestream::Lattice lattice_;
  std::vector<Index3> extents_, ratios_, first_;  ///< of each level; cells of the next one along one
  std::vector<Index3> offsets_;
  std::vector<double> volumes_;
  double unit_volume_ = 1;
  std::array<double, 3> half_step_{}, origin_{};
};

/// Of records that have one each.
template <class Record>
[[nodiscard]] std::vector<LevelCell> cells_of(const std::vector<Record>& records) {
  std::vector<LevelCell> cells;
  for (const Record& one : records) cells.push_back(one.cell);
  return cells;
}

/// Finds cells of a list by what they are. Open addressing; keeps a reference to the list.
class CellIndex {
 public:
  explicit CellIndex(const std::vector<LevelCell>& cells);
  /// Its place in the list, or -1.
  [[nodiscard]] std::int64_t find(const LevelCell& cell) const noexcept;
  /// The place in the list of the cell that is this one or has it in it, or -1.
  [[nodiscard]] std::int64_t find_round(LevelCell cell, const AmrGrid& levels) const noexcept;

 private:
  const std::vector<LevelCell>& cells_;
  std::vector<std::uint32_t> slots_;  ///< place + 1; 0: free
  std::vector<bool> levels_;          ///< which levels have any
};

}  // namespace sidestream::halos
