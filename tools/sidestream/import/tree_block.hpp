// A block of an octree with all its values, as the output `database` stores such: pruned, cut by level, coded.
#pragma once

#include <cstdint>
#include <map>

#include "storage/database/tree_storing.hpp"

namespace sidestream::importing {

/// Variables in cells of one block, flags among them. Values must stay until the domain is written.
class TreeBlock {
 public:
  TreeBlock(const database::Schema& schema, const database::PackingOf& packing, const database::Encoding& encoding,
            database::StoredTrees& trees)
      : schema_(schema), trees_(trees), storing_(schema, packing, encoding, trees) {}

  /// The view of a variable on the block, gapless.
  void give(std::int32_t variable, const BlockView& view) { views_[variable] = &view; }
  /// Adds what was given to the domain. Returns by variable the bytes that it takes there.
  [[nodiscard]] std::map<std::int32_t, std::uint64_t> store(database::Domain& domain);
  /// Cells that are stored; once `store` has returned.
  [[nodiscard]] Index cells() const noexcept { return cells_; }

 private:
  const database::Schema& schema_;
  database::StoredTrees& trees_;
  database::TreeStoring storing_;
  std::map<std::int32_t, const BlockView*> views_;
  Index cells_ = 0;
};

}  // namespace sidestream::importing
