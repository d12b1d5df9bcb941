// Memory of one client's blocks, for the transports that do not use shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "sidestream/kit/base/region_pool.hpp"

namespace sidestream {

/// Regions of a client's iterations in process memory. A region is freed when the client has cleared it and its
/// iteration is released.
class RegionUses {
 public:
  explicit RegionUses(std::uint64_t limit, std::shared_ptr<Lender> lender = nullptr)
      : pool_(limit, std::move(lender)) {}
  [[nodiscard]] std::byte* reserve(std::uint64_t bytes);
  /// Assigns the region to an iteration; `hold`: also keeps it until `clear`.
  void commit(std::byte* data, bool hold);
  void clear(std::byte* data);
  /// Records that the iteration no longer needs the region.
  void release(std::byte* data);
  void share() noexcept { pool_.share(); }
  [[nodiscard]] const RegionPool& pool() const noexcept { return pool_; }

 private:
  struct Use {
    bool held = false;
    bool needed = false;
  };
  void free_if_unused(std::byte* data);

  RegionPool pool_;
  std::unordered_map<std::byte*, Use> uses_;
};

}  // namespace sidestream
