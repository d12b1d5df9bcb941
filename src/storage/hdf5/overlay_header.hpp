// A file of raw values that is an HDF5 file too.
#pragma once

#include <cstdint>
#include <string>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::hdf5 {

/// The first `face_bytes` bytes of a file of `size` bytes, which make it an HDF5 file with an array for each type,
/// `int8` to `float64`: the bytes behind them, taken as that type, as many as there are whole ones. In the oldest
/// format of HDF5. Throws Error(file).
[[nodiscard]] Bytes face_of(std::uint64_t size, std::uint64_t face_bytes, const std::string& path);

}  // namespace sidestream::hdf5
