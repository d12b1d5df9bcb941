// Chooses the method for a chunk.
#pragma once

#include <vector>

#include "amr_codec/values/packer.hpp"
#include "amr_codec/values/predicted.hpp"

namespace sidestream::trees {

struct Candidate {
  TreeMethod method = TreeMethod::raw;
  double share = 1;  ///< the expected size, as a share of the size of the values
};

struct CodingChoice {
  /// The method that is best on a sample, and the methods that may be better on the whole chunk.
  std::vector<Candidate> candidates{};
  PredictionPlan plan{};  ///< of the predicting methods
  ParentSlopes slopes{};  ///< slopes under that plan, if they were computed
  bool quiet = false;  ///< zstd saves most, and a prediction would not save much more: the values are to be coded fast
};

/// Chooses for values that are not all equal. If `coding.method` is possible, it is the only candidate.
[[nodiscard]] CodingChoice choose_coding(BytesView values, const TreeChunk& chunk, const Relations& relations,
                                         const TreeCoding& coding, Packer& packer);

}  // namespace sidestream::trees
