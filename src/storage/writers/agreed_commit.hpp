// How the files that several servers wrote of one iteration become visible together.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// The files of one writer on one server between `write` and `commit` of an iteration.
class PendingFiles {
 public:
  explicit PendingFiles(std::shared_ptr<const OutputDirectory> directory) : directory_(std::move(directory)) {}

  /// Notes that `path` will be written and returns the temporary file to write it to.
  [[nodiscard]] std::string begin(const std::string& path);
  /// Removes the temporary files. Never throws.
  void discard() noexcept;
  /// Collective. Names this server's files; when all servers have, `index` runs on rank 0 with what `write`
  /// returned on all servers. If anything fails anywhere, every server removes the files it has just named
  /// and all throw the same Error(file). A crash in between leaves files without an index.
  void commit(const CombineInput& input, const std::function<void(const std::vector<Bytes>& partials)>& index);

 private:
  [[nodiscard]] std::string name_files() noexcept;
  void remove_files() noexcept;

  std::shared_ptr<const OutputDirectory> directory_;
  std::vector<std::string> paths_;
};

}  // namespace sidestream
