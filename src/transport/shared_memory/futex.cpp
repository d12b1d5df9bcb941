#include "transport/shared_memory/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace sidestream::shared_memory {

// FUTEX_WAIT and FUTEX_WAKE without FUTEX_PRIVATE_FLAG: the kernel then finds sleepers by the page they sleep on
// instead of the address, which differs between processes. atomic::wait uses the private kind.

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::microseconds limit) noexcept {
  // A negative or absurd limit must not become EINVAL, which would turn waiting into spinning.
  const auto us = std::clamp<std::int64_t>(limit.count(), 0, std::int64_t{1} << 50);
  const timespec time{static_cast<time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000) * 1000};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, expected, &time, nullptr, 0);
}

int futex_wake(std::atomic<std::uint32_t>& word, int sleepers) noexcept {
  const long woken =
      syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, sleepers, nullptr, nullptr, 0);
  return woken < 0 ? 0 : static_cast<int>(woken);
}

}  // namespace sidestream::shared_memory
