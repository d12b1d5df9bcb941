// Stores variables in cells of trees: prunes them, cuts them by level, and encodes them.
#pragma once

#include <functional>

#include "storage/database/domain.hpp"
#include "storage/database/schema.hpp"
#include "storage/database/stored_trees.hpp"

namespace sidestream::database {

/// The other values on the block.
struct TreeValues {
  /// Another variable in cells of the tree as it was published, on all of them; null: the block has none.
  std::function<const BlockView*(const Variable& variable)> published;
  /// The packing of a variable's values without the codec of trees.
  std::function<const Packing&(std::int32_t variable)> packing;
};

/// Refers to all of what it is given.
class TreeStoring {
 public:
  TreeStoring(const Schema& schema, const TreeValues& values, const Encoding& encoding, StoredTrees& trees)
      : schema_(schema), values_(values), encoding_(encoding), trees_(trees) {}

  /// Adds a variable that was published on the tree's block. Its values must stay until the domain is written.
  void add(const Variable& variable, const BlockView& view, StoredTree& tree, Domain& domain);

 private:
  [[nodiscard]] bool is_of_tree(const Variable& variable) const;
  [[nodiscard]] const BlockView* companion(const Variable& variable, StoredTree& tree);
  void add_flags(const Variable& variable, const BlockView& own, const StoredTree& tree, Domain& domain);
  void add_coded(const Variable& variable, const BlockView& own, const LevelCuts& cuts, StoredTree& tree,
                 Domain& domain);

  const Schema& schema_;
  const TreeValues& values_;
  const Encoding& encoding_;
  StoredTrees& trees_;
};

}  // namespace sidestream::database
