// Lock-free queue of fixed-size records in shared memory, with a single producer and a single consumer in different
// processes.
//
// Records lie in a circular array of `capacity` slots, a power of two. `pushed` and `popped` count all records ever
// pushed and popped, and record n lies in slot n mod capacity. The producer copies records into free slots and then
// publishes them with one release store of `pushed`; the consumer copies them out and then frees the slots with one
// release store of `popped`. Each end keeps its own index and a copy of the other's, which it reads again only when the
// ring seems full or empty. This is Lamport's queue (Proving the correctness of multiprocess programs, 1977) with
// cached indices.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "transport/message.hpp"

namespace sidestream::shared_memory {

/// Shared part of a ring; the slots follow it. All zeros is an empty ring. Each index is written by one side only and
/// has a cache line of its own (two, because processors fetch them in pairs).
struct alignas(128) RingIndices {
  alignas(128) std::atomic<std::uint64_t> pushed{0};  ///< number of records pushed so far; written by the producer
  alignas(128) std::atomic<std::uint64_t> popped{0};  ///< number of records popped so far; written by the consumer
};

/// Bytes of a ring of `capacity` records of type T, a multiple of 128.
template <class T>
[[nodiscard]] constexpr std::uint64_t ring_bytes(std::uint64_t capacity) noexcept {
  return sizeof(RingIndices) + (capacity * sizeof(T) + 127) / 128 * 128;
}

/// Common part of the two ends. A record becomes visible by the one store that advances `pushed`, and a slot is reused
/// only after the one store that advances `popped`. So a process killed at any instruction leaves a ring that the other
/// can continue to use, in which the record is whole or absent. No call waits.
template <class T>
class RingEnd {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// `memory` (aligned to 128) holds ring_bytes<T>(capacity) bytes, zeroed before the first use by either side;
  /// `capacity` is a power of two. The state is read from there, so that an end can be opened again.
  RingEnd(std::byte* memory, std::uint64_t capacity) noexcept
      : shared_(reinterpret_cast<RingIndices*>(memory)),
        slots_(memory + sizeof(RingIndices)),
        capacity_(capacity),
        pushed_(shared_->pushed.load(std::memory_order_acquire)),
        popped_(shared_->popped.load(std::memory_order_acquire)) {}

  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }
  /// Number of records in the ring at some moment during the call; for either end, and for reports.
  [[nodiscard]] std::uint64_t size() const noexcept {
    // Reads `popped` first: it never passes `pushed`, so that the difference cannot be negative.
    const std::uint64_t popped = shared_->popped.load(std::memory_order_acquire);
    return shared_->pushed.load(std::memory_order_acquire) - popped;
  }

 protected:
  [[nodiscard]] std::byte* slot(std::uint64_t n) const noexcept { return slots_ + (n & (capacity_ - 1)) * sizeof(T); }

  RingIndices* shared_;
  std::byte* slots_;
  std::uint64_t capacity_;
  std::uint64_t pushed_,
      popped_;  ///< own index, and a copy of the other's, which is read again only when necessary
};

template <class T>
class RingProducer : public RingEnd<T> {
 public:
  using RingEnd<T>::RingEnd;

  /// Returns false if the ring is full.
  bool try_push(const T& record) noexcept { return try_push(std::span(&record, 1)); }

  /// Pushes all records or none; they become visible together. Returns false if there is no room for all.
  bool try_push(std::span<const T> records) noexcept {
    if (!has_space(records.size())) return false;
    for (const T& record : records) std::memcpy(this->slot(this->pushed_++), &record, sizeof(T));
    this->shared_->pushed.store(this->pushed_, std::memory_order_release);
    return true;
  }

  [[nodiscard]] bool has_space(std::uint64_t records) noexcept {
    if (this->pushed_ + records - this->popped_ <= this->capacity_) return true;
    this->popped_ = this->shared_->popped.load(std::memory_order_acquire);
    return this->pushed_ + records - this->popped_ <= this->capacity_;
  }

  /// Prefetches the memory of the next push.
  void prefetch() const noexcept {
    __builtin_prefetch(this->slot(this->pushed_), 1);
    __builtin_prefetch(&this->shared_->pushed, 1);
  }
};

template <class T>
class RingConsumer : public RingEnd<T> {
 public:
  using RingEnd<T>::RingEnd;

  /// Copies the record `ahead` records behind the first one and leaves it in the ring. Returns false if there are
  /// fewer.
  bool peek(std::uint64_t ahead, T& record) noexcept {
    if (this->pushed_ - this->popped_ <= ahead) {
      this->pushed_ = this->shared_->pushed.load(std::memory_order_acquire);
      if (this->pushed_ - this->popped_ <= ahead) return false;
    }
    std::memcpy(&record, this->slot(this->popped_ + ahead), sizeof(T));
    return true;
  }
  /// Removes `records` records that `peek` has seen. A process killed before it returns sees them again when it reopens
  /// the ring.
  void drop(std::uint64_t records) noexcept {
    this->popped_ += records;
    this->shared_->popped.store(this->popped_, std::memory_order_release);
  }

  /// True if `peek` would find no record now.
  [[nodiscard]] bool empty() noexcept {
    if (this->popped_ != this->pushed_) return false;
    this->pushed_ = this->shared_->pushed.load(std::memory_order_acquire);
    return this->popped_ == this->pushed_;
  }
};

// Messages in a ring of lines.

/// Copies the first message into `lines` and leaves it in the ring. Returns false if there is none.
inline bool peek_message(RingConsumer<MessageLine>& ring, std::vector<MessageLine>& lines) {
  lines.resize(1);
  if (!ring.peek(0, lines.front())) return false;
  lines.resize(MessageReader::length(lines.front()));
  // The lines of a message become visible together.
  for (std::size_t n = 1; n < lines.size(); ++n) {
    if (!ring.peek(n, lines[n])) return false;
  }
  return true;
}

/// Copies the first message into `lines` and removes it from the ring. Returns false if there is none.
inline bool pop_message(RingConsumer<MessageLine>& ring, std::vector<MessageLine>& lines) {
  if (!peek_message(ring, lines)) return false;
  ring.drop(lines.size());
  return true;
}

}  // namespace sidestream::shared_memory
