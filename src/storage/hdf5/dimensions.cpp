#include "sidestream/kit/storage/hdf5/dimensions.hpp"

#include <fmt/format.h>

#include "storage/hdf5/properties.hpp"

namespace sidestream::hdf5 {

namespace {

hobj_ref_t reference_to(const Handle& object, const std::string& path) {
  hobj_ref_t reference = 0;
  check(H5Rcreate(&reference, object.id(), ".", H5R_OBJECT, -1), "refer to an array of", path);
  return reference;
}

}  // namespace

/// Marks a dataset as a scale. HDF5's library wants texts with a zero at their end here.
void Dimensions::mark(Dataset& scale, const std::string& name) {
  for (const auto& [attribute, text] :
       {std::pair<std::string, std::string>("CLASS", "DIMENSION_SCALE"), {"NAME", name}}) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "describe dimensions in", scale.path_);
    check(H5Tset_size(type.id(), text.size() + 1), "describe dimensions in", scale.path_);
    scale.set_attribute(attribute, type.id(), {}, text.c_str());
  }
  scale.set_int32("_Netcdf4Dimid", static_cast<std::int32_t>(scales_.size()));
}

void Dimensions::add(const std::string& name, Dataset scale) {
  mark(scale, name);
  scales_.emplace(name, Scale{std::move(scale), {}});
}

void Dimensions::add(const std::string& name, hsize_t length) {
  Dataset scale = root_.virtual_dataset(name, Type::float32, {length}, {}, Fill::zero);
  // netCDF recognises a dimension without positions by this text.
  mark(scale, fmt::format("This is a netCDF dimension but not a netCDF variable.{:10}", length));
  scales_.emplace(name, Scale{std::move(scale), {}});
}

void Dimensions::attach(Dataset& array, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const hobj_ref_t user = reference_to(array.handle_, array.path_);
  std::vector<hobj_ref_t> scales;
  for (const std::string& name : names) {
    Scale& scale = scales_.at(name);
    scale.users.push_back({user, static_cast<std::int32_t>(scales.size())});
    scales.push_back(reference_to(scale.dataset.handle_, array.path_));
  }
  // For each axis a list of its scales; netCDF has one scale for each.
  std::vector<hvl_t> lists;
  for (hobj_ref_t& scale : scales) lists.push_back({1, &scale});
  const Handle type(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose, "describe dimensions in", array.path_);
  array.set_attribute("DIMENSION_LIST", type.id(), {lists.size()}, lists.data());
}

void Dimensions::finish() {
  for (auto& [name, scale] : scales_) {
    if (scale.users.empty()) continue;
    const std::string& path = scale.dataset.path_;
    const Handle type(H5Tcreate(H5T_COMPOUND, sizeof(User)), H5Tclose, "describe dimensions in", path);
    check(H5Tinsert(type.id(), "dataset", HOFFSET(User, array), H5T_STD_REF_OBJ), "describe dimensions in", path);
    check(H5Tinsert(type.id(), "dimension", HOFFSET(User, axis), H5T_NATIVE_INT), "describe dimensions in", path);
    scale.dataset.set_attribute("REFERENCE_LIST", type.id(), {scale.users.size()}, scale.users.data());
  }
  scales_.clear();
}

}  // namespace sidestream::hdf5
