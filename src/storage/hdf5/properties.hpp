// Property lists and dataspaces: options and shapes in HDF5. Headers for files of raw values.
#pragma once

#include <cstdint>
#include <string>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/storage/hdf5/file.hpp"

namespace sidestream::hdf5 {

/// Creates a property list of a class (H5P_DATASET_CREATE, ...). Lists for objects switch time stamps off.
[[nodiscard]] Handle property_list(hid_t list_class, const std::string& path);
[[nodiscard]] Handle dataspace(const Extents& extents, const std::string& path);  ///< empty extents: a scalar
void select(const Handle& space, const Part& part, const std::string& path);
/// The HDF5 type of a number. HDF5 owns the identifier.
[[nodiscard]] hid_t native_type(Type type);
/// The type of an element, the same in memory and in the file, so that HDF5 converts nothing.
[[nodiscard]] Handle element_type(const Element& element, const std::string& path);
/// Type of UTF-8 text of any length.
[[nodiscard]] Handle text_type(const std::string& path);
/// Throws through fail_hdf5 if `status` is negative.
void check(herr_t status, std::string_view action, const std::string& path);

// An HDF5 header for a file of raw values, which then also opens as HDF5.

/// Returns the first `overlay_bytes` bytes of a file of `size` bytes. They make it an HDF5 file (in the oldest format)
/// with an array for each type, `int8` to `float64`. Each array shows the bytes behind the header as whole elements of
/// its type. Throws Error(file).
[[nodiscard]] Bytes overlay_header(std::uint64_t size, std::uint64_t overlay_bytes, const std::string& path);

}  // namespace sidestream::hdf5
