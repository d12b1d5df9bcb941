// A client's allocator: cuts regions for blocks from its homes and from chunks that it borrows. Lives in the
// client's own memory; only the Arena is shared.
//
// An extent (a home, or a run of chunks) is used by one iteration at a time and is free when that iteration
// is released and no region in it is still reserved or held. An iteration uses at most one home: the first
// that is free when the iteration needs memory, and it uses it for all it can. Beyond it, it borrows: at
// first one run for all that the last iteration needed, then runs for single blocks.
//
// Why nobody waits for ever: when all earlier iterations are released and nothing of them is held, a home is
// free or already this iteration's, and an iteration that reserves no more than a home fits in it. Releasing
// the earlier iterations needs nothing from this client. So a client whose reservation fails waits for its
// own earlier iterations and for nothing else; when these are released and it still fails, waiting may be for
// ever (what it lacks may be with a client that waits for this one in the simulation itself), and `stuck`
// says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sidestream/extend/transport.hpp"
#include "transport/shared_memory/arena.hpp"

namespace sidestream::shared_memory {

/// One thread. Tickets of regions are valid until clear, retire, or a commit without hold.
class ClientHeap {
 public:
  ClientHeap(Arena& arena, int client);
  /// Gives everything borrowed back to the arena, also what servers may still be reading: destroy after they
  /// are done.
  ~ClientHeap();
  ClientHeap(const ClientHeap&) = delete;
  ClientHeap& operator=(const ClientHeap&) = delete;

  /// What follows belongs to iteration `index`, larger than any before. Iteration 0 has begun at
  /// construction.
  void begin_iteration(std::int64_t index);
  /// Iterations below `count` are released: no server reads them any more. Frees what they used.
  void release_upto(std::int64_t count);

  /// Memory in the current iteration, 64-byte aligned, from 4 KiB up page-aligned; contents undefined.
  /// Nothing if there is no room now. `persistent`: for an array that outlives iterations; from the client's
  /// keep, or else borrowed. 0 bytes give a region with a valid address and no bytes.
  [[nodiscard]] std::optional<Region> reserve(std::uint64_t bytes, bool persistent = false);
  /// Fetches into the cache what the next `reserve` looks at, and the memory that it is likely to give.
  void prefetch() const noexcept;
  /// After a reserve that found no room: true if no release of this client's earlier iterations can change
  /// that, i.e. the iteration is larger than a home, or arrays of an earlier one are held. `why` tells which.
  [[nodiscard]] bool stuck() const noexcept;
  [[nodiscard]] const char* why() const noexcept;

  /// The region's values belong to the current iteration. Without `hold` the ticket is spent and the region
  /// is freed with the iteration; with it, not before `clear`. Persistent regions stay until `retire`; `hold`
  /// works as above.
  void commit(const Region& region, bool hold);
  /// Gives back a region that was not committed (free at once), or ends the hold on one that was.
  void clear(const Region& region);
  /// A persistent region was replaced by what the current iteration brings: it is freed when all earlier
  /// ones, which may read it, are released.
  void retire(const Region& region);

  /// Where the region starts, from the arena's begin: the same in every process.
  [[nodiscard]] std::uint64_t offset(const Region& region) const noexcept {
    return static_cast<std::uint64_t>(region.data - arena_.begin());
  }
  /// Bytes in use or waiting for release, in whole extents: tests look for leaks.
  [[nodiscard]] std::uint64_t bytes_used() const noexcept { return used_; }

 private:
  /// Memory that is cut into regions: small ones from the bottom, whole pages from the top.
  struct Gap {
    std::byte *begin, *end;
  };
  struct Extent {
    enum class Kind : std::uint8_t { none, home, keep, run };
    std::byte *begin = nullptr, *end = nullptr;   ///< all of it
    std::byte *bottom = nullptr, *top = nullptr;  ///< what was never cut, or has come back
    std::int64_t iteration = -1;                  ///< the latest that uses it; -1: none
    std::uint32_t pins = 0;                       ///< regions reserved or held
    Kind kind = Kind::none;
    std::uint64_t first_chunk = 0;  ///< of a run
    std::vector<Gap> gaps;          ///< regions that were given back, in order of address
  };
  struct Slot {
    std::byte *begin = nullptr, *end = nullptr;
    std::uint32_t extent = 0;
    std::uint32_t generation = 0;  ///< part of the ticket, so that a stale one is noticed
    bool used = false, committed = false, held = false, persistent = false;
    std::int64_t retired = -1;  ///< the iteration that replaced it
  };

  [[nodiscard]] static std::byte* cut(Extent& extent, std::uint64_t bytes) noexcept;
  static void put_back(Extent& extent, std::byte* begin, std::byte* end);
  [[nodiscard]] std::byte* cut_for_iteration(std::uint64_t bytes, std::uint32_t& extent);
  [[nodiscard]] std::byte* cut_persistent(std::uint64_t bytes, std::uint32_t& extent);
  [[nodiscard]] std::optional<std::uint32_t> take_home();
  [[nodiscard]] std::optional<std::uint32_t> take_run(std::uint64_t bytes);
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
  std::vector<Extent> extents_;            ///< homes, the keep, then runs; places of runs are used again
  std::vector<std::uint32_t> idle_;        ///< places in extents_ without an extent
  std::vector<std::uint32_t> idle_homes_;  ///< the last one freed is taken first: its pages are the warmest
  std::vector<std::uint32_t> runs_;        ///< of the current iteration
  std::uint32_t home_ = none;              ///< of the current iteration
  std::uint32_t keep_ = none;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> idle_slots_;
  std::vector<std::uint32_t> retired_;  ///< slots of persistent regions to be freed
  std::int64_t current_ = 0, released_ = 0;
  std::uint64_t footprint_ = 0;  ///< cut in the current iteration
  std::uint64_t expected_ = 0;   ///< footprint of the last iteration that used memory
  std::uint64_t hint_ = 0;       ///< chunk of the run freed last: borrowed next, its pages are the warmest
  std::uint64_t used_ = 0;
};

}  // namespace sidestream::shared_memory
