// Ensures that an output directory has one run at a time.
#pragma once

#include <memory>
#include <string>

namespace sidestream {

/// The right to write into a directory: a hidden file with a lock that the system releases when the process ends, even
/// by a crash.
class DirectoryLock {
 public:
  /// Creates the directory if needed and takes the lock `name` in it. Throws Error(file), with the holder's process and
  /// host, if another process or another session of this one holds it.
  DirectoryLock(const std::string& directory, const std::string& name);
  /// Releases the lock and removes the file.
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  [[nodiscard]] bool try_take(const std::string& directory);

  std::string path_;
  int descriptor_ = -1;
};

/// True if a process or session holds that lock. False also if that cannot be determined.
[[nodiscard]] bool is_locked(const std::string& directory, const std::string& name);

}  // namespace sidestream
