// Removes cells from a tree that other domains own (Strafella and Chapon, "Boosting I/O and visualization for exascale
// era using Hercule: test case on RAMSES", section 2.1).
#pragma once

#include <vector>

#include "storage/trees/structure.hpp"

namespace sidestream {

/// Consecutive cells.
struct CellRun {
  Index first = 0, count = 0;
};

/// A tree without the descendants of cells below which no leaf is owned.
struct PrunedTree {
  std::vector<CellRun> kept;          ///< runs of cells of the original tree, ascending: their values stay
  std::vector<std::uint8_t> refined;  ///< 0 or 1 for each cell that stays
  std::vector<std::uint8_t> owned;    ///< as before, but 0 for cells whose descendants are gone: others own them
  [[nodiscard]] Index cells() const noexcept { return static_cast<Index>(refined.size()); }
};

/// Removes the descendants of each refined cell that contains no owned leaf; the cell becomes a leaf that is not owned.
/// Where such cells are nested, the coarsest one becomes the leaf. Owned leaves stay, and so do their ancestors and the
/// children of those ancestors, so that the result is a tree. Root cells stay. `starts`: where the levels begin
/// (tree_starts). An empty `owned` means that every leaf is owned: then nothing is removed.
[[nodiscard]] PrunedTree pruned(const TreeShape& shape, Flags refined, Flags owned, std::span<const Index> starts);

}  // namespace sidestream
