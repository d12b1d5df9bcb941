// A block of an octree with all its values, stored as in the output `database`: pruned, cut by level, coded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "storage/database/domain.hpp"
#include "storage/database/schema.hpp"
#include "storage/database/stored_trees.hpp"

namespace sidestream::importing {

/// Packing of a variable's values that do not go through the tree codec.
using PackingOf = std::function<const Packing&(std::int32_t variable)>;

/// Cell variables of one block, including flags. Values must stay until the domain is written.
class TreeBlock {
 public:
  TreeBlock(const database::Schema& schema, const PackingOf& packing, const database::Encoding& encoding,
            database::StoredTrees& trees)
      : schema_(schema), packing_(packing), encoding_(encoding), trees_(trees) {}

  /// Sets the contiguous view of a variable on the block.
  void give(std::int32_t variable, const BlockView& view) { views_[variable] = &view; }
  /// Adds the variables to the domain. Returns their sizes there in bytes, by variable.
  [[nodiscard]] std::map<std::int32_t, std::uint64_t> store(database::Domain& domain);
  /// Number of stored cells; valid after `store`.
  [[nodiscard]] Index cells() const noexcept { return cells_; }

 private:
  const database::Schema& schema_;
  const PackingOf& packing_;
  const database::Encoding& encoding_;
  database::StoredTrees& trees_;
  std::map<std::int32_t, const BlockView*> views_;
  Index cells_ = 0;
};

}  // namespace sidestream::importing
