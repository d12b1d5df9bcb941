#include "config/tasks/schedule_text.hpp"

#include <cmath>
#include <optional>

#include "config/expressions/condition.hpp"
#include "config/options/document.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

constexpr const char* forms = "5, '10 cycles', '0.5 time', '30 s' or auto";

std::optional<Schedule::Unit> unit_named(const std::string& name) {
  if (name.empty() || name == "iteration" || name == "iterations") return Schedule::Unit::iterations;
  if (name == "cycle" || name == "cycles") return Schedule::Unit::cycles;
  if (name == "time") return Schedule::Unit::time;
  if (name == "s") return Schedule::Unit::wall;
  return std::nullopt;
}

/// Position of the unit: the letters at the end, unless they belong to a $name.
std::size_t unit_position(const std::string& text) {
  const auto in_name = [&](std::size_t n) { return is_letter_or_digit(text[n]) || text[n] == '_'; };
  std::size_t unit = text.size();
  while (unit > 0 && is_letter(text[unit - 1])) --unit;
  std::size_t name = unit;
  while (name > 0 && in_name(name - 1)) --name;
  return name > 0 && text[name - 1] == '$' ? text.size() : unit;
}

const char* unit_text(Schedule::Unit unit) {
  switch (unit) {
    case Schedule::Unit::iterations:
      return "iterations";
    case Schedule::Unit::cycles:
      return "cycles";
    case Schedule::Unit::time:
      return "of simulated time";
    case Schedule::Unit::wall:
      return "s";
    case Schedule::Unit::automatic:
      break;
  }
  return "iterations";
}

}  // namespace

Schedule parse_every(const std::string& text, const ExpressionContext& context, const std::string& what,
                     const Location& where) {
  Schedule schedule;
  if (text == "auto") {
    schedule.unit = Schedule::Unit::automatic;
    return schedule;
  }
  const std::size_t split = unit_position(text);
  const std::string unit_name = text.substr(split);
  const auto unit = unit_named(unit_name);
  const std::size_t last = text.find_last_not_of(' ', split == 0 ? 0 : split - 1);
  if (!unit || split == 0 || last == std::string::npos) {
    const std::string near = did_you_mean(unit_name, {"iterations", "cycles", "time", "s", "auto"});
    fail_at(where, "found '{}' for {}, expected a schedule such as {}; {}", text, what, forms,
            near.empty() ? "write one of these" : fmt::format("did you mean '{}'?", near));
  }
  schedule.unit = *unit;
  schedule.every = as_real(evaluate(text.substr(0, last + 1), context, what, where));
  const bool counts = *unit == Schedule::Unit::iterations || *unit == Schedule::Unit::cycles;
  if (counts && (schedule.every < 1 || schedule.every != std::floor(schedule.every))) {
    fail_at(where, "found '{}' for {}, expected a whole number of {}, at least 1; write one", text, what,
            unit_text(*unit));
  }
  if (!(schedule.every > 0)) {
    fail_at(where, "found '{}' for {}, expected an interval above 0; write a positive number", text, what);
  }
  return schedule;
}

std::string describe(const Schedule& schedule) {
  const char* unit = unit_text(schedule.unit);
  const bool single = schedule.every == 1 && schedule.unit != Schedule::Unit::wall;
  std::string text = fmt::format("every {} {}", schedule.every, unit);
  if (schedule.unit == Schedule::Unit::automatic) text = "as often as the servers keep up";
  if (single && schedule.unit == Schedule::Unit::iterations) text = "every iteration";
  if (single && schedule.unit == Schedule::Unit::cycles) text = "every cycle";
  if (schedule.start) text += fmt::format(", from {}", *schedule.start);
  if (schedule.end) text += fmt::format(", to {}", *schedule.end);
  if ((schedule.start || schedule.end) && unit != std::string("iterations")) text += fmt::format(" {}", unit);
  if (schedule.first) text += ", and in the first";
  if (schedule.when) text += fmt::format(", when {}", schedule.when->text());
  if (!schedule.event.empty()) text += fmt::format(", on event '{}'", schedule.event);
  if (schedule.from != EventFrom::any) {
    text += fmt::format(" from {}", schedule.from == EventFrom::one    ? "one client"
                                    : schedule.from == EventFrom::node ? "all clients of a node"
                                                                       : "all clients");
  }
  return text;
}

}  // namespace sidestream
