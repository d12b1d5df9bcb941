// Counting of values in intervals, and densities computed from the counts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/extend/option_table.hpp"
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

/// Texts of the two options below.
[[nodiscard]] std::string normalisation_text();
[[nodiscard]] std::string bin_scale_text();
/// Throws Error(configuration) unless the variable that `option` names has one component and lies in the same points as
/// `variable`.
void require_companion(const Settings& settings, const std::string& option, const Variable& other,
                       const Variable& variable);

/// The option `normalise`.
template <class Owner>
[[nodiscard]] OptionField<Owner> normalisation_option(Normalisation Owner::*how) {
  return option(
      "normalise", how, normalisation_text(),
      {.standard = "counts",
       .choices = {
           {"counts", Normalisation::counts}, {"density", Normalisation::density}, {"gimlet", Normalisation::gimlet}}});
}
/// The option `scale` of intervals: true if it is logarithmic.
template <class Owner>
[[nodiscard]] OptionField<Owner> bin_scale_option(bool Owner::*logarithmic) {
  return option<OptionType::choice>("scale", logarithmic, bin_scale_text(),
                                    {.standard = "linear", .choices = {{"linear", false}, {"logarithmic", true}}});
}
/// The option `weight`: another variable in the same points as `variable`.
template <class Owner, class Base>
[[nodiscard]] OptionField<Owner> weight_option(std::optional<Variable> Owner::*weight, Variable Base::*variable,
                                               const std::string& text) {
  return option("weight", weight, text)
      .then([=](const Settings& settings, const std::string& name, const Metadata&, const Owner& owner) {
        if (owner.*weight) require_companion(settings, name, *(owner.*weight), owner.*variable);
      });
}

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
