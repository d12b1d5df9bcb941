// Cells of all levels of a tree or of patches, and their neighbours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "cosmology/halos/finder/box_runs.hpp"
#include "sidestream/kit/mesh/lattice.hpp"

namespace sidestream::halos {

/// A cell of a level, with indices counted from the lower end of the mesh. Trivially copyable; sent between servers.
struct AmrCell {
  std::int32_t level = 0;
  Index3 index{};
  bool operator==(const AmrCell& other) const noexcept { return level == other.level && index == other.index; }
  [[nodiscard]] bool before(const AmrCell& other) const noexcept {
    return level != other.level ? level < other.level : index < other.index;
  }
  [[nodiscard]] std::uint64_t hash() const noexcept;
  /// A piece of a halo is one cell.
  [[nodiscard]] static constexpr Index cells() noexcept { return 1; }
};

/// Identifies a cell by its last part when all cells are cut into cells of the finest level. Cells that do not overlap
/// are ordered by the linear indices of these parts. Trivially copyable; sent between servers.
struct AmrId {
  Index3 last{-1, -1, -1};
  std::int32_t level = -1;
  bool operator<(const AmrId& other) const noexcept { return last < other.last; }
};

/// Neighbour relation of cells on all levels. Let F be the finer of two cells (on the same level either cell). The rule
/// of connectivity gives the neighbours of F on its own level. The two cells are neighbours if one of these neighbours
/// is the other cell or lies in it. Equivalently, some of their parts are neighbours if all cells are cut into cells of
/// the finest level. Keeps a reference to the mesh.
class AmrGrid {
 public:
  AmrGrid(const Mesh& mesh, int connectivity);

  [[nodiscard]] int dimensions() const noexcept { return mesh_.dimensions; }
  [[nodiscard]] const Mesh& mesh() const noexcept { return mesh_; }
  /// Counts indices from the mesh's lower end. Throws Error(analysis) if the level does not exist.
  [[nodiscard]] AmrCell cell_of(std::int32_t level, const Index3& index) const;
  [[nodiscard]] TreeCell in_mesh(const AmrCell& cell) const;
  [[nodiscard]] AmrCell parent_of(const AmrCell& cell) const noexcept;
  /// The cell of `level`, which must not be finer, that contains `cell` or equals it.
  [[nodiscard]] AmrCell ancestor_of(AmrCell cell, std::int32_t level) const noexcept {
    while (cell.level > level) cell = parent_of(cell);
    return cell;
  }
  /// Number of possible levels.
  [[nodiscard]] std::size_t levels() const noexcept { return volumes_.size(); }
  /// Number of cells of a level along each axis.
  [[nodiscard]] const Index3& extents(std::int32_t level) const { return extents_[static_cast<std::size_t>(level)]; }
  /// The cell of a level that contains a position. The upper face of the mesh belongs to its last cell; periodic axes
  /// wrap. None for positions outside the mesh or not finite.
  [[nodiscard]] std::optional<AmrCell> cell_at(std::int32_t level, const std::array<double, 3>& x) const noexcept;
  /// Steps to the neighbours of a cell on its own level.
  [[nodiscard]] const std::vector<Index3>& steps() const noexcept { return offsets_; }
  /// The cell of the same level at that distance, wrapped along periodic axes; none beyond the mesh.
  [[nodiscard]] std::optional<AmrCell> beside(const AmrCell& cell, const Index3& step) const noexcept;

  /// Size of cells of a level: lengths in half steps of the finest possible level; volumes in units of `unit_volume`,
  /// without rounding.
  [[nodiscard]] Index length(std::int32_t level, std::size_t axis) const { return 2 * lattice_.steps(level)[axis]; }
  [[nodiscard]] double volume(std::int32_t level) const { return volumes_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] double unit_volume() const noexcept { return unit_volume_; }
  /// Volume of the whole mesh, in units of coordinates.
  [[nodiscard]] double whole_volume() const noexcept;

  /// Middle of a cell along an axis, in half steps from the lower end.
  [[nodiscard]] Index middle(std::int32_t level, std::size_t axis, Index index) const {
    return length(level, axis) * index + length(level, axis) / 2;
  }
  /// Distance from one middle up to another, in half steps; along periodic axes the shortest, from minus half the mesh.
  [[nodiscard]] Index difference(std::size_t axis, Index from, Index to) const noexcept;
  /// Wraps a difference of middles that may not be an integer.
  [[nodiscard]] double wrapped(std::size_t axis, double half_steps) const noexcept;
  /// Length of the mesh, in half steps.
  [[nodiscard]] Index length_of_mesh(std::size_t axis) const noexcept {
    return 2 * lattice_.domain().extent(static_cast<int>(axis));
  }
  /// Converts half steps to a length in coordinates.
  [[nodiscard]] double in_coordinates(std::size_t axis, double half_steps) const noexcept {
    return half_steps * half_step_[axis];
  }
  /// Position that many half steps above the middle of a cell, wrapped into a periodic mesh if `brought_back`.
  [[nodiscard]] double position(std::size_t axis, const AmrCell& cell, double half_steps, bool brought_back) const;

  [[nodiscard]] AmrId id_of(const AmrCell& cell) const;
  [[nodiscard]] AmrCell cell_of(const AmrId& id) const;

 private:
  const Mesh& mesh_;
  sidestream::Lattice lattice_;
  std::vector<Index3> extents_, ratios_, first_;  ///< of each level: number of cells; ratio to the level below; first
                                                  ///< index
  std::vector<Index3> offsets_;
  std::vector<double> volumes_;
  double unit_volume_ = 1;
  std::array<double, 3> half_step_{}, origin_{};
};

/// Index of a list of cells, by open addressing. Keeps a reference to the list.
class CellIndex {
 public:
  explicit CellIndex(const std::vector<AmrCell>& cells);
  /// Position in the list, or -1.
  [[nodiscard]] std::int64_t find(const AmrCell& cell) const noexcept;
  /// Position of the list's cell that equals this one or contains it, or -1.
  [[nodiscard]] std::int64_t find_round(AmrCell cell, const AmrGrid& grid) const noexcept;

 private:
  const std::vector<AmrCell>& cells_;
  std::vector<std::uint32_t> slots_;  ///< position + 1; 0: free
  std::vector<bool> levels_;          ///< true for levels with cells
};

}  // namespace sidestream::halos
