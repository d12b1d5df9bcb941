// Builds an HDF5 header so that a file of raw values can also be opened as HDF5.
#pragma once

#include <cstdint>
#include <string>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::hdf5 {

/// Returns the first `face_bytes` bytes of a file of `size` bytes. They make it an HDF5 file (in the oldest format)
/// with an array for each type, `int8` to `float64`. Each array shows the bytes behind the header as whole elements of
/// its type. Throws Error(file).
[[nodiscard]] Bytes face_of(std::uint64_t size, std::uint64_t face_bytes, const std::string& path);

}  // namespace sidestream::hdf5
