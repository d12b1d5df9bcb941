// Chooses the method for a chunk.
#pragma once

#include <vector>

#include "amr_codec/values/packer.hpp"
#include "amr_codec/values/predicted.hpp"

namespace sidestream::trees {

/// Quiet values take 2 % more than at level 15, in an eighth of its time. Of the quietest values, even level 3 leaves
/// little.
constexpr int quiet_zstd_level = 6, quietest_zstd_level = 3;

struct Candidate {
  TreeMethod method = TreeMethod::raw;
  double share = 1;  ///< the expected size, as a share of the size of the values
};

struct CodingChoice {
  /// The method that is best on a sample, and the methods that may be better on the whole chunk.
  std::vector<Candidate> candidates{};
  PredictionPlan plan{};  ///< of the predicting methods
  ParentSlopes slopes{};  ///< slopes under that plan, if they were computed
  int quiet_level = 0;    ///< not 0: no prediction saves more than zstd at this level, which is fast
};

/// Chooses for values that are not all equal. If `coding.method` is possible, it is the only candidate. `thorough`:
/// treats no values as quiet.
[[nodiscard]] CodingChoice choose_coding(BytesView values, const TreeChunk& chunk, const Relations& relations,
                                         const TreeCoding& coding, Packer& packer, bool thorough = false);
/// True if quiet values take much more than their sample, so that it missed something.
[[nodiscard]] bool surprises(const CodingChoice& choice, double share) noexcept;

}  // namespace sidestream::trees
