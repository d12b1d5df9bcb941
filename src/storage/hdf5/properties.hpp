// Property lists and dataspaces: how HDF5 passes options and shapes.
#pragma once

#include <string>

#include "storage/hdf5/file.hpp"

namespace sidestream::hdf5 {

/// A property list of a class (H5P_DATASET_CREATE, ...). For what creates objects, times of day are switched
/// off.
[[nodiscard]] Handle property_list(hid_t list_class, const std::string& path);
[[nodiscard]] Handle dataspace(const Extents& extents, const std::string& path);  ///< empty: a single value
void select(const Handle& space, const Part& part, const std::string& path);
/// The identifier belongs to HDF5.
[[nodiscard]] hid_t native_type(Type type);
/// UTF-8 text of any length.
[[nodiscard]] Handle text_type(const std::string& path);
/// Throws through fail_hdf5 if `status` is negative.
void check(herr_t status, std::string_view action, const std::string& path);

}  // namespace sidestream::hdf5
