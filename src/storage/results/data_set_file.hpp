// Data sets as HDF5.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// `.h5`: a dataset for each array; docs/formats.md describes them. Pieces get a file that shows the arrays as wholes.
[[nodiscard]] ResultFormat hdf5_format();

}  // namespace sidestream
