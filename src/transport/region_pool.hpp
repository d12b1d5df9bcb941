// Memory of one process for blocks, kept warm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

namespace sidestream {

/// Regions are kept when given back and used again for blocks of the same size, so that pages stay warm. What is kept
/// and what is used together never exceed the limit, nor what was ever in use at once.
class RegionPool {
 public:
  explicit RegionPool(std::uint64_t limit) : limit_(limit) {}
  /// 64-byte aligned; null if more than the limit would be in use. Throws Error(system) if the system has no memory.
  [[nodiscard]] std::byte* take(std::uint64_t bytes);
  void give_back(std::byte* data);
  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_; }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept;
  };
  using Memory = std::unique_ptr<std::byte, Free>;
  std::uint64_t limit_, used_ = 0, kept_ = 0, peak_ = 0;
  std::multimap<std::uint64_t, Memory> free_;
  std::unordered_map<std::byte*, std::pair<std::uint64_t, Memory>> taken_;
};

/// The regions of a client's iterations in process memory: a region is freed when the client has cleared it and its
/// iteration is released. Shared by the transports that don't use shared memory.
class RegionUses {
 public:
  explicit RegionUses(std::uint64_t limit) : pool_(limit) {}
  [[nodiscard]] std::byte* reserve(std::uint64_t bytes);
  /// The region belongs to an iteration; `hold`: until clear too.
  void commit(std::byte* data, bool hold);
  void clear(std::byte* data);
  /// The iteration does not need the region any more.
  void release(std::byte* data);
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
