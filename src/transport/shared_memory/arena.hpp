// The node's buffer: a home for every client, and a pool that all clients borrow from.
//
//   | table | home 0 | home 1 | ... | chunk 0 | chunk 1 | ...
//
// The table says where homes are and who has each chunk of the pool. One owner word per chunk, not one bit: a
// chunk is then taken by a single compare-and-swap that also says by whom, so that a process killed at any
// instruction leaves no chunk that nobody owns or that nobody can reclaim. Taking a 64 MiB run costs a few
// microseconds that way, the copy into it some thousands.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sidestream::shared_memory {

/// What one client has to itself, in bytes; each is rounded up to whole pages.
struct Extents {
  std::uint64_t home = 0;   ///< one home: all that the client publishes in one iteration (see block_footprint)
  std::uint32_t homes = 1;  ///< how many such; 2 if the client keeps arrays of one iteration while it fills the next
  std::uint32_t reserved = 0;
  std::uint64_t keep = 0;  ///< for arrays that outlive iterations; twice their size if they are ever replaced
};

/// What a block of `bytes` bytes takes in an extent: regions start at cache lines, big ones at pages.
[[nodiscard]] constexpr std::uint64_t block_footprint(std::uint64_t bytes) noexcept {
  const std::uint64_t unit = bytes >= 4096 ? 4096 : 64;
  return bytes == 0 ? 64 : (bytes + unit - 1) & ~(unit - 1);
}

/// What an iteration needs as a home if its blocks have these sizes, in whatever order they come.
[[nodiscard]] std::uint64_t home_footprint(std::span<const std::uint64_t> block_bytes) noexcept;

/// One client's, or a server's, view of the buffer. All calls are lock-free and none waits.
class Arena {
 public:
  /// Bytes that `table_bytes + homes + keeps` take: a buffer must be at least this long.
  [[nodiscard]] static std::uint64_t minimum_bytes(std::span<const Extents> clients) noexcept;

  /// Lays `bytes` bytes at `memory` (aligned to 4096, zeroed) out. One process calls it, before any `open`.
  /// At most 65534 clients. Throws Error(full) with the sizes if the clients' own extents do not fit.
  static void create(std::byte* memory, std::uint64_t bytes, std::span<const Extents> clients);

  /// Looks at an arena that `create` made. Throws Error(system) if there is none.
  explicit Arena(std::byte* memory);

  /// Takes `chunks` neighbouring chunks for `client`: the first free run at or after `hint`, else from the
  /// start. Nothing if there is no such run. While others take chunks in the same place it may miss a run
  /// that comes free meanwhile.
  [[nodiscard]] std::optional<std::uint64_t> borrow(int client, std::uint64_t chunks, std::uint64_t hint) noexcept;
  /// Gives back chunks that `client` borrowed. Chunks that are not its own are left alone.
  void give_back(int client, std::uint64_t first, std::uint64_t chunks) noexcept;

  [[nodiscard]] int clients() const noexcept;
  [[nodiscard]] std::uint64_t chunk_bytes() const noexcept { return chunk_bytes_; }
  [[nodiscard]] std::uint64_t chunks() const noexcept { return chunks_; }
  [[nodiscard]] std::byte* chunk(std::uint64_t n) const noexcept { return pool_ + n * chunk_bytes_; }
  /// The extents of a client, rounded, and where they are: homes one after the other, then its keep.
  [[nodiscard]] Extents extents(int client) const noexcept;
  [[nodiscard]] std::byte* home(int client, std::uint32_t n) const noexcept;
  [[nodiscard]] std::byte* keep(int client) const noexcept;
  /// Offsets of the whole that mean the same in every process.
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
  std::atomic<std::uint16_t>* owners_ = nullptr;  ///< client + 1, 0: free
};

}  // namespace sidestream::shared_memory
