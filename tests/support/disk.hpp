// A disk that is watched, that fills up, or whose flushes fail. System calls that change files are replaced for the
// files of one directory (disk.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sidestream::testing {

/// A call that changed a file, or a remark of the test.
struct DiskOperation {
  enum class What : std::uint32_t { create, write, flush, flush_names, rename, remove, cut, note };
  What what = What::note;
  std::uint64_t when = 0;    ///< nanoseconds of the machine's clock, after the call
  std::uint64_t offset = 0;  ///< of a write; the new length of a truncated file; the number of a note
  std::string file;          ///< its name in the directory; the text of a note
  std::string bytes;         ///< contents of a write; the new name
};

/// Watches the files directly in a directory while it lives. Only one may exist in a process, and only one thread may
/// call.
class WatchedDisk {
 public:
  explicit WatchedDisk(const std::string& directory);
  ~WatchedDisk();
  WatchedDisk(const WatchedDisk&) = delete;
  WatchedDisk& operator=(const WatchedDisk&) = delete;

  /// After `bytes` more the disk is full: writes are cut short, then fail with ENOSPC. A new file costs one byte.
  static void set_room(std::uint64_t bytes);
  static void set_endless_room();
  /// True if a call has failed since the room was set.
  [[nodiscard]] static bool was_full();
  /// The `n`-th flush from now on, and all after it, fail with EIO. With 0 none fails.
  static void fail_flush(std::uint64_t n);
  static void note(const std::string& text, std::uint64_t number = 0);
  /// The operations since the last call.
  [[nodiscard]] static std::vector<DiskOperation> take();
};

}  // namespace sidestream::testing
