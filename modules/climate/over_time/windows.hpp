// Windows over iterations, cycles or time, and the weights of iterations in them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "sidestream/data/iteration.hpp"

namespace sidestream::over_time {

/// The lengths and the place of windows. Windows of iterations follow each other from `start` on: [start, start + n).
/// Windows of cycles and times exclude their lower end and include the upper one, (start, start + n], since values
/// stand for the step that ends with them.
struct WindowRule {
  enum class Unit { iterations, cycles, time };
  Unit unit = Unit::iterations;
  double length = 1;  ///< whole for iterations and cycles
  double start = 0;
  double step = 1;       ///< between two iterations of the task, as far as known; 0: unknown
  bool by_time = false;  ///< the weight of an iteration is the time since the one before

  /// Length and unit in the words of `every`: `10`, `10 cycles`, `0.5 time`. Nothing if the text has another form.
  [[nodiscard]] static std::optional<WindowRule> parsed(const std::string& text);
};

/// Follows the iterations of a run, and of the runs that it goes on from. All servers hold the same. Trivially
/// copyable: part of states.
class WindowClock {
 public:
  /// An iteration's place.
  struct Place {
    std::int64_t window = -1;  ///< counted from `start`; negative: before the first one
    bool is_last = false;      ///< no later iteration of the task lies in the window
    double weight = 1;
    bool repeated = false;  ///< a run that goes on publishes again what its state has: it does not count
  };
  [[nodiscard]] Place place(const WindowRule& rule, const Iteration& iteration) const;
  /// Enters an iteration that has that place.
  void enter(const Iteration& iteration, const Place& place);
  /// Goes on after the iterations of another run, of which `first` is the next one, or the last one again. Servers that
  /// follow others in the same session count on from these, while another run counts from 0.
  void go_on(const Iteration& first);
  /// For windows of iterations: how many of those that lie in this one's window before it were not entered.
  [[nodiscard]] std::int64_t lacks(const WindowRule& rule, const Iteration& iteration) const;
  void close_window() noexcept { window_ = -1; }
  /// The clock to keep after `iteration` of the run, which need not be one of the task's.
  [[nodiscard]] WindowClock kept(const Iteration& iteration) const {
    WindowClock clock = *this;
    clock.last_number_ = iteration.index + base_;
    return clock;
  }

  [[nodiscard]] bool is_open() const noexcept { return window_ >= 0; }
  [[nodiscard]] std::int64_t window() const noexcept { return window_; }
  /// Iterations in the open window.
  [[nodiscard]] std::int64_t samples() const noexcept { return samples_; }
  /// The interval of time of the open window: that of the rule if it has ended and is one of times, otherwise from the
  /// time before its first iteration to that of its last.
  [[nodiscard]] std::array<double, 2> span(const WindowRule& rule, bool has_ended) const;

 private:
  std::int64_t base_ = 0;                           ///< number of iterations of earlier runs
  std::int64_t window_ = -1, samples_ = 0;          ///< the open window; -1: none
  double begin_ = 0, end_ = 0;                      ///< times of the open window
  std::int64_t last_number_ = -1, last_cycle_ = 0;  ///< of the last iteration, over all runs
  double last_time_ = 0;
  bool has_last_ = false, repeats_ = false;
};

}  // namespace sidestream::over_time
