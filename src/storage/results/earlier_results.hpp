// What an earlier run has left in the output directory, where a run replaces it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// Removes what the indices over time that belong to `patterns` list, with the pieces, blocks and servers' own files of
/// each, and the indices: a run that replaces an earlier one may be shorter, or have fewer servers, and results of both
/// would lie side by side. So would tables and other files without an iteration in their name, if this run delivered
/// nothing: these, and the lists of pieces that `formats` may write for them, are removed too. Of a pattern that the
/// output `vtk` takes, the indices of each of `meshes` and of every ending count. Files that no index lists stay, and
/// so does what cannot be removed, which a warning says. Not collective: one process calls it before any other writes.
void remove_earlier_results(const OutputDirectory& directory, const std::vector<std::string>& patterns,
                            const std::vector<std::string>& meshes, const std::map<std::string, ResultFormat>& formats);

}  // namespace sidestream
