// How variables in cells of a block of an octree are stored: cut by level, flags packed, values through the codec of
// trees or others.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "storage/database/domain.hpp"
#include "storage/database/schema.hpp"
#include "storage/database/stored_trees.hpp"

namespace sidestream::database {

/// Of a variable, by its id in the schema: how its values are packed where they do not go through the codec of trees.
using PackingOf = std::function<const Packing&(std::int32_t variable)>;

/// A variable in the cells of the block at hand, its id that of the schema; nothing where it was not delivered there.
using ViewOf = std::function<std::optional<BlockView>(const Variable& variable)>;

/// Used by one thread; what it is made from must stay.
class TreeStoring {
 public:
  TreeStoring(const Schema& schema, PackingOf packing, const Encoding& encoding, StoredTrees& trees)
      : schema_(schema), packing_(std::move(packing)), encoding_(encoding), trees_(trees) {}

  /// Adds a variable on a block, which has the tree, to the domain. `others`: the variables that its relations may
  /// name. Values stay where they are until the domain is written.
  void add(const Variable& variable, const BlockView& view, StoredTree& tree, const ViewOf& others,
           Domain& domain) const;

 private:
  [[nodiscard]] bool is_of_tree(const Variable& variable) const;
  [[nodiscard]] LevelCuts cuts_of(const Variable& variable, StoredTree& tree) const;
  /// Values that a decoder will have too; null: there are none.
  [[nodiscard]] const BlockView* companion(const Variable& variable, StoredTree& tree, const ViewOf& others) const;
  [[nodiscard]] std::vector<Domain::MadeChunk> encoded(const Variable& variable, const BlockView& own,
                                                       const LevelCuts& cuts, StoredTree& tree,
                                                       const ViewOf& others) const;

  const Schema& schema_;
  PackingOf packing_;
  const Encoding& encoding_;
  StoredTrees& trees_;
};

}  // namespace sidestream::database
