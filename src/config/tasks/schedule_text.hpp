// Schedules in their written form: 5 | "10 cycles" | "0.5 time" | "30 s" | auto.
#pragma once

#include <string>

#include "config/config.hpp"
#include "config/expressions/expression.hpp"

namespace sidestream {

/// Parses the unit and the interval of a schedule; other fields keep their defaults. `what` and `where` as for
/// evaluate(). Throws Error(configuration).
[[nodiscard]] Schedule parse_every(const std::string& text, const ExpressionContext& context, const std::string& what,
                                   const Location& where);

/// Describes a schedule for messages: `every 5 iterations from 10 to 100, on event 'dump'`.
[[nodiscard]] std::string describe(const Schedule& schedule);

}  // namespace sidestream
