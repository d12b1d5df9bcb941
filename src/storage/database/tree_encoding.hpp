// Encodes pieces of trees with the codec for trees.
#pragma once

#include <functional>
#include <vector>

#include "storage/database/chunk_batch.hpp"
#include "storage/database/domain.hpp"
#include "storage/database/stored_trees.hpp"
#include "storage/trees/chunk_coding.hpp"

namespace sidestream::database {

/// The stored values of a variable on the block, without gaps; null where there are none that a decoder will have, too.
using FindView = std::function<const BlockView*(const Variable& variable)>;

/// The flags of a role, refined or owned, in one chunk: packed, or as they are where they cannot be.
[[nodiscard]] std::vector<Domain::MadeChunk> packed_flags(const StoredTree& tree, Role role, BytesView flags);

/// The values of a variable in cells of a tree, chunk by chunk, several at a time. `find` by name: which variables its
/// relations may name.
[[nodiscard]] std::vector<Domain::MadeChunk> encoded_levels(LinkedTree& tree, const LevelCuts& cuts,
                                                            const Variable& variable,
                                                            const VariableRelations& relations,
                                                            const FindCompanion& find, const FindView& view,
                                                            const Encoding& encoding);

}  // namespace sidestream::database
