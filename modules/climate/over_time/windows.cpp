#include "climate/over_time/windows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace sidestream::over_time {

namespace {

/// Tolerance in lengths of a window: a time computed by adding dt may miss its end by a rounding error.
constexpr double slack = 1e-9;

}  // namespace

std::optional<WindowRule> WindowRule::parsed(const std::string& text) {
  WindowRule rule;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, rule.length);
  if (error != std::errc() || !(rule.length > 0) || !std::isfinite(rule.length)) return std::nullopt;
  std::string_view unit(at, static_cast<std::size_t>(end - at));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  if (unit == "time") {
    rule.unit = Unit::time;
    rule.step = 0;
    return rule;
  }
  if (unit == "cycle" || unit == "cycles") rule.unit = Unit::cycles;
  const bool known = unit.empty() || unit == "iteration" || unit == "iterations" || rule.unit == Unit::cycles;
  if (!known || rule.length != std::floor(rule.length) || rule.length > 1e15) return std::nullopt;
  return rule;
}

WindowClock::Place WindowClock::place(const WindowRule& rule, const Iteration& iteration) const {
  Place place;
  place.repeated = repeats_ && iteration.cycle == last_cycle_;
  const auto number = static_cast<double>(iteration.index + base_);
  const double at = (rule.unit == WindowRule::Unit::iterations ? number
                     : rule.unit == WindowRule::Unit::cycles   ? static_cast<double>(iteration.cycle)
                                                               : iteration.time) -
                    rule.start;
  double next = 0;
  if (rule.unit == WindowRule::Unit::iterations) {
    place.window = at < 0 ? -1 : static_cast<std::int64_t>(std::floor(at / rule.length));
    next = static_cast<double>(place.window + 1) * rule.length;
    place.is_last = at + rule.step >= next;
  } else {
    const double room = rule.unit == WindowRule::Unit::time ? slack : 0;
    place.window = static_cast<std::int64_t>(std::ceil(at / rule.length - room)) - 1;
    next = static_cast<double>(place.window + 1) * rule.length;
    place.is_last = rule.step > 0 ? at + rule.step > next : at >= next - slack * rule.length;
  }
  if (place.window < 0) place.window = -1;
  if (!rule.by_time) return place;
  double since = has_last_ ? last_time_ : iteration.time;
  if (rule.unit == WindowRule::Unit::time && place.window >= 0) {
    const double begin = rule.start + static_cast<double>(place.window) * rule.length;
    since = has_last_ ? std::max(since, begin) : begin;
  }
  place.weight = iteration.time - since;
  return place;
}

void WindowClock::enter(const Iteration& iteration, const Place& place) {
  if (place.window >= 0 && place.window != window_) {
    window_ = place.window;
    samples_ = 0;
    begin_ = has_last_ ? last_time_ : iteration.time;
  }
  if (place.window >= 0) {
    ++samples_;
    end_ = iteration.time;
  }
  last_number_ = iteration.index + base_;
  last_cycle_ = iteration.cycle;
  last_time_ = iteration.time;
  has_last_ = true;
  repeats_ = false;
}

void WindowClock::go_on(const Iteration& first) {
  repeats_ = has_last_ && first.cycle == last_cycle_;
  const bool in_session = first.index > last_number_ - base_;
  if (!in_session) base_ = last_number_ + (repeats_ ? 0 : 1) - first.index;
}

std::int64_t WindowClock::lacks(const WindowRule& rule, const Iteration& iteration) const {
  if (rule.unit != WindowRule::Unit::iterations) return 0;
  const Place here = place(rule, iteration);
  if (here.window < 0) return 0;
  const double at = static_cast<double>(iteration.index + base_) - rule.start;
  const double before = at - static_cast<double>(here.window) * rule.length;
  const std::int64_t entered = here.window == window_ ? samples_ : 0;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(before / rule.step) - entered);
}

std::array<double, 2> WindowClock::span(const WindowRule& rule, bool has_ended) const {
  if (rule.unit != WindowRule::Unit::time) return {begin_, end_};
  const double begin = rule.start + static_cast<double>(window_) * rule.length;
  return {begin, has_ended ? rule.start + static_cast<double>(window_ + 1) * rule.length : end_};
}

}  // namespace sidestream::over_time
