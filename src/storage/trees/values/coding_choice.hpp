// Which method a chunk is to be coded by.
#pragma once

#include <vector>

#include "storage/trees/values/packer.hpp"
#include "storage/trees/values/predicted.hpp"

namespace sidestream::trees {

struct Candidate {
  TreeMethod method = TreeMethod::raw;
  double share = 1;  ///< of the values' size that it is expected to take
};

struct CodingChoice {
  /// The best by a sample, and those that may turn out better on the whole chunk.
  std::vector<Candidate> candidates{};
  PredictionPlan plan{};  ///< of the predicting ones
  ParentSlopes slopes{};  ///< under it, if they have been looked at
};

/// For values that are not all the same. `coding.method`, if it can be, is the one candidate.
[[nodiscard]] CodingChoice choose_coding(BytesView values, const TreeChunk& chunk, const Relations& relations,
                                         const TreeCoding& coding, Packer& packer);

}  // namespace sidestream::trees
