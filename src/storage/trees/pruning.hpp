// What other domains have, taken out of a tree: paper 004, section 2.1 (Strafella and Chapon, "Boosting I/O and
// visualization for exascale era using Hercule: test case on RAMSES").
#pragma once

#include <vector>

#include "storage/trees/structure.hpp"

namespace sidestream {

/// Cells that lie one after the other.
struct CellRun {
  Index first = 0, count = 0;
};

/// A tree without the descendants of cells below which no leaf is owned.
struct PrunedTree {
  std::vector<CellRun> kept;          ///< cells of the tree it was, in their order; values of them are those that stay
  std::vector<std::uint8_t> refined;  ///< of each cell that stays: 0 or 1
  std::vector<std::uint8_t> owned;  ///< as it was, but 0 of cells whose descendants are gone: others own what is there
  [[nodiscard]] Index cells() const noexcept { return static_cast<Index>(refined.size()); }
};

/// Refined cells of which no leaf is owned become leaves that are not owned, and their descendants go: from the bottom
/// to the top, so that of such cells the coarsest stays. Leaves that are owned stay all, and with them their parents
/// and these parents' other children: it is a tree as before. The root cells stay. `refined` and `owned` are of one
/// tree, whose levels begin at `starts` (tree_starts); an empty `owned` means that all is, and nothing goes.
[[nodiscard]] PrunedTree pruned(const TreeShape& shape, Flags refined, Flags owned, std::span<const Index> starts);

}  // namespace sidestream
