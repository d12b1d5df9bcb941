// The writer `hdf5`.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// One file per server and iteration with the blocks as they are, and one file that shows each variable as
/// one array over the whole mesh by pointing into those (HDF5's virtual datasets).
[[nodiscard]] WriterKind hdf5_writer();

}  // namespace sidestream
