// What the library's own output directory can do beyond the contract.
#pragma once

#include <string>
#include <vector>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

class BatchDirectory : public OutputDirectory {
 public:
  /// As `commit` of each, at less cost: flushes all files, names all, then flushes each directory once. Throws
  /// Error(file); those whose temporary file is gone have been named then.
  virtual void commit_all(const std::vector<std::string>& paths) const = 0;
  /// Whether what the run goes on with is of its own session: servers before these left it.
  [[nodiscard]] virtual bool within_session() const noexcept = 0;
};

/// BatchDirectory::within_session where the directory has it.
[[nodiscard]] inline bool goes_on_within_session(const OutputDirectory& directory) noexcept {
  const auto* batch = dynamic_cast<const BatchDirectory*>(&directory);
  return batch && batch->within_session();
}

/// commit_all where the directory has it, otherwise one by one.
inline void commit_all(const OutputDirectory& directory, const std::vector<std::string>& paths) {
  if (const auto* batch = dynamic_cast<const BatchDirectory*>(&directory)) return batch->commit_all(paths);
  for (const std::string& path : paths) directory.commit(path);
}

}  // namespace sidestream
