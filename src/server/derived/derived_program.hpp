// A derivation, ready to be computed line by line.
#pragma once

#include <vector>

#include "data/derivation.hpp"

namespace sidestream {

/// A component of a step.
struct DerivedPart {
  std::size_t step = 0;
  int component = 0;
};

/// What is kept for a whole region, since neighbours of it are taken, or asked for in the end: all components of a
/// step; and what must be computed on a line before, in this order, each once.
struct DerivedTarget {
  std::size_t step = 0;
  std::vector<DerivedPart> order{};
};

/// Steps that several others take are computed once: a chain of n derived variables takes as long as n of them.
struct DerivedProgram {
  DerivedProgram(const Derivation& derivation, const Metadata& metadata);

  std::vector<DerivationStep> steps;
  std::vector<DerivedTarget> targets{};  ///< ascending by step; the last one is the result
};

}  // namespace sidestream
