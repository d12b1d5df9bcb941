// Waiting by looking again and again, ever more rarely: the one back-off.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>

namespace sidestream {

/// Gives the core away for that long. Less exact than a thread that called `sleep_exactly` could have it.
inline void pause_for(std::chrono::nanoseconds length) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  const timespec rest{length.count() / second, static_cast<long>(length.count() % second)};
  nanosleep(&rest, nullptr);
}

/// The pauses between looks: none for the first `spins`, then half as long again each time.
class Backoff {
 public:
  using Duration = std::chrono::microseconds;
  /// Pauses from `shortest` to `longest`.
  Backoff(Duration shortest, Duration longest, int spins = 0) noexcept
      : shortest_(shortest), longest_(longest), next_(shortest), spins_(spins) {}
  /// After a look that found nothing.
  void pause() noexcept {
    if (looks_++ < spins_) return;
    pause_for(next());
  }
  /// The length of the next pause, for who waits in another way; the one after it is longer.
  [[nodiscard]] Duration next() noexcept { return next(longest_); }
  /// The same, with another longest pause this time.
  [[nodiscard]] Duration next(Duration longest) noexcept {
    const Duration length = std::min(next_, longest);
    next_ = std::min(longest, length + length / 2 + Duration(1));
    return length;
  }
  /// Something happened: pauses are short again.
  void reset() noexcept { next_ = shortest_; }

 private:
  Duration shortest_, longest_, next_;
  int spins_, looks_ = 0;
};

}  // namespace sidestream
