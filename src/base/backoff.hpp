// Back-off for all polling loops: waits by looking again at growing intervals.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>

namespace sidestream {

/// Sleeps for `length`, giving the core away. Less exact than in a thread that has called `sleep_exactly`.
inline void pause_for(std::chrono::nanoseconds length) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  const timespec rest{length.count() / second, static_cast<long>(length.count() % second)};
  nanosleep(&rest, nullptr);
}

/// Pauses between looks: none for the first `spins`, then each 1.5 times as long as the one before.
class Backoff {
 public:
  using Duration = std::chrono::microseconds;
  /// Pauses from `shortest` to `longest`.
  Backoff(Duration shortest, Duration longest, int spins = 0) noexcept
      : shortest_(shortest), longest_(longest), next_(shortest), spins_(spins) {}
  /// Pauses; call it after a look that found nothing.
  void pause() noexcept {
    if (looks_++ < spins_) return;
    pause_for(next());
  }
  /// The length of the next pause, for callers that wait in another way. The one after it is longer.
  [[nodiscard]] Duration next() noexcept { return next(longest_); }
  /// The length of the next pause, with another upper limit this time.
  [[nodiscard]] Duration next(Duration longest) noexcept {
    const Duration length = std::min(next_, longest);
    next_ = std::min(longest, length + length / 2 + Duration(1));
    return length;
  }
  /// Makes pauses short again, because something happened.
  void reset() noexcept { next_ = shortest_; }

 private:
  Duration shortest_, longest_, next_;
  int spins_, looks_ = 0;
};

}  // namespace sidestream
