// The writer `vtk`.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// One file per block and iteration, one per mesh and iteration that lists those, and an index over time.
[[nodiscard]] WriterKind vtk_writer();

/// The patterns of the files that list blocks, one for each mesh: `file` is what the settings say.
[[nodiscard]] std::vector<std::string> vtk_list_files(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream
