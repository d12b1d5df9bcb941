// The outputs that come with Sidestream.
#pragma once

#include <memory>

#include "sidestream/extend/codec.hpp"
#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// The output `database`; docs/database.md describes it.
[[nodiscard]] WriterKind database_writer(std::shared_ptr<const CodecKinds> codecs);

// The writer `hdf5`.

/// Writes one file per server and iteration with the blocks. Another file shows each variable as one array over the
/// whole mesh (HDF5's virtual datasets).
[[nodiscard]] WriterKind hdf5_writer();

// The writer `metadata`.

/// Writes one file per iteration that lists meshes, variables and blocks, for `sidestream plan`.
[[nodiscard]] WriterKind metadata_writer();

// The writer `vtk`.

/// Writes one file per block and iteration, one per mesh and iteration that lists those, and an index over time.
[[nodiscard]] WriterKind vtk_writer();

/// The patterns of the files that list blocks, one per mesh. `settings` are those of the writer.
[[nodiscard]] std::vector<std::string> vtk_list_files(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream
