// Memory of one process for blocks, kept warm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace sidestream {

/// Bytes that several processes share as a limit: who needs more than its own limit borrows some.
class Lender {
 public:
  virtual ~Lender() = default;
  /// False: there is not that much left. Then `wanted` is true for everybody for a while.
  [[nodiscard]] virtual bool borrow(std::uint64_t bytes) noexcept = 0;
  virtual void give_back(std::uint64_t bytes) noexcept = 0;
  /// Somebody could not borrow lately: who can should give back.
  [[nodiscard]] virtual bool wanted() const noexcept = 0;
  /// All there is to borrow.
  [[nodiscard]] virtual std::uint64_t all() const noexcept = 0;
};

/// Regions are kept when given back and used again for blocks of the same size, so that pages stay warm. What is kept
/// and what is used together never exceed the limit (and what was borrowed), nor what was ever in use at once. What is
/// kept stays borrowed until somebody else wants it.
class RegionPool {
 public:
  explicit RegionPool(std::uint64_t limit, std::shared_ptr<Lender> lender = nullptr)
      : limit_(limit), lender_(std::move(lender)) {}
  RegionPool(const RegionPool&) = delete;
  RegionPool& operator=(const RegionPool&) = delete;
  ~RegionPool();
  /// 64-byte aligned; null if more than the limit would be in use. Throws Error(system) if the system has no memory.
  [[nodiscard]] std::byte* take(std::uint64_t bytes);
  void give_back(std::byte* data) noexcept;
  /// Gives back what was borrowed and is only kept, if somebody wants it.
  void share() noexcept;
  /// Bytes that can ever be in use.
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
  [[nodiscard]] bool make_room(std::uint64_t size) noexcept;
  std::uint64_t limit_, used_ = 0, kept_ = 0, peak_ = 0, borrowed_ = 0;
  std::shared_ptr<Lender> lender_;
  using Regions = std::multimap<std::uint64_t, Memory>;  ///< by size
  Regions free_;
  std::unordered_map<std::byte*, Regions::node_type> taken_;  ///< with its place there: giving back needs no memory
};

/// The regions of a client's iterations in process memory: a region is freed when the client has cleared it and its
/// iteration is released. Shared by the transports that don't use shared memory.
class RegionUses {
 public:
  explicit RegionUses(std::uint64_t limit, std::shared_ptr<Lender> lender = nullptr)
      : pool_(limit, std::move(lender)) {}
  [[nodiscard]] std::byte* reserve(std::uint64_t bytes);
  /// The region belongs to an iteration; `hold`: until clear too.
  void commit(std::byte* data, bool hold);
  void clear(std::byte* data);
  /// The iteration does not need the region any more.
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
