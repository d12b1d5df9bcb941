// An output directory that names many files at the price of few.
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
};

/// commit_all where the directory has it, otherwise one by one.
inline void commit_all(const OutputDirectory& directory, const std::vector<std::string>& paths) {
  if (const auto* batch = dynamic_cast<const BatchDirectory*>(&directory)) return batch->commit_all(paths);
  for (const std::string& path : paths) directory.commit(path);
}

}  // namespace sidestream
