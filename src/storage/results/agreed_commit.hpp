// How the files that several servers wrote of one iteration become visible together.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sidestream/extend/writer.hpp"
#include "storage/results/series.hpp"

namespace sidestream {

/// What `action` threw, as text; empty if it returned.
[[nodiscard]] std::string failure_of(const std::function<void()>& action);

/// The files of one writer on one server between `write` and `commit` of an iteration.
class PendingFiles {
 public:
  explicit PendingFiles(std::shared_ptr<const OutputDirectory> directory) : directory_(std::move(directory)) {}
  /// Discards what was not committed.
  ~PendingFiles() { discard(); }
  PendingFiles(const PendingFiles&) = delete;
  PendingFiles& operator=(const PendingFiles&) = delete;

  /// Notes that `path` will be written and returns the temporary file to write it to.
  [[nodiscard]] std::string begin(const std::string& path);
  /// For the `index` of commit: lets `put` write `path` and gives it its name at once. Undone with the others if
  /// anything fails later. Throws what `put` throws and Error(file).
  void place(const std::string& path, const std::function<void(const std::string& temporary)>& put);
  /// For the `index` of commit, when all files have their names: enters `path` in an index, which is undone with the
  /// others too. Throws what Series::add throws.
  void enter(Series& series, const Iteration& iteration, const std::string& path);
  /// Removes the temporary files. Never throws.
  void discard() noexcept;
  /// Collective. Names this server's files; when all servers have, `index` runs on rank 0 with the partials of all
  /// servers. If anything fails anywhere, every name is on all servers as it was before, files that
  /// had been replaced included, and all throw the same Error(file). What a communication throws (memory, a member that
  /// failed elsewhere) does the same and is passed on. A crash in between leaves files without an index.
  void commit(Communicator& servers, std::span<const Bytes> partials,
              const std::function<void(const std::vector<Bytes>& partials)>& index);
  /// The same where writing them may have failed here: `failure` says how, empty: not.
  void commit(Communicator& servers, std::span<const Bytes> partials, const std::string& failure,
              const std::function<void(const std::vector<Bytes>& partials)>& index);

 private:
  struct File {
    std::string path, temporary;
    bool complete = false;  ///< has been written to its temporary name
    bool replaces = false;  ///< what stood under its name is kept until all is well
  };
  static void keep_old(File& file);
  void name_files();
  void undo() noexcept;
  void forget_old() noexcept;

  std::shared_ptr<const OutputDirectory> directory_;
  std::vector<File> files_;
  std::vector<Series*> entered_;
};

}  // namespace sidestream
