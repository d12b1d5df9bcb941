#include "transport/shared_memory/shared_limit.hpp"

#include <time.h>

#include "base/mpi/agree.hpp"
#include "transport/shared_memory/segment_sharing.hpp"

namespace sidestream::shared_memory {

namespace {

constexpr std::uint64_t layout = 0x74696d696c647331ull;
constexpr std::int64_t wanted_for_ns = 50'000'000;

/// The same clock in all processes of a node.
std::int64_t now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

SharedLimit::SharedLimit(Communicator& node, std::uint64_t bytes) : all_(bytes) {
  const bool creator = node.rank() == 0;
  Segment own;
  run_collectively(node, [&] {
    if (!creator) return;
    own = Segment::create(sizeof(Words), layout, "sidestream-limit");
    reinterpret_cast<Words*>(own.data())->left.store(bytes);
  });
  segment_ = share_segment(node, creator, std::move(own), layout);
}

bool SharedLimit::borrow(std::uint64_t bytes) noexcept {
  std::uint64_t left = words().left.load(std::memory_order_relaxed);
  while (left >= bytes) {
    if (words().left.compare_exchange_weak(left, left - bytes, std::memory_order_acq_rel)) return true;
  }
  words().wanted_until.store(now_ns() + wanted_for_ns, std::memory_order_relaxed);
  return false;
}

void SharedLimit::give_back(std::uint64_t bytes) noexcept { words().left.fetch_add(bytes, std::memory_order_acq_rel); }

bool SharedLimit::wanted() const noexcept {
  const std::int64_t until = words().wanted_until.load(std::memory_order_relaxed);
  return until != 0 && now_ns() < until;
}

}  // namespace sidestream::shared_memory
