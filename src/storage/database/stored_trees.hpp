// The trees of a server's blocks in an iteration, and the values in their cells.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"
#include "storage/trees/linked_tree.hpp"
#include "storage/trees/structure.hpp"

namespace sidestream::database {

/// A block's tree in its stored form.
struct StoredTree {
  LinkedTree tree;
  std::vector<std::uint8_t> owned;  ///< empty: it owns all
  std::vector<CellRun> kept;        ///< runs of the published cells that are kept; empty: all
  Index published = 0;              ///< number of published cells
};

class StoredTrees {
 public:
  /// `prunes`: parts of trees that other blocks own are not stored.
  explicit StoredTrees(bool prunes) : prunes_(prunes) {}

  /// Begins an iteration.
  void clear();
  /// Adds a block of an octree, given all of its flags; `owned` may be null. Flags that do not form a tree are
  /// ignored.
  void add(const Mesh& mesh, const BlockView& refined, const BlockView* owned);
  /// Finds the tree of a block; null if there is none.
  [[nodiscard]] StoredTree* find(std::int32_t mesh, std::int64_t block);
  /// A variable in cells of that tree in its stored form, contiguous. Valid until the next iteration.
  [[nodiscard]] const BlockView& stored(const Variable& variable, const BlockView& view, const StoredTree& tree);

 private:
  using Key = std::pair<std::int32_t, std::int64_t>;
  bool prunes_;
  std::map<Key, StoredTree> trees_;
  std::map<Key, BlockView> views_;  ///< by variable and block
  std::deque<std::vector<std::byte>> values_;
};

}  // namespace sidestream::database
