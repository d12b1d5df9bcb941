// Results of an earlier run in the output directory, which this run replaces.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sidestream/extend/writer.hpp"
#include "storage/files/output_file.hpp"

namespace sidestream {

/// Removes the results of an earlier run. This run may be shorter or have fewer servers, and results of both would be
/// mixed. Removes the files that the indices over time of `patterns` list, with the pieces, blocks and servers' own
/// files of each. Removes these indices, too. Also removes tables and other files without an iteration in their name,
/// and the lists of pieces that `formats` may write for them. For a pattern of the output `vtk`, the indices of each of
/// `meshes` and of every ending count. Files that no index lists stay. Files that cannot be removed stay, too, and
/// cause a warning. Not collective: one process calls it before any other writes.
void remove_earlier_results(const OutputDirectory& directory, const std::vector<std::string>& patterns,
                            const std::vector<std::string>& meshes, const std::map<std::string, ResultFormat>& formats);

// Selection of table rows and index entries when a run resumes.

/// Decides which entries of an earlier run are kept when a run resumes. Another run counts its iterations from 0, so
/// its entries are compared by cycle. Earlier servers of the same session count like these servers, so an entry with a
/// lower index is theirs, even if it has the cycle of the first iteration here. Rows of an earlier run may precede
/// theirs, so within a session either criterion keeps an entry.
class ResumeFilter {
 public:
  /// `first`: the first iteration of this run.
  ResumeFilter(const OutputDirectory& directory, const Iteration& first)
      : first_(first), within_session_(goes_on_within_session(directory)) {}

  [[nodiscard]] bool keeps(std::int64_t index, std::int64_t cycle) const noexcept {
    return cycle < first_.cycle || (within_session_ && index < first_.index);
  }
  [[nodiscard]] const Iteration& first() const noexcept { return first_; }

 private:
  Iteration first_;
  bool within_session_;
};

}  // namespace sidestream
