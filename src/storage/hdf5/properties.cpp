#include "storage/hdf5/properties.hpp"

namespace sidestream::hdf5 {

void check(herr_t status, std::string_view action, const std::string& path) {
  if (status < 0) fail_hdf5(action, path);
}

Handle property_list(hid_t list_class, const std::string& path) {
  Handle list(H5Pcreate(list_class), H5Pclose, "set up", path);
  if (list_class == H5P_FILE_CREATE || list_class == H5P_GROUP_CREATE || list_class == H5P_DATASET_CREATE) {
    check(H5Pset_obj_track_times(list.id(), false), "set up", path);
  }
  return list;
}

Handle dataspace(const Extents& extents, const std::string& path) {
  if (extents.empty()) return {H5Screate(H5S_SCALAR), H5Sclose, "describe a value in", path};
  const int rank = static_cast<int>(extents.size());
  return {H5Screate_simple(rank, extents.data(), nullptr), H5Sclose, "describe an array in", path};
}

void select(const Handle& space, const Part& part, const std::string& path) {
  check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, part.start.data(), nullptr, part.size.data(), nullptr),
        "choose a part of an array in", path);
}

hid_t native_type(Type type) {
  switch (type) {
    case Type::int8:
      return H5T_NATIVE_INT8;
    case Type::int16:
      return H5T_NATIVE_INT16;
    case Type::int32:
      return H5T_NATIVE_INT32;
    case Type::int64:
      return H5T_NATIVE_INT64;
    case Type::uint8:
      return H5T_NATIVE_UINT8;
    case Type::uint16:
      return H5T_NATIVE_UINT16;
    case Type::uint32:
      return H5T_NATIVE_UINT32;
    case Type::uint64:
      return H5T_NATIVE_UINT64;
    case Type::float32:
      return H5T_NATIVE_FLOAT;
    case Type::float64:
      break;
  }
  return H5T_NATIVE_DOUBLE;
}

Handle element_type(const Element& element, const std::string& path) {
  const std::string action = "describe numbers in";
  if (!element.is_half) return {H5Tcopy(native_type(element.type)), H5Tclose, action, path};
  // Binary16: a sign, five bits of exponent with a bias of 15, ten bits of fraction and a hidden one.
  Handle type(H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose, action, path);
  check(H5Tset_fields(type.id(), 15, 10, 5, 0, 10), action, path);
  check(H5Tset_size(type.id(), 2), action, path);
  check(H5Tset_ebias(type.id(), 15), action, path);
  return type;
}

Handle text_type(const std::string& path) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "describe a text in", path);
  check(H5Tset_size(type.id(), H5T_VARIABLE), "describe a text in", path);
  check(H5Tset_cset(type.id(), H5T_CSET_UTF8), "describe a text in", path);
  return type;
}

}  // namespace sidestream::hdf5
