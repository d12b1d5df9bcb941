// File on a node for a client's blocks that find no room in the buffer (`when_full: spill`).
//
// It is used as a ring; docs/shared-memory.md has the states. The server reads blocks back (SpillReader) when the turn
// of their iteration comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/run_log.hpp"
#include "sidestream/extend/transport.hpp"
#include "sidestream/kit/base/files.hpp"

namespace sidestream::shared_memory {

/// A new file with a unique name in `directory`, for this process and its children only. It stays locked while any of
/// them has it open, so that others know that it is in use. Throws Error(system) with the path.
struct OwnedFile {
  Descriptor descriptor;
  std::string path;
};
[[nodiscard]] OwnedFile create_spill_file(const std::string& directory);

/// Removes files of this user in `directory` whose processes have ended, and names them in a warning. Also warns if the
/// directory is in memory. Throws Error(system) if the directory can be neither made nor read.
void prepare_spill_folder(const std::string& directory);

/// Allocates places in [0, size), without files or memory; for one thread. A place belongs to the iteration in which it
/// is committed. It is free when that iteration is released and all places before it are free.
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

/// Number of this memory in messages; 0 is the buffer.
inline constexpr std::uint32_t spill_segment = 1;

/// Header of the values of each block in the file. It lets the server verify that this is the expected block of this
/// iteration, and complete.
struct SpillHeader {
  std::uint64_t magic = 0;
  std::int64_t iteration = 0;
  std::int64_t block = 0;
  std::int32_t variable = 0;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;
  std::uint64_t values = 0;  ///< checksum of the values
  std::uint64_t unused = 0;
  std::uint64_t header = 0;  ///< checksum of the fields before
};
static_assert(sizeof(SpillHeader) == 64);
inline constexpr std::uint64_t spill_magic = 0x4c4c495053534453ull;  // "SDSSPILL"

struct FreeAligned {
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t(64)); }
};
/// Memory for values, aligned to a cache line as in the buffer.
using AlignedBytes = std::unique_ptr<std::byte[], FreeAligned>;
[[nodiscard]] AlignedBytes aligned_bytes(std::uint64_t bytes);

/// Owns the file; for one thread. Regions are memory of this process, which is written to the file when they are
/// committed.
class SpillFile {
 public:
  /// Creates a file in `directory` that takes at most `size` bytes. Throws Error(system).
  SpillFile(const std::string& directory, std::uint64_t size);
  /// Removes the file; processes that have it open can still read it.
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Returns memory for a block, whose place in the file is allocated already. Returns nothing if the file or the disk
  /// is full; a full disk is reported once.
  [[nodiscard]] std::optional<Region> reserve(std::uint64_t bytes);
  /// True if a block of this size can ever be stored.
  [[nodiscard]] bool fits(std::uint64_t bytes) const noexcept;
  [[nodiscard]] bool has(const Region& region) const noexcept { return regions_.contains(region.data); }
  /// Writes the region's values and returns their offset. Throws Error(system) with path and reason; the region is then
  /// unchanged.
  [[nodiscard]] std::uint64_t commit(const BlockRecord& record, const Region& region, bool hold,
                                     std::int64_t iteration);
  void clear(const Region& region);
  void release_upto(std::int64_t count) { places_.release_upto(count); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
  /// Keeps the memory of all regions alive.
  [[nodiscard]] std::shared_ptr<const void> memory() const noexcept { return memory_; }

 private:
  struct Entry {
    std::uint64_t offset = 0, bytes = 0, capacity = 0;
    bool committed = false;
  };
  /// Memory of regions, used and recently freed. Outlives the file while others still refer to it.
  struct Memory {
    std::map<const std::byte*, AlignedBytes> used;
    std::map<std::uint64_t, AlignedBytes> idle;  ///< idle memory by size
  };
  [[nodiscard]] bool grow(std::uint64_t end);
  [[nodiscard]] std::byte* take_memory(std::uint64_t bytes, std::uint64_t& capacity);
  void free_region(const std::byte* data);

  std::shared_ptr<RunLog> log_ = current_log();  ///< log of the session that made the file
  std::string path_;
  Descriptor file_;
  SpillPlaces places_;
  std::uint64_t grown_ = 0, written_ = 0;
  bool full_said_ = false;
  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
  std::map<const std::byte*, Entry> regions_;
};

/// Reads the spill files of all clients of a server; for one thread.
class SpillReader {
 public:
  /// Registers a block of `client` at `offset` of its file, which is entry `number` of the inbox of `iteration`.
  void add(std::int64_t iteration, std::size_t client, std::uint64_t offset, std::size_t number);
  /// Reads all spilled blocks of the iteration and puts their addresses into its inbox. `path_of`: a client's file.
  /// Returns what is wrong with one, empty if nothing. After bad_alloc it may be called again and continues. Later
  /// calls do nothing.
  [[nodiscard]] std::string load(std::int64_t iteration, Inbox& inbox,
                                 const std::function<std::string(std::size_t client)>& path_of);
  /// Forgets the iteration and frees its memory.
  void drop(std::int64_t iteration) { waiting_.erase(iteration), loaded_.erase(iteration); }
  [[nodiscard]] bool waits(std::int64_t iteration) const { return waiting_.contains(iteration); }

 private:
  struct Entry {
    std::size_t client;
    std::uint64_t offset;
    std::size_t number;
  };
  [[nodiscard]] int file_of(std::size_t client, const std::string& path);
  void read(const Entry& entry, std::int64_t iteration, Inbox& inbox, const std::string& path);

  std::map<std::int64_t, std::vector<Entry>> waiting_;
  std::map<std::int64_t, std::vector<AlignedBytes>> loaded_;
  std::map<std::size_t, Descriptor> files_;
};

}  // namespace sidestream::shared_memory
