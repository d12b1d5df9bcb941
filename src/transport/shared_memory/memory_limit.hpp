// Amount of memory that this process may still take before the kernel starts killing.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/region_pool.hpp"
#include "transport/shared_memory/segment.hpp"

namespace sidestream::shared_memory {

struct MemoryLeft {
  std::uint64_t bytes = UINT64_MAX;  ///< UINT64_MAX: unknown
  std::string source;                ///< where the limit comes from: "the machine" or the control group's file
};

/// Returns the smaller of the machine's available memory (MemAvailable) and what the control groups of this process
/// (version 1 or 2) have left, counting page cache of files as free. `root`: prefix of /proc and /sys, for tests.
[[nodiscard]] MemoryLeft memory_left(const std::string& root = "");

// Limit that the clients of a node share, beyond their own shares of its buffer. For placement `nodes`, where values
// lie in each client's own memory. It is one number in shared memory, so that a client with much data uses what others
// do not need.

class SharedLimit final : public Lender {
 public:
  /// `bytes`: number of bytes that can be borrowed, the same on all processes. Collective over the processes of a node;
  /// throws the same Error on all.
  SharedLimit(Communicator& node, std::uint64_t bytes);
  [[nodiscard]] bool borrow(std::uint64_t bytes) noexcept override;
  void give_back(std::uint64_t bytes) noexcept override;
  [[nodiscard]] bool wanted() const noexcept override;
  [[nodiscard]] std::uint64_t all() const noexcept override { return all_; }

 private:
  struct Words {
    std::atomic<std::uint64_t> left;
    std::atomic<std::int64_t> wanted_until;  ///< CLOCK_MONOTONIC, nanoseconds
  };
  [[nodiscard]] Words& words() const noexcept { return *reinterpret_cast<Words*>(segment_.data()); }
  std::uint64_t all_;
  Segment segment_;
};

}  // namespace sidestream::shared_memory
