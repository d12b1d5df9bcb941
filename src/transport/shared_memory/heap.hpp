// A client's allocator: cuts regions for blocks from its homes and from chunks that it borrows. It lives in the
// client's own memory; only the Arena is shared.
//
// An extent (a home, or a run of chunks) serves one iteration at a time. It is free when that iteration is released and
// no region in it is reserved or held. An iteration uses at most one home: the first that is free when it needs memory.
// It fills this home as far as possible, then borrows: first one run of the size that the last iteration needed, then
// runs for single blocks.
//
// No client waits for ever. When all earlier iterations are released and none of their regions is held, a home is free
// or already belongs to this iteration, and an iteration that reserves no more than a home fits in it. Releasing the
// earlier iterations needs nothing from this client. So a client whose reservation fails waits for its own earlier
// iterations only. If the reservation still fails once these are released, the wait could be endless: the memory may
// belong to a client that waits for this one in the simulation. `stuck` reports that case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sidestream/extend/transport.hpp"
#include "transport/shared_memory/arena.hpp"

namespace sidestream::shared_memory {

/// Allocates regions for one thread. Tickets of regions are valid until clear, retire, or a commit without hold.
class ClientHeap {
 public:
  ClientHeap(Arena& arena, int client);
  /// Gives all borrowed memory back to the arena, even if servers still read it: destroy it after they are done.
  ~ClientHeap();
  ClientHeap(const ClientHeap&) = delete;
  ClientHeap& operator=(const ClientHeap&) = delete;

  /// Begins iteration `index`, which must be larger than any before. Iteration 0 has begun at construction.
  void begin_iteration(std::int64_t index);
  /// Releases iterations below `count`, which no server reads any more, and frees their memory.
  void release_upto(std::int64_t count);

  /// Reserves memory in the current iteration, aligned to 64 bytes, from 4 KiB up to pages; its contents are undefined.
  /// Returns nothing if there is no room now. `persistent`: for an array that outlives iterations; taken from the
  /// client's keep, or else borrowed. 0 bytes give a region with a valid address and no bytes.
  [[nodiscard]] std::optional<Region> reserve(std::uint64_t bytes, bool persistent = false);
  /// Prefetches the state that the next `reserve` reads, and the memory that it is likely to return.
  void prefetch() const noexcept;
  /// After a reserve that found no room: true if no release of this client's earlier iterations can change that. The
  /// iteration is then larger than a home, or arrays of an earlier one are held; `why` tells which.
  [[nodiscard]] bool stuck() const noexcept;
  [[nodiscard]] const char* why() const noexcept;

  /// Assigns the region's values to the current iteration. Without `hold` the ticket becomes invalid, and the region is
  /// freed with the iteration. With `hold` it is not freed before `clear`. Persistent regions stay until `retire`;
  /// `hold` works as above.
  void commit(const Region& region, bool hold);
  /// Gives back an uncommitted region (free at once), or ends the hold on a committed one.
  void clear(const Region& region);
  /// Retires a persistent region that the current iteration replaces. It is freed when all earlier iterations, which
  /// may read it, are released.
  void retire(const Region& region);

  /// Offset of the region from the arena's begin, the same in every process.
  [[nodiscard]] std::uint64_t offset(const Region& region) const noexcept {
    return static_cast<std::uint64_t>(region.data - arena_.begin());
  }
  /// Bytes in use or waiting for release, in whole extents; tests look for leaks.
  [[nodiscard]] std::uint64_t bytes_used() const noexcept { return used_; }

 private:
  /// Memory that is cut into regions: small ones from the bottom, whole pages from the top.
  struct Gap {
    std::byte *begin, *end;
  };
  struct Extent {
    enum class Kind : std::uint8_t { none, home, keep, run };
    std::byte *begin = nullptr, *end = nullptr;   ///< the whole extent
    std::byte *bottom = nullptr, *top = nullptr;  ///< the part that was never cut or has come back
    std::int64_t iteration = -1;                  ///< the latest iteration that uses it; -1: none
    std::uint32_t pins = 0;                       ///< number of regions that are reserved or held
    Kind kind = Kind::none;
    std::uint64_t first_chunk = 0;  ///< first chunk of a run
    std::vector<Gap> gaps;          ///< regions that were given back, by address
  };
  struct Slot {
    std::byte *begin = nullptr, *end = nullptr;
    std::uint32_t extent = 0;
    std::uint32_t generation = 0;  ///< part of the ticket, so that a stale one is detected
    bool used = false, committed = false, held = false, persistent = false;
    std::int64_t retired = -1;  ///< the iteration that replaced it
  };

  [[nodiscard]] static std::byte* cut(Extent& extent, std::uint64_t bytes) noexcept;
  static void put_back(Extent& extent, std::byte* begin, std::byte* end);
  [[nodiscard]] std::byte* cut_for_iteration(std::uint64_t bytes, std::uint32_t& extent);
  [[nodiscard]] std::byte* cut_persistent(std::uint64_t bytes, std::uint32_t& extent);
  [[nodiscard]] std::optional<std::uint32_t> acquire_home();
  [[nodiscard]] std::optional<std::uint32_t> acquire_run(std::uint64_t bytes);
  [[nodiscard]] std::uint32_t new_extent(std::byte* begin, std::uint64_t bytes, Extent::Kind kind);
  void free_if_unused(std::uint32_t extent);
  [[nodiscard]] Region new_slot(std::byte* begin, std::uint64_t bytes, std::uint64_t footprint, std::uint32_t extent,
                                bool persistent);
  [[nodiscard]] Slot& slot_of(const Region& region);
  void free_slot(Slot& slot);
  void free_persistent_if_unused(Slot& slot);

  static constexpr std::uint32_t none = UINT32_MAX;

  Arena& arena_;
  int client_;
  std::vector<Extent> extents_;            ///< homes, the keep, then runs; places of runs are reused
  std::vector<std::uint32_t> idle_;        ///< places in extents_ without an extent
  std::vector<std::uint32_t> idle_homes_;  ///< the last one freed is reused first, because its pages are the warmest
  std::vector<std::uint32_t> runs_;        ///< runs of the current iteration
  std::uint32_t home_ = none;              ///< home of the current iteration
  std::uint32_t keep_ = none;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> idle_slots_;
  std::vector<std::uint32_t> retired_;  ///< slots of persistent regions to be freed
  std::int64_t current_ = 0, released_ = 0;
  std::uint64_t footprint_ = 0;  ///< bytes cut in the current iteration
  std::uint64_t expected_ = 0;   ///< footprint of the last iteration that used memory
  std::uint64_t hint_ = 0;       ///< chunk of the run freed last; borrowed next, because its pages are the warmest
  std::uint64_t used_ = 0;
};

}  // namespace sidestream::shared_memory
