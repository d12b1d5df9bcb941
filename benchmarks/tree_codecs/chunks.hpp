// A tree's variables chunk by chunk, with what the coder asks for.
#pragma once

#include <functional>

#include "storage/trees/values/tree_links.hpp"
#include "tree_data.hpp"

namespace benchmark {

struct Chunk {
  sidestream::TreeChunk chunk;
  sidestream::BytesView values;
  const TreeVariable* variable;
};

/// Calls `take` for each chunk of at most so many cells of each level of each variable, the roots as well. What the
/// chunk refers to lasts for the call.
void each_chunk(const TreeData& tree, std::size_t cells, const std::function<void(const Chunk&)>& take);

}  // namespace benchmark
