// Atomic commit of the files that several servers wrote in one iteration.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

class Series;
class SeriesSet;

/// The text of the exception that `action` threw; empty if it returned.
[[nodiscard]] std::string failure_of(const std::function<void()>& action);

/// Number of rounds in which `size` servers write, with at most `writers` at a time (0: all).
[[nodiscard]] inline int rounds_of_writing(int size, int writers) noexcept {
  return writers < 1 ? 1 : (size + writers - 1) / writers;
}

/// Calls `write`, which must not throw, on every member, on at most `writers` of them at a time (0: all). Collective.
/// Members wait for each other after each round. So a member that has nothing to write or fails delays nobody, and a
/// missing member is noticed as in any other communication. A waiting server receives from its clients.
inline void take_turns(Communicator& servers, int writers, const std::function<void()>& write) {
  const int rounds = rounds_of_writing(servers.size(), writers);
  for (int round = 0; round < rounds; ++round) {
    if (round > 0) servers.barrier();
    // Neighbours, often on one node, write in different rounds.
    if (servers.rank() % rounds == round) write();
  }
}

/// The files of one writer on one server between `write` and `commit` of an iteration.
class PendingFiles {
 public:
  explicit PendingFiles(std::shared_ptr<const OutputDirectory> directory) : directory_(std::move(directory)) {}
  /// Discards uncommitted files.
  ~PendingFiles() { discard(); }
  PendingFiles(const PendingFiles&) = delete;
  PendingFiles& operator=(const PendingFiles&) = delete;

  /// Registers `path` for writing and returns the temporary file to write to.
  [[nodiscard]] std::string begin(const std::string& path);
  /// Lets `put` write `path` and renames it at once; for use in `index` of commit. If anything fails later, this is
  /// undone together with the other files. Throws the exceptions of `put` and Error(file).
  void place(const std::string& path, const std::function<void(const std::string& temporary)>& put);
  /// Enters `path` in the index over time of the files named by `pattern`; for use in `index` of commit, when all files
  /// have their names. This is undone with the other files, too. Throws Error(file).
  void enter(const std::string& pattern, const Iteration& iteration, const std::string& path);
  /// Does that in an index of the caller's.
  void enter(Series& series, const Iteration& iteration, const std::string& path);
  /// Removes the temporary files. Never throws.
  void discard() noexcept;
  /// Renames the files of all servers. Collective. Then `index` runs on rank 0 with the partials of all servers. If
  /// anything fails anywhere, all servers restore every name, including those of replaced files, and throw the same
  /// Error(file). An exception of the communication (memory, a member that failed elsewhere) has the same effect and is
  /// passed on. A crash in between leaves files without an index.
  void commit(Communicator& servers, std::span<const Bytes> partials,
              const std::function<void(const std::vector<Bytes>& partials)>& index);
  /// Commits if writing may have failed here. `failure`: the reason, or empty.
  void commit(Communicator& servers, std::span<const Bytes> partials, const std::string& failure,
              const std::function<void(const std::vector<Bytes>& partials)>& index);

 private:
  struct File {
    std::string path, temporary;
    bool complete = false;  ///< written to its temporary name
    bool replaces = false;  ///< the file that it replaces is kept until the commit succeeds
  };
  static void keep_old(File& file);
  void name_files();
  void undo() noexcept;
  void forget_old() noexcept;

  std::shared_ptr<const OutputDirectory> directory_;
  std::vector<File> files_;
  std::vector<Series*> entered_;
  std::shared_ptr<SeriesSet> series_{};  ///< made when a file is entered by its pattern
};

}  // namespace sidestream
