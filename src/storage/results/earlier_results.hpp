// Results of an earlier run in the output directory, which this run replaces.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sidestream/extend/writer.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

/// Removes the results of an earlier run. This run may be shorter or have fewer servers, and results of both would be
/// mixed. Removes the files that the indices over time of `patterns` list, or listed before a resumed run dropped them,
/// with the pieces, blocks and servers' own files of each. Removes these indices, too. Also removes tables and other
/// files without an iteration in their name, the lists of pieces that `formats` may write for them, and stores that
/// hold all iterations (Zarr, ADIOS2). For a pattern of the output `vtk`, the indices of each of
/// `meshes` and of every ending count. Files that no index lists stay. Files that cannot be removed stay, too, and
/// cause a warning. Not collective: one process calls it before any other writes.
void remove_earlier_results(const OutputDirectory& directory, const std::vector<std::string>& patterns,
                            const std::vector<std::string>& meshes, const std::map<std::string, ResultFormat>& formats);

}  // namespace sidestream
