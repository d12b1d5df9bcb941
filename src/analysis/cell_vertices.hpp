// The vertices of a surface in a list of cells: which there are, where, and what is at them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/contour_cells.hpp"

namespace sidestream {

/// Numbers that pairs of points have: a hash table without deletions.
class PairTable {
 public:
  /// Has room for about so many pairs without growing.
  explicit PairTable(std::size_t expected) : slots_(std::bit_ceil(std::max<std::size_t>(1024, 2 * expected))) {}
  /// The number of the pair, or `fresh`, which it has from now on.
  std::int64_t find_or_add(std::uint64_t pair, std::int64_t fresh) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slot_of(pair);
    if (slot.number < 0) {
      slot = {pair, fresh};
      ++used_;
    }
    return slot.number;
  }

 private:
  struct Slot {
    std::uint64_t pair = 0;
    std::int64_t number = -1;
  };
  Slot& slot_of(std::uint64_t pair) {
    std::uint64_t hash = pair * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    std::size_t n = (hash * 0xbf58476d1ce4e5b9u >> 20) & (slots_.size() - 1);
    while (slots_[n].number >= 0 && slots_[n].pair != pair) n = (n + 1) & (slots_.size() - 1);
    return slots_[n];
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number >= 0) slot_of(slot.pair) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

/// Makes the vertices of one piece.
class CellVertices {
 public:
  /// Keeps references.
  CellVertices(const CellContour& request, Piece& piece);
  /// What follows lies in this cell.
  void enter(std::size_t cell);
  /// The vertex at the value between two points, or at a point.
  std::int64_t between(std::size_t p, std::size_t q, double value);
  std::int64_t at(std::size_t point) { return vertex(point, point, 0); }
  /// Adds a triangle or a line of the cell.
  template <class Cell>
  void add(Cell corners, std::vector<Cell>& to) {
    to.push_back(corners);
    piece_.cells.push_back(cell_key(corners));
  }
  /// Gives the vertices their fields.
  void finish();
  [[nodiscard]] Piece& piece() noexcept { return piece_; }

 private:
  struct Vertex {
    std::size_t a, b;  ///< points, the one of the lower name first
    double t;
    std::size_t cell;
  };
  std::int64_t vertex(std::size_t a, std::size_t b, double t);
  template <class Cell>
  [[nodiscard]] std::int64_t cell_key(const Cell& corners) const {
    if (name_) return *name_;
    std::int64_t least = piece_.keys[static_cast<std::size_t>(corners[0])];
    for (const std::int64_t v : corners) least = std::min(least, piece_.keys[static_cast<std::size_t>(v)]);
    return least;
  }

  const CellContour& request_;
  Piece& piece_;
  const bool apart_;  ///< every cell has vertices of its own
  std::size_t cell_ = 0;
  std::optional<std::int64_t> name_;
  std::size_t first_ = 0;  ///< vertex of the cell, if they are apart
  PairTable known_;
  std::vector<Vertex> vertices_;
};

}  // namespace sidestream
