// Allocation of places in a file that is used as a ring: in the order of iterations, freed from the oldest on.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace sidestream::shared_memory {

/// Places in [0, size), without files or memory; for one thread. A place belongs to the iteration in which it is
/// committed. It is free when that iteration is released and all places before it are free.
class SpillPlaces {
 public:
  explicit SpillPlaces(std::uint64_t size) : size_(size) {}
  /// Takes `bytes` bytes (at least 1) and returns their offset; nothing if there is no such gap now.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t bytes);
  /// Assigns the place at `offset` to `iteration`.
  void commit(std::uint64_t offset, std::int64_t iteration);
  /// Gives back a place that is not used.
  void give_back(std::uint64_t offset);
  /// Releases iterations below `count`.
  void release_upto(std::int64_t count);
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return places_.empty(); }

 private:
  static constexpr std::int64_t open = INT64_MAX, unused = -1;
  struct Place {
    std::uint64_t begin, end;
    std::int64_t iteration;  ///< `open` until the place is committed
  };
  [[nodiscard]] Place& at(std::uint64_t offset);
  void trim();
  std::uint64_t size_;
  std::int64_t released_ = 0;
  std::deque<Place> places_;  ///< oldest first
};

}  // namespace sidestream::shared_memory
