// Time and waiting: clock, pauses, polling loops, and retries while memory is short.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>

namespace sidestream {

using Clock = std::chrono::steady_clock;

/// Seconds since an arbitrary but fixed moment of this machine.
[[nodiscard]] inline double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

// Back-off for all polling loops: waits by looking again at growing intervals.

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
    if (checks_++ < spins_) return;
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
  int spins_, checks_ = 0;
};

// Retries an operation while allocation fails.

/// Repeats `work` until there is memory for it, because other processes wait for it. Meanwhile memory of others may
/// become free. `work` must leave everything unchanged when it throws. Throws std::bad_alloc after 20 s without
/// success.
template <class Work>
void retry_while_out_of_memory(Work&& work) {
  constexpr int most_tries = 20'000;
  for (int tries = 1;; ++tries) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      if (tries == most_tries) throw;
      pause_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace sidestream
