// One run at a time in an output directory.
#pragma once

#include <memory>
#include <string>

namespace sidestream {

/// The right to write into a directory, held by a hidden file with a lock on it that the system drops when its process
/// ends, however it ends.
class DirectoryLock {
 public:
  /// Makes the directory if need be and takes the lock `name` in it. Throws Error(file), with the holder's process and
  /// host, if another process or another session of this one holds it.
  DirectoryLock(const std::string& directory, const std::string& name);
  /// Gives it back; the file is gone then.
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  [[nodiscard]] bool try_take(const std::string& directory);

  std::string path_;
  int descriptor_ = -1;
};

/// Whether somebody holds that lock. False also where that cannot be known.
[[nodiscard]] bool is_locked(const std::string& directory, const std::string& name);

}  // namespace sidestream
