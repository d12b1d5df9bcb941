// Storing of variables in cells of trees: prunes them, cuts them by level, and encodes them with the codec for trees.
#pragma once

#include <functional>
#include <vector>

#include "storage/database/domain.hpp"
#include "storage/database/schema.hpp"
#include "storage/database/stored_trees.hpp"
#include "storage/trees/chunk_coding.hpp"

namespace sidestream::database {

/// Returns the stored values of a variable on the block, contiguous; null if a decoder will not have them.
using FindView = std::function<const BlockView*(const Variable& variable)>;

/// The flags of a role, refined or owned, in one chunk: packed, or unchanged if they cannot be packed.
[[nodiscard]] std::vector<Domain::MadeChunk> packed_flags(const StoredTree& tree, Role role, BytesView flags);

/// Encodes the values of a variable in cells of a tree, chunk by chunk, with several threads. `find`: variables that
/// its relations may name.
[[nodiscard]] std::vector<Domain::MadeChunk> encoded_levels(LinkedTree& tree, const LevelCuts& cuts,
                                                            const Variable& variable,
                                                            const VariableRelations& relations,
                                                            const FindCompanion& find, const FindView& view,
                                                            const Encoding& encoding);

/// The other values on the block.
struct TreeValues {
  /// Returns another variable in all published cells of the tree; null if the block lacks it.
  std::function<const BlockView*(const Variable& variable)> published;
  /// The packing of a variable's values without the codec of trees.
  std::function<const Packing&(std::int32_t variable)> packing;
};

/// Stores the variables of one tree. Keeps references to its arguments.
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
