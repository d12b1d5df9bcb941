// A block of an octree with all its values, as the output `database` stores such: pruned, cut by level, coded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "storage/database/domain.hpp"
#include "storage/database/schema.hpp"
#include "storage/database/stored_trees.hpp"

namespace sidestream::importing {

/// Of a variable: how its values are packed where they do not go through the codec of trees.
using PackingOf = std::function<const Packing&(std::int32_t variable)>;

/// Variables in cells of one block, flags among them. Values must stay until the domain is written.
class TreeBlock {
 public:
  TreeBlock(const database::Schema& schema, const PackingOf& packing, const database::Encoding& encoding,
            database::StoredTrees& trees)
      : schema_(schema), packing_(packing), encoding_(encoding), trees_(trees) {}

  /// The view of a variable on the block, gapless.
  void give(std::int32_t variable, const BlockView& view) { views_[variable] = &view; }
  /// Adds what was given to the domain. Returns by variable the bytes that it takes there.
  [[nodiscard]] std::map<std::int32_t, std::uint64_t> store(database::Domain& domain);
  /// Cells that are stored; once `store` has returned.
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
