// Chunks of a tree's variables, with the data that the coder needs.
#pragma once

#include <functional>

#include "storage/trees/linked_tree.hpp"
#include "tree_data.hpp"

namespace benchmark {

struct Chunk {
  sidestream::TreeChunk chunk;
  sidestream::BytesView values;
  const TreeVariable* variable;
};

/// Calls `take` for each chunk of at most `cells` cells of each level of each variable, including the roots. The
/// chunk's references are valid during the call.
void each_chunk(const TreeData& tree, std::size_t cells, const std::function<void(const Chunk&)>& take);

}  // namespace benchmark
