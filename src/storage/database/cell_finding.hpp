// Finds the cells of trees and of patches; the parts of list_cells().
#pragma once

#include <cstdint>
#include <vector>

#include "storage/database/cell_list.hpp"

namespace sidestream::database {

/// A checked choice.
struct CellRange {
  Box box;  ///< of cells of `level`
  std::int32_t level = 0, coarsest = 0, deepest = 0;
  bool leaves = true;
};

/// An entry of a list.
struct ListedCell {
  std::int32_t level;
  Index3 index;
  bool refined;
  std::int64_t owner;
  std::uint32_t block;
  Index place;
};
void append(CellList& list, const ListedCell& cell);

/// The cells of an octree.
class TreeCells {
 public:
  TreeCells(const StoredValues& values, const Mesh& mesh, const CellRange& range)
      : values_(values), mesh_(mesh), range_(range) {}
  /// Appends them to a list that has its blocks.
  void find(CellList& list);

 private:
  struct Found {
    Index3 index;
    std::uint32_t block;
    Index place;
    bool refined, owned;
  };
  void add(std::uint32_t number, const PlacedBlock& placed);
  [[nodiscard]] std::vector<std::uint8_t> owned_flags(const PlacedBlock& placed, Index cells) const;
  void put(std::int32_t level, std::vector<Found>& cells, CellList& list) const;

  const StoredValues& values_;
  const Mesh& mesh_;
  CellRange range_;
  std::vector<std::vector<Found>> found_;  ///< by level
};

/// Appends the cells of blocks that are boxes to a list that has its blocks.
void find_patch_cells(const Mesh& mesh, const CellRange& range, CellList& list);

}  // namespace sidestream::database
