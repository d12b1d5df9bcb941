// The precision of stored variables, by the words of the configuration.
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/variable.hpp"

namespace sidestream {

struct Precision {
  enum class Kind { full, bit_round, round, single, half, quantise, zfp, bounded };
  Kind kind = Kind::full;
  int bits = 0;        ///< bit_round: stored bits of the fraction that are kept; quantise: bytes of a number
  double bound = 0;    ///< round, zfp: the largest error
  std::string text{};  ///< as in the configuration; empty if full

  /// True if the storage of each value depends on the extremes of all values of an iteration.
  [[nodiscard]] bool needs_extremes() const noexcept {
    return kind == Kind::single || kind == Kind::half || kind == Kind::quantise;
  }
};

/// The words of the configuration, with their arguments: `bit-round:BITS`.
[[nodiscard]] std::vector<std::string> precision_words();

/// A sentence for each word, for the reference manual. `words` limits them to these kinds.
[[nodiscard]] std::string precision_manual(const std::vector<Precision::Kind>& kinds);

/// The precision that `text` names, for values of a type. Throws Error(configuration) with a sentence if there is none,
/// or if it would change nothing.
[[nodiscard]] Precision precision_named(const std::string& text, Type type);

}  // namespace sidestream
