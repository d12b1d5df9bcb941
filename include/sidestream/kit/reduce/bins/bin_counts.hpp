// Counting of values in intervals, and densities computed from the counts.
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/reduce/bins/bin_guess.hpp"
#include "sidestream/kit/reduce/bins/bins.hpp"
#include "sidestream/kit/reduce/words.hpp"

namespace sidestream {

/// The divisor of an interval's content.
enum class Normalisation {
  counts,   ///< nothing
  density,  ///< the content of all intervals times the interval's width, so that the integral is 1
  gimlet,   ///< the sum over all intervals of content times width; the same as `density` if widths are equal
};

[[nodiscard]] Option normalisation_option();
[[nodiscard]] Normalisation read_normalisation(const Settings& settings);
/// An option with the choices `linear` and `logarithmic`.
[[nodiscard]] Option bin_scale_option(const std::string& name);
/// The variable that `option` names. It must have one component and lie in the same points as `variable`. Throws
/// Error(configuration).
[[nodiscard]] const Variable& read_companion(const Settings& settings, const std::string& option,
                                             const Variable& variable, const Metadata& metadata);

/// The content of each interval, normalised; NaN where all intervals are empty.
[[nodiscard]] std::vector<double> densities(const std::vector<double>& edges, const std::vector<double>& amounts,
                                            Normalisation how);

/// Counts, and sums of weights, by slot of Bins.
class BinCounts {
 public:
  /// `wide` is the function for counting without weights in few intervals. If null, no wide instructions are used.
  BinCounts(const Bins& bins, bool weighted, WideCounts wide = wide_counts());
  /// Counts each counting point of a block once.
  void add(const BlockView& values, int component);
  void add(const BlockView& values, int component, const BlockView& weights, int weight_component);
  /// Counts of all slots, followed by the sums of each interval, if there are weights.
  [[nodiscard]] Words words();

 private:
  void add(const double* values, Index count);
  void add_wide(const double* values, Index count);
  void add_some(const double* values, Index count);
  void take_none(Index count);
  void collect();

  const Bins& bins_;
  BinGuess guess_;
  Words counts_;                      ///< by slot
  std::size_t places_ = 0, row_ = 0;  ///< number of places of a guess; distance between rows
  std::vector<std::uint32_t> rows_;   ///< counts by place that are not collected yet, in several rows used in turn
  WideCounts wide_ = nullptr;         ///< null: by BinGuess
  Index recent_ = 0;                  ///< number of values in these counts
  std::vector<ExactSum> sums_;
};

/// The sums that follow the counts in BinCounts::words, or in the total of several of them.
[[nodiscard]] std::vector<double> weights_of(std::span<const std::int64_t> forms);

}  // namespace sidestream
