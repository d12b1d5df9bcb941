// The output directory of a session and its results.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// Starting point of a run: nothing, the results of an earlier run, or those of earlier servers of the same session.
enum class GoesOnWith { nothing, run, session };

/// Opens the directory under `root` (created if missing). Not collective; call it on every server. `provenance`: see
/// OutputDirectory. Without `flush`, commit does not wait for the disk.
[[nodiscard]] std::shared_ptr<const OutputDirectory> open_output_directory(const std::string& root,
                                                                           const std::string& provenance,
                                                                           GoesOnWith what = GoesOnWith::nothing,
                                                                           bool flush = true);

/// Makes the Results that `combine` gets. The file's ending selects the format from the registry. On other ranks than
/// 0, the results accept everything and store nothing. If the directory resumes, existing tables and series are
/// continued: entries of iterations at or after the first one of this run are dropped, others kept (see ResumeFilter).
class ResultStore {
 public:
  virtual ~ResultStore() = default;
  [[nodiscard]] virtual std::unique_ptr<Results> begin(const Iteration& iteration) = 0;
};
[[nodiscard]] std::unique_ptr<ResultStore> make_result_store(const Registry& registry,
                                                             std::shared_ptr<const OutputDirectory> directory,
                                                             int rank);

}  // namespace sidestream
