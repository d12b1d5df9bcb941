// When a server should look for the next iteration without sleeping: waking a sleeper costs the client that wakes it
// ten microseconds and more, telling one that is awake costs nothing.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace sidestream::shared_memory {

/// Learns from when the last iterations came. Steps of a simulation take about equal time; where they do not, nothing
/// is expected and the server sleeps.
class Anticipation {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  /// `most`: how long to look before an iteration is expected, and how long after; never more than a twentieth of the
  /// time between two iterations. 0: never.
  explicit Anticipation(Duration most) : most_(most) {}
  /// An iteration came. Times grow.
  void came(Time time) noexcept;
  /// From when until when to look for the next one; nothing if that cannot be said well enough.
  [[nodiscard]] std::optional<std::pair<Time, Time>> next() const noexcept;

 private:
  static constexpr std::size_t looked_at = 5;
  Duration most_;
  Time last_{};
  std::array<Duration, looked_at> intervals_{};
  std::size_t count_ = 0;  ///< iterations that came
};

}  // namespace sidestream::shared_memory
