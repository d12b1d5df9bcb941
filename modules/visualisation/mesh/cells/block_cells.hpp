// Gives the cells of one block, on a mesh of any kind, one by one.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "visualisation/mesh/cells/cell_piece.hpp"

namespace sidestream {

/// The part that a cell plays in the block.
enum class Standing : std::uint8_t {
  absent,     ///< counts in another block or nowhere, or has no position
  neighbour,  ///< belongs to another block and is next to this one: hides faces
  own,
};

/// A cell: its type, and its points by their numbers in the block.
struct BlockCell {
  std::uint8_t type = 0;
  std::vector<std::size_t> points;
  std::vector<std::vector<std::size_t>> faces;  ///< for polyhedra
};

/// The numbers of one component of a variable in a block. Empty if it was not delivered; then all are NaN.
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
  /// Fills `cell`, whose memory is reused.
  virtual void load(std::size_t number, BlockCell& cell) const = 0;
  [[nodiscard]] virtual std::array<double, 3> place(std::size_t point) const = 0;
  [[nodiscard]] virtual PointKey key(std::size_t point) const = 0;
  /// A number that orders the cell among all cells; several may have the same.
  [[nodiscard]] virtual std::int64_t name(std::size_t cell) const = 0;
  [[nodiscard]] virtual BlockNumbers numbers(const Variable& variable, int component) const = 0;
  /// The refinement level of a cell.
  [[nodiscard]] virtual std::int32_t level(std::size_t cell) const {
    static_cast<void>(cell);
    return 0;
  }
  /// True if the points are particles: each is a cell, and none is merged with others.
  [[nodiscard]] virtual bool apart() const { return false; }
};

/// The cells of the block of a view of a variable in cells or at nodes. Null if there are none or some of the arrays
/// with their positions are missing. With `neighbours` a layer of cells around the block is included, which needs a
/// halo of one. Keeps references.
[[nodiscard]] std::unique_ptr<BlockCells> cells_of_block(const LocalInput& input, const Variable& variable,
                                                         const BlockView& view, bool neighbours);

/// The width of the halo that it needs for a variable of the mesh.
[[nodiscard]] int halo_for_cells(const Mesh& mesh, const Variable& variable, bool neighbours) noexcept;

/// Collects cells of a block in a piece, each point once.
class PieceBuilder {
 public:
  /// `fields` are the numbers that are copied along, at points and in cells. Keeps references.
  PieceBuilder(const BlockCells& cells, const std::vector<BlockNumbers>& fields);
  /// Adds a complete cell.
  void add(std::size_t number, const BlockCell& cell);
  /// The number in the piece of a point of the block; adds it if necessary.
  std::int64_t point(std::size_t p);
  /// Adds a computed point: its position, key, and values at points.
  std::int64_t point(const std::array<double, 3>& place, const PointKey& key, std::span<const double> values);
  /// Adds a cell made of points of the piece, the `part`-th part of a cell of the block.
  void add(std::size_t number, std::int64_t part, std::uint8_t type, std::span<const std::int64_t> points);
  [[nodiscard]] CellPiece& piece() noexcept { return piece_; }

 private:
  void end_cell(std::size_t number, std::int64_t part, std::uint8_t type);

  const BlockCells& cells_;
  const std::vector<BlockNumbers>& fields_;
  CellPiece piece_;
  std::vector<std::int64_t> numbers_;  ///< number in the piece of each point of the block, -1: not in it
};

// The cells of one block of a tree: its leaves.

/// The leaves that the block of a view owns, as cells on axes. A corner that cells of several levels share is one
/// point. Points and cells are named by their position in the whole mesh, level after level. Null if the flags of its
/// tree are missing. Keeps references. Throws Error(usage) as tree_cells does.
[[nodiscard]] std::unique_ptr<BlockCells> leaves_of_block(const LocalInput& input, const Mesh& mesh,
                                                          const BlockView& view);

}  // namespace sidestream
