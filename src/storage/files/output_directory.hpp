// The output directory of a session: its results, and the lock that lets one run at a time write there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file_rules.hpp"
#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// The right to write into a directory: a hidden file with a lock, which the system releases when the process ends,
/// even by a crash.
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

/// Starting point of a run: nothing, an earlier run's results, or the results of earlier servers of the same session.
enum class Continuation { nothing, run, session };

/// Opens the directory under `root` (created if missing). Not collective; call it on every server. `provenance`: see
/// OutputDirectory. Without `flush`, commit does not wait for the disk. `speaks`: true on one server, which logs
/// messages that concern all.
[[nodiscard]] std::shared_ptr<const OutputDirectory> open_output_directory(
    const std::string& root, const std::string& provenance, Continuation what = Continuation::nothing,
    bool flush = true, const FileRules& rules = {}, bool speaks = true);

// Abilities of this directory beyond the contract.

/// Calls Striping::create with the rules of the run; false for other directories.
bool stripe_file(const OutputDirectory& directory, const std::string& made, const std::string& path);

/// The temporary file for `path`, which exists already if it is to have stripes.
[[nodiscard]] std::string begin_file(const OutputDirectory& directory, const std::string& path);

/// Commits all paths. In the library's own directory this costs less: it flushes all files, renames them, then flushes
/// each directory once. Throws Error(file); a file whose temporary is gone has then been renamed.
void commit_all(const OutputDirectory& directory, const std::vector<std::string>& paths);

}  // namespace sidestream
