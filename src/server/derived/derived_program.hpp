// A derivation that is prepared for evaluation line by line.
#pragma once

#include <vector>

#include "data/derivation.hpp"

namespace sidestream {

/// One component of a step.
struct DerivedPart {
  std::size_t step = 0;
  int component = 0;
};

/// A step that is kept, with all components, for a whole region, because its neighbours are needed or it is the result.
/// `order` lists what must be computed first on a line, each entry once.
struct DerivedTarget {
  std::size_t step = 0;
  std::vector<DerivedPart> order{};
};

/// Steps that several others use are computed once: a chain of n derived variables takes n times as long as one.
struct DerivedProgram {
  DerivedProgram(const Derivation& derivation, const Metadata& metadata);

  std::vector<DerivationStep> steps;
  std::vector<DerivedTarget> targets{};  ///< ascending by step; the last one is the result
};

}  // namespace sidestream
