// What the clients of a node may take of its buffer beyond their own shares, where values lie in each client's own
// memory (placement `nodes`): one number in shared memory, so that a client with much data uses what others do not
// need.
#pragma once

#include <atomic>
#include <cstdint>

#include "sidestream/extend/communicator.hpp"
#include "transport/region_pool.hpp"
#include "transport/shared_memory/segment.hpp"

namespace sidestream::shared_memory {

class SharedLimit final : public Lender {
 public:
  /// Collective over the processes of a node. `bytes`: to borrow, the same on all of them. Throws the same Error.
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
