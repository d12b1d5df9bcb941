// Predicts when a server should poll for the next iteration instead of sleeping. Waking a sleeper costs the client ten
// microseconds and more; telling a server that is awake costs nothing.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace sidestream::shared_memory {

/// Predicts arrivals from those of the last iterations. Steps of a simulation take about equal time; where they do not,
/// nothing is predicted and the server sleeps.
class Anticipation {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  /// `most`: how long to poll before and after the expected arrival; never more than a twentieth of the time between
  /// two iterations. 0: never.
  explicit Anticipation(Duration most) : most_(most) {}
  /// Records the arrival of an iteration. Times must not decrease.
  void came(Time time) noexcept;
  /// Begin and end of the time to poll for the next iteration; nothing if it is not predictable enough.
  [[nodiscard]] std::optional<std::pair<Time, Time>> next() const noexcept;

 private:
  static constexpr std::size_t looked_at = 5;
  Duration most_;
  Time last_{};
  std::array<Duration, looked_at> intervals_{};
  std::size_t count_ = 0;  ///< number of iterations that arrived
};

}  // namespace sidestream::shared_memory
