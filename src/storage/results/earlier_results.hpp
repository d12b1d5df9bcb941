// What an earlier run has left in the output directory, where a run replaces it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sidestream/extend/writer.hpp"
#include "storage/files/output_file.hpp"

namespace sidestream {

/// Removes what the indices over time that belong to `patterns` list, with the pieces, blocks and servers' own files of
/// each, and the indices: a run that replaces an earlier one may be shorter, or have fewer servers, and results of both
/// would lie side by side. So would tables and other files without an iteration in their name, if this run delivered
/// nothing: these, and the lists of pieces that `formats` may write for them, are removed too. Of a pattern that the
/// output `vtk` takes, the indices of each of `meshes` and of every ending count. Files that no index lists stay, and
/// so does what cannot be removed, which a warning says. Not collective: one process calls it before any other writes.
void remove_earlier_results(const OutputDirectory& directory, const std::vector<std::string>& patterns,
                            const std::vector<std::string>& meshes, const std::map<std::string, ResultFormat>& formats);

// What stays of tables and indices that a run goes on with.

/// Tells what this run is about to do again from what was there before it. Another run counts its iterations from 0, so
/// that its entries are told apart by cycle. Servers before these in one session counted as these do: an iteration of a
/// lower index was theirs, also if it has the cycle of the first one here. Rows of an earlier run may lie before
/// theirs, so that within a session either of both keeps an entry.
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
