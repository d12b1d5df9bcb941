// Counting values in intervals, and what densities are made of the counts.
#pragma once

#include <string>
#include <vector>

#include "reduce/bins/bin_guess.hpp"
#include "reduce/bins/bins.hpp"
#include "reduce/bins/wide_counts.hpp"
#include "reduce/words.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/exact_sum.hpp"

namespace sidestream {

/// What an interval is divided by.
enum class Normalisation {
  counts,   ///< nothing
  density,  ///< what is in all intervals times its width: the integral over them is 1
  gimlet,   ///< the sum over all intervals of what is in them times their width, which is that where widths are equal
};

[[nodiscard]] Option normalisation_option();
[[nodiscard]] Normalisation read_normalisation(const Settings& settings);
/// A choice `linear` or `logarithmic`.
[[nodiscard]] Option bin_scale_option(const std::string& name);
/// The variable that `option` names: of one component, in the same points as `variable`. Throws Error(configuration).
[[nodiscard]] const Variable& read_companion(const Settings& settings, const std::string& option,
                                             const Variable& variable, const Metadata& metadata);

/// NaN where all intervals are empty.
[[nodiscard]] std::vector<double> densities(const std::vector<double>& edges, const std::vector<double>& amounts,
                                            Normalisation how);

/// Counts, and sums of weights, by slot of Bins.
class BinCounts {
 public:
  /// `wide`: how it is counted where there are no weights and few intervals; null: without wide instructions.
  BinCounts(const Bins& bins, bool weighted, WideCounts wide = wide_counts());
  /// The points of a block that count, once each.
  void add(const BlockView& values, int component);
  void add(const BlockView& values, int component, const BlockView& weights, int weight_component);
  /// Counts of all slots, then the sums of each interval, if there are weights.
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
  std::size_t places_ = 0, row_ = 0;  ///< of a guess; how far rows are apart
  std::vector<std::uint32_t> rows_;   ///< counts that are not collected yet by place, in several rows by turns
  WideCounts wide_ = nullptr;         ///< null: by BinGuess
  Index recent_ = 0;                  ///< how many they are
  std::vector<ExactSum> sums_;
};

/// The sums behind the counts of BinCounts::words, or of several of them added.
[[nodiscard]] std::vector<double> weights_of(std::span<const std::int64_t> forms);

}  // namespace sidestream
