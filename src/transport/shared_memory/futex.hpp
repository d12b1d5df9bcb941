// Sleeping on a word of shared memory and waking sleepers, across processes.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace sidestream::shared_memory {

/// The kernel compares plain memory, so an atomic must be the bare word in every process that maps it.
static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

// FUTEX_WAIT and FUTEX_WAKE without FUTEX_PRIVATE_FLAG: the kernel then finds sleepers by the page they sleep on
// instead of the address, which differs between processes. atomic::wait uses the private kind.

/// Sleeps until some process calls futex_wake on `word`, unless `word` no longer holds `expected`; at most `limit`. May
/// return early without a reason, so callers must test their condition again. Never throws, never hangs beyond `limit`.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::chrono::microseconds limit) noexcept {
  // A negative or absurd limit must not become EINVAL, which would turn waiting into spinning.
  const auto us = std::clamp<std::int64_t>(limit.count(), 0, std::int64_t{1} << 50);
  const timespec time{static_cast<time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000) * 1000};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, expected, &time, nullptr, 0);
}

/// Wakes up to `sleepers` sleepers and returns how many there were.
inline int futex_wake(std::atomic<std::uint32_t>& word, int sleepers = 1) noexcept {
  const long woken =
      syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, sleepers, nullptr, nullptr, 0);
  return woken < 0 ? 0 : static_cast<int>(woken);
}

/// Lets one process notify another; this costs almost nothing while the other is awake. One process sleeps, any number
/// ring. Lives in shared memory; all zeros is its valid initial state.
///
/// No wake-up is lost: both sides make a read-modify-write of `asleep_`, and one of the two comes first. If the
/// sleeper's comes first, the ringer sees it and wakes the sleeper. If the ringer's comes first, the sleeper's
/// read-modify-write synchronises with it, so that the sleeper's last call of `ready` sees everything that was written
/// before the ring. A ringer killed between taking the flag and waking leaves the sleeper to its time limit, so always
/// sleep with a limit.
class alignas(64) Doorbell {
 public:
  /// Ringer: makes everything written before visible to the sleeper's next check. Wakes the sleeper only if it declared
  /// itself asleep (about 10 µs; else about 20 ns), and returns whether it did.
  bool ring() noexcept {
    // A relaxed load first would be cheaper but could miss a sleeper: the store before it may still be on its way.
    if (asleep_.exchange(0, std::memory_order_acq_rel) == 0) return false;
    word_.fetch_add(1, std::memory_order_release);
    futex_wake(word_);
    return true;
  }

  /// Sleeper: returns true as soon as ready() does. Returns false after `limit`, or when rung for something that
  /// ready() does not see or saw before. `ready` reads shared memory, must not have side effects that happen once, and
  /// is called twice or more.
  template <class Ready>
  bool wait(Ready&& ready, std::chrono::microseconds limit) {
    if (ready()) return true;
    const std::uint32_t seen = word_.load(std::memory_order_acquire);
    asleep_.exchange(1, std::memory_order_acq_rel);
    const bool already = ready();
    if (!already) futex_wait(word_, seen, limit);
    asleep_.exchange(0, std::memory_order_acq_rel);
    return already || ready();
  }

  /// True if the sleeper has declared itself asleep; for reports.
  [[nodiscard]] bool asleep() const noexcept { return asleep_.load(std::memory_order_relaxed) != 0; }

 private:
  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint32_t> asleep_{0};
};

}  // namespace sidestream::shared_memory
