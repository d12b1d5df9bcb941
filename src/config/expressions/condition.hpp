// Conditions on published values: `max(temperature) > 500 and change(mean(pressure)) < 0`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/expressions/expression.hpp"
#include "data/statistic.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// The facts that a condition uses, of this iteration or an earlier one. A statistic of a variable that nobody
/// published is NaN.
struct Facts {
  Iteration iteration;
  std::span<const double> statistics;  ///< in the order of Condition::statistics
};

/// A checked text. Copies share it.
class Condition {
 public:
  /// `what` names it in messages; `where` is the place of its first character. Throws Error(configuration).
  Condition(const std::string& text, const ExpressionContext& context, const Metadata& metadata,
            const std::string& what, const Location& where);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The statistics that it needs.
  [[nodiscard]] const std::vector<Statistic>& statistics() const noexcept;
  /// Number of iterations that it looks back; at most `deepest`.
  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
  static constexpr std::int64_t deepest = 1000;
  /// True if it holds. A comparison with an unknown value (NaN) is false. `facts`: of this iteration, then of the one
  /// before, and so on; there are fewer than `depth` before if the run has not had so many.
  [[nodiscard]] bool holds(std::span<const Facts> facts) const;

  struct Step;

 private:
  std::string text_;
  std::shared_ptr<const std::vector<Step>> steps_;  ///< the last one is the whole
  std::shared_ptr<const std::vector<Statistic>> statistics_;
  std::size_t depth_ = 0;
};

}  // namespace sidestream
