// Predicts when a server should poll for the next iteration instead of sleeping. Waking a sleeper costs the client ten
// microseconds and more; telling a server that is awake costs nothing.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace sidestream::shared_memory {

/// Predicts the arrival of an iteration from the last ones. Steps of a simulation take about equal time; where they do
/// not, nothing is predicted and the server sleeps.
class Anticipation {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  /// `most`: how long to poll before and after the expected arrival; never more than a twentieth of the time between
  /// two iterations. 0: never.
  explicit Anticipation(Duration most) : most_(most) {}
  /// Records the arrival of an iteration. Times must not decrease.
  void came(Time time) noexcept {
    if (count_ > 0) intervals_[(count_ - 1) % looked_at] = time - last_;
    last_ = time;
    ++count_;
  }
  /// Begin and end of the time to poll for the next iteration; nothing if it is not predictable enough.
  [[nodiscard]] std::optional<std::pair<Time, Time>> next() const noexcept {
    if (count_ <= looked_at || most_ <= Duration::zero()) return std::nullopt;
    auto sorted = intervals_;
    std::sort(sorted.begin(), sorted.end());
    const Duration middle = sorted[looked_at / 2];
    constexpr int part = 20;
    const Duration window = std::min(most_, middle / part);
    // One slow step (a checkpoint, say) does not make the others unpredictable.
    if (sorted[looked_at - 2] - sorted.front() > 2 * window) return std::nullopt;
    return std::pair(last_ + middle - window, last_ + middle + window);
  }

 private:
  static constexpr std::size_t looked_at = 5;
  Duration most_;
  Time last_{};
  std::array<Duration, looked_at> intervals_{};
  std::size_t count_ = 0;  ///< number of iterations that arrived
};

}  // namespace sidestream::shared_memory
