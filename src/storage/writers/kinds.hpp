// The outputs that come with Sidestream.
#pragma once

#include <memory>

#include "sidestream/extend/codec.hpp"
#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// The output `database`; docs/database.md describes it.
[[nodiscard]] WriterKind database_writer(std::shared_ptr<const CodecKinds> codecs);

// The writer `hdf5`.

/// One file per server and iteration with the blocks as they are, and one file that shows each variable as
/// one array over the whole mesh by pointing into those (HDF5's virtual datasets).
[[nodiscard]] WriterKind hdf5_writer();

// The writer `metadata`.

/// One file an iteration that says what exists and where, for `sidestream plan`.
[[nodiscard]] WriterKind metadata_writer();

// The writer `vtk`.

/// One file per block and iteration, one per mesh and iteration that lists those, and an index over time.
[[nodiscard]] WriterKind vtk_writer();

/// The patterns of the files that list blocks, one for each mesh: `file` is what the settings say.
[[nodiscard]] std::vector<std::string> vtk_list_files(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream
