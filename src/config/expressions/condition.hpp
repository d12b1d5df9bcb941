// Conditions on what is published: `max(temperature) > 500 and change(mean(pressure)) < 0`.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/expressions/expression.hpp"
#include "data/statistic.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// The facts that a condition uses, of this iteration or the one before. A statistic of a variable that nobody
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
  /// True if it holds. A comparison with an unknown value (NaN) is false. `before` is null in the first iteration.
  [[nodiscard]] bool holds(const Facts& now, const Facts* before) const;

  struct Step;

 private:
  std::string text_;
  std::shared_ptr<const std::vector<Step>> steps_;  ///< the last one is the whole
  std::shared_ptr<const std::vector<Statistic>> statistics_;
};

}  // namespace sidestream
