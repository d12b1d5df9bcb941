// Where a client puts blocks that find no room in the buffer (`when_full: spill`): a file on the node, used as a ring.
// docs/spilling.md has the states.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "sidestream/extend/transport.hpp"
#include "transport/shared_memory/spill/spill_places.hpp"

namespace sidestream::shared_memory {

/// The number of this memory in messages; 0 is the buffer.
inline constexpr std::uint32_t spill_segment = 1;

/// In front of the values of each block in the file. Little more than what the server knows already: that it is this
/// block of this iteration, and whole.
struct SpillHeader {
  std::uint64_t magic = 0;
  std::int64_t iteration = 0;
  std::int64_t block = 0;
  std::int32_t variable = 0;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;
  std::uint64_t values = 0;  ///< checksum of the values
  std::uint64_t unused = 0;
  std::uint64_t header = 0;  ///< checksum of what is before
};
static_assert(sizeof(SpillHeader) == 64);
inline constexpr std::uint64_t spill_magic = 0x4c4c495053534453ull;  // "SDSSPILL"

struct FreeAligned {
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t(64)); }
};
/// For values: as those of the buffer, on a cache line.
using AlignedBytes = std::unique_ptr<std::byte[], FreeAligned>;
[[nodiscard]] AlignedBytes aligned_bytes(std::uint64_t bytes);

/// One thread. Regions are memory of this process, which is written to the file when they are committed.
class SpillFile {
 public:
  /// A new file in `directory` that takes at most `size` bytes. Throws Error(system).
  SpillFile(const std::string& directory, std::uint64_t size);
  /// Removes the file; whoever has it open reads on.
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Memory for a block, with a place in the file that is there already: nothing if there is none, since the file is
  /// full, or the disk, which is said once.
  [[nodiscard]] std::optional<Region> reserve(std::uint64_t bytes);
  /// Whether a block could ever be put there.
  [[nodiscard]] bool fits(std::uint64_t bytes) const noexcept;
  [[nodiscard]] bool has(const Region& region) const noexcept { return regions_.contains(region.data); }
  /// Writes the region's values; returns where they lie. Throws Error(system) with path and reason; the region is then
  /// as before.
  [[nodiscard]] std::uint64_t commit(const BlockRecord& record, const Region& region, bool hold,
                                     std::int64_t iteration);
  void clear(const Region& region);
  void release_upto(std::int64_t count) { places_.release_upto(count); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
  /// Keeps the memory of all regions in place.
  [[nodiscard]] std::shared_ptr<const void> memory() const noexcept { return memory_; }

 private:
  struct Entry {
    std::uint64_t offset = 0, bytes = 0, capacity = 0;
    bool committed = false;
  };
  /// Memory of regions, and some that was used last. Outlives the file where somebody still looks at it.
  struct Memory {
    std::map<const std::byte*, AlignedBytes> used;
    std::map<std::uint64_t, AlignedBytes> idle;  ///< by size
  };
  [[nodiscard]] bool grow(std::uint64_t end);
  [[nodiscard]] std::byte* take_memory(std::uint64_t bytes, std::uint64_t& capacity);
  void free_region(const std::byte* data);

  std::string path_;
  Descriptor file_;
  SpillPlaces places_;
  std::uint64_t grown_ = 0, written_ = 0;
  bool full_said_ = false;
  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
  std::map<const std::byte*, Entry> regions_;
};

}  // namespace sidestream::shared_memory
