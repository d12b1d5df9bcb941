// The cells of one block of a mesh of any kind, each by itself.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "mesh/cells/cell_piece.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream {

/// Whether a cell is to be looked at.
enum class Standing : std::uint8_t {
  absent,     ///< it counts in another block or nowhere, or has no place
  neighbour,  ///< it is another block's, and borders on this one's: it hides faces
  own,
};

/// A cell: its type, and its points as numbers of the block's.
struct BlockCell {
  std::uint8_t type = 0;
  std::vector<std::size_t> points;
  std::vector<std::vector<std::size_t>> faces;  ///< of polyhedra
};

/// The numbers of one component of a variable in a block; nothing: it was not delivered, NaN everywhere.
struct BlockNumbers {
  bool at_points = false;
  std::vector<double> values;
  [[nodiscard]] double at(std::size_t n) const noexcept {
    return n < values.size() ? values[n] : std::numeric_limits<double>::quiet_NaN();
  }
};

class BlockCells {
 public:
  virtual ~BlockCells() = default;
  [[nodiscard]] virtual std::size_t cells() const = 0;
  [[nodiscard]] virtual std::size_t points() const = 0;
  [[nodiscard]] virtual Standing standing(std::size_t cell) const = 0;
  /// Fills `cell`, whose memory is used again.
  virtual void look(std::size_t number, BlockCell& cell) const = 0;
  [[nodiscard]] virtual std::array<double, 3> place(std::size_t point) const = 0;
  [[nodiscard]] virtual PointKey key(std::size_t point) const = 0;
  /// By what it is in order among all cells; cells may have the same name.
  [[nodiscard]] virtual std::int64_t name(std::size_t cell) const = 0;
  [[nodiscard]] virtual BlockNumbers numbers(const Variable& variable, int component) const = 0;
  /// The refinement level of a cell.
  [[nodiscard]] virtual std::int32_t level(std::size_t cell) const {
    static_cast<void>(cell);
    return 0;
  }
  /// Whether the points are particles: each is a cell, and is not joined to others.
  [[nodiscard]] virtual bool apart() const { return false; }
};

/// The cells of the block of a view of a variable in cells or at nodes; null if it has none or not all that
/// says where they are is here. `neighbours`: with a layer of cells around, which needs a halo of one. Keeps
/// references.
[[nodiscard]] std::unique_ptr<BlockCells> cells_of_block(const LocalInput& input, const Variable& variable,
                                                         const BlockView& view, bool neighbours);

/// The halo that it needs of a variable of the mesh.
[[nodiscard]] int halo_for_cells(const Mesh& mesh, const Variable& variable, bool neighbours) noexcept;

/// Adds cells of a block to a piece, points once each.
class PieceBuilder {
 public:
  /// `fields`: the numbers that come along, at points and in cells. Keeps references.
  PieceBuilder(const BlockCells& cells, const std::vector<BlockNumbers>& fields);
  /// Adds a cell whole.
  void add(std::size_t number, const BlockCell& cell);
  /// A point of the block in the piece.
  std::int64_t point(std::size_t p);
  /// A point that was made: its place, key, and values at points.
  std::int64_t point(const std::array<double, 3>& place, const PointKey& key, std::span<const double> values);
  /// Adds a cell of points of the piece, the `part`-th one of what is made of a cell of the block.
  void add(std::size_t number, std::int64_t part, std::uint8_t type, std::span<const std::int64_t> points);
  [[nodiscard]] CellPiece& piece() noexcept { return piece_; }

 private:
  void end_cell(std::size_t number, std::int64_t part, std::uint8_t type);

  const BlockCells& cells_;
  const std::vector<BlockNumbers>& fields_;
  CellPiece piece_;
  std::vector<std::int64_t> numbers_;  ///< of the block's points in the piece, -1: not in it
};

}  // namespace sidestream
