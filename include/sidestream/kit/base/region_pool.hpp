// Memory of one process for blocks, whose pages stay mapped and warm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace sidestream {

/// Limit in bytes that several processes share; a process beyond its own limit borrows from it.
class Lender {
 public:
  virtual ~Lender() = default;
  /// Borrows `bytes`. Returns false if not enough is left; then `wanted` is true for all processes for a while.
  [[nodiscard]] virtual bool borrow(std::uint64_t bytes) noexcept = 0;
  virtual void give_back(std::uint64_t bytes) noexcept = 0;
  /// True if some process could not borrow lately; the others should give back memory that they can spare.
  [[nodiscard]] virtual bool wanted() const noexcept = 0;
  /// Bytes that can be borrowed in total.
  [[nodiscard]] virtual std::uint64_t all() const noexcept = 0;
};

/// Keeps regions that are given back and reuses them for blocks of the same size, so that their pages stay warm. Kept
/// and used bytes together never exceed the limit (plus what was borrowed), nor the most that was ever in use at once.
/// Kept bytes stay borrowed until another process wants them.
class RegionPool {
 public:
  explicit RegionPool(std::uint64_t limit, std::shared_ptr<Lender> lender = nullptr)
      : limit_(limit), lender_(std::move(lender)) {}
  RegionPool(const RegionPool&) = delete;
  RegionPool& operator=(const RegionPool&) = delete;
  ~RegionPool();
  /// Returns a 64-byte aligned region, or null if the limit would be exceeded. Throws Error(system) if the system has
  /// no memory.
  [[nodiscard]] std::byte* take(std::uint64_t bytes);
  void give_back(std::byte* data) noexcept;
  /// Gives back borrowed bytes that are only kept, if another process wants them.
  void share() noexcept;
  /// Maximum bytes that can be in use.
  [[nodiscard]] std::uint64_t most() const noexcept { return limit_ + (lender_ ? lender_->all() : 0); }
  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
  [[nodiscard]] std::uint64_t borrowed() const noexcept { return borrowed_; }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept;
  };
  using Memory = std::unique_ptr<std::byte, Free>;
  void drop_kept() noexcept;
  [[nodiscard]] bool free_space_for(std::uint64_t size) noexcept;
  std::uint64_t limit_, used_ = 0, kept_ = 0, peak_ = 0, borrowed_ = 0;
  std::shared_ptr<Lender> lender_;
  using Regions = std::multimap<std::uint64_t, Memory>;  ///< regions by size
  Regions free_;
  std::unordered_map<std::byte*, Regions::node_type> taken_;  ///< each with its node of `free_`, so that giving back
                                                              ///< allocates nothing
};

}  // namespace sidestream
