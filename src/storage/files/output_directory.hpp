// The output directory of a session and the results in it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// What a run goes on with: nothing, what an earlier run left, or what other servers left of the session it belongs to.
enum class GoesOnWith { nothing, run, session };

/// The directory under `root` (created if missing). Not collective; call it on every server. `provenance`:
/// see OutputDirectory. Without `flush` commit does not wait for the disk.
[[nodiscard]] std::shared_ptr<const OutputDirectory> open_output_directory(const std::string& root,
                                                                           const std::string& provenance,
                                                                           GoesOnWith what = GoesOnWith::nothing,
                                                                           bool flush = true);

/// Makes the Results that `combine` gets. The formats are taken from the registry by the file's ending. On
/// ranks other than 0 the results accept everything and keep nothing. Where the directory resumes, tables and series
/// that exist are continued: entries of iterations at or after the first one of this run are dropped, others kept (see
/// ResumeFilter).
class ResultStore {
 public:
  virtual ~ResultStore() = default;
  [[nodiscard]] virtual std::unique_ptr<Results> begin(const Iteration& iteration) = 0;
};
[[nodiscard]] std::unique_ptr<ResultStore> make_result_store(const Registry& registry,
                                                             std::shared_ptr<const OutputDirectory> directory,
                                                             int rank);

}  // namespace sidestream
