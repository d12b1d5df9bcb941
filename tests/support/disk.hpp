// A disk that is watched, that fills up, or whose flushes fail: the system's calls that change files, replaced for the
// files of one directory (disk.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sidestream::testing {

/// One call that changed a file, or a remark of the test's.
struct DiskOperation {
  enum class What : std::uint32_t { create, write, flush, flush_names, rename, remove, cut, note };
  What what = What::note;
  std::uint64_t when = 0;    ///< nanoseconds of the machine's clock, after the call
  std::uint64_t offset = 0;  ///< of a write; the new length of what is cut; whatever a note says
  std::string file;          ///< its name in the directory; what a note says
  std::string bytes;         ///< of a write; the new name
};

/// Watches the files directly in a directory from its making on. One at a time in a process; calls of one thread.
class WatchedDisk {
 public:
  explicit WatchedDisk(const std::string& directory);
  ~WatchedDisk();
  WatchedDisk(const WatchedDisk&) = delete;
  WatchedDisk& operator=(const WatchedDisk&) = delete;

  /// After `bytes` more the disk is full: writes come short, then fail with ENOSPC. A new file costs one byte.
  static void set_room(std::uint64_t bytes);
  static void set_endless_room();
  /// True if a call has failed since the room was set.
  [[nodiscard]] static bool was_full();
  /// The `n`-th flush from now on, and all after it, fail with EIO; 0: none does.
  static void fail_flush(std::uint64_t n);
  static void note(const std::string& text, std::uint64_t number = 0);
  /// What happened since the last call.
  [[nodiscard]] static std::vector<DiskOperation> take();
};

}  // namespace sidestream::testing
