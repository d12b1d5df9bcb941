// The node's buffer: a home for every client, and a pool that all clients borrow from.
//
//     | table | home 0 | home 1 | ... | chunk 0 | chunk 1 | ...
//
// The table holds the offsets of homes and the owner of each chunk of the pool. An owner is a word per chunk instead of
// a bit, so that one compare-and-swap takes a chunk and records its owner. A process killed at any instruction
// therefore leaves no chunk that lacks an owner or cannot be reclaimed. Taking a run of 64 MiB costs a few
// microseconds, the copy into it some thousands.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sidestream::shared_memory {

/// Memory that one client has to itself, in bytes; each part is rounded up to whole pages.
struct Extents {
  std::uint64_t home = 0;   ///< size of one home: all that the client publishes in one iteration (see block_footprint)
  std::uint32_t homes = 1;  ///< number of homes; 2 if the client keeps arrays of one iteration while it fills the next
  std::uint32_t reserved = 0;
  std::uint64_t keep = 0;  ///< for persistent arrays; twice their size if they are ever replaced
};

/// Bytes of an extent that a block of `bytes` bytes takes: regions start at cache lines, big ones at pages.
[[nodiscard]] constexpr std::uint64_t block_footprint(std::uint64_t bytes) noexcept {
  const std::uint64_t unit = bytes >= 4096 ? 4096 : 64;
  return bytes == 0 ? 64 : (bytes + unit - 1) & ~(unit - 1);
}

/// Size of a home for blocks of these sizes, in any order.
[[nodiscard]] std::uint64_t home_footprint(std::span<const std::uint64_t> block_bytes) noexcept;

/// A client's or server's view of the buffer. All calls are lock-free and none waits.
class Arena {
 public:
  /// Bytes of the table, homes and keeps: the minimum length of a buffer.
  [[nodiscard]] static std::uint64_t minimum_bytes(std::span<const Extents> clients) noexcept;

  /// Lays out `bytes` bytes at `memory`, which must be aligned to 4096 and zeroed. One process calls it, before any
  /// `open`. At most 65534 clients. Throws Error(full) with the sizes if the clients' own extents do not fit.
  static void create(std::byte* memory, std::uint64_t bytes, std::span<const Extents> clients);

  /// Opens an arena that `create` made. Throws Error(system) if there is none.
  explicit Arena(std::byte* memory);

  /// Takes `chunks` contiguous chunks for `client`: the first free run at or after `hint`, else from the start. Returns
  /// nothing if there is no such run. While others take chunks in the same place, it may miss a run that is freed
  /// meanwhile.
  [[nodiscard]] std::optional<std::uint64_t> borrow(int client, std::uint64_t chunks, std::uint64_t hint) noexcept;
  /// Gives back chunks that `client` borrowed. Ignores chunks of others.
  void give_back(int client, std::uint64_t first, std::uint64_t chunks) noexcept;

  [[nodiscard]] int clients() const noexcept;
  [[nodiscard]] std::uint64_t chunk_bytes() const noexcept { return chunk_bytes_; }
  [[nodiscard]] std::uint64_t chunks() const noexcept { return chunks_; }
  [[nodiscard]] std::byte* chunk(std::uint64_t n) const noexcept { return pool_ + n * chunk_bytes_; }
  /// The rounded extents of a client. Its homes are contiguous, followed by its keep.
  [[nodiscard]] Extents extents(int client) const noexcept;
  [[nodiscard]] std::byte* home(int client, std::uint32_t n) const noexcept;
  [[nodiscard]] std::byte* keep(int client) const noexcept;
  /// Start of the arena. Offsets from it mean the same in every process.
  [[nodiscard]] std::byte* begin() const noexcept { return memory_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  bool take(int client, std::uint64_t first, std::uint64_t chunks, std::uint64_t& blocked) noexcept;
  std::optional<std::uint64_t> scan(int client, std::uint64_t chunks, std::uint64_t from, std::uint64_t to,
                                    bool& disturbed) noexcept;

  std::byte* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::byte* pool_ = nullptr;
  std::uint64_t chunks_ = 0, chunk_bytes_ = 0;
  std::atomic<std::uint16_t>* owners_ = nullptr;  ///< owner of each chunk: client + 1; 0: free
};

}  // namespace sidestream::shared_memory
