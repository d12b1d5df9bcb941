#include "storage/hdf5/properties.hpp"

#include <fmt/format.h>

#include <limits>

namespace sidestream::hdf5 {

void Object::set_attribute(const std::string& name, hid_t type, const Extents& extents, const void* values) {
  const std::string action = fmt::format("write the attribute '{}' in", name);
  const Handle space = dataspace(extents, path_);
  Handle attribute(H5Acreate2(handle_.id(), name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, action,
                   path_);
  // HDF5 1.10 refuses to write zero values from a null pointer.
  if (values != nullptr) check(H5Awrite(attribute.id(), type, values), action, path_);
  attribute.close(action, path_);
}

void Object::set(const std::string& name, std::int64_t value) {
  set_attribute(name, native_type(Type::int64), {}, &value);
}

void Object::set(const std::string& name, double value) { set_attribute(name, native_type(Type::float64), {}, &value); }

void Object::set_lowest(const std::string& name, Type type) {
  with_type(type, [&](auto zero) {
    const auto lowest = std::numeric_limits<decltype(zero)>::lowest();
    set_attribute(name, native_type(type), {}, &lowest);
  });
}

void Object::set(const std::string& name, const std::string& value) {
  const char* text = value.c_str();
  set_attribute(name, text_type(path_).id(), {}, &text);
}

void Object::set_ascii(const std::string& name, const std::string& value) {
  const std::string action = "make a type of text for";
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, action, path_);
  check(H5Tset_size(type.id(), value.size()), action, path_);
  check(H5Tset_strpad(type.id(), H5T_STR_NULLPAD), action, path_);
  set_attribute(name, type.id(), {}, value.data());
}

void Object::set(const std::string& name, std::span<const std::int64_t> values) {
  set_attribute(name, native_type(Type::int64), {values.size()}, values.data());
}

void Object::set(const std::string& name, std::span<const std::int64_t> values, std::size_t width) {
  set_attribute(name, native_type(Type::int64), {values.size() / width, width}, values.data());
}

void Object::set(const std::string& name, std::span<const double> values) {
  set_attribute(name, native_type(Type::float64), {values.size()}, values.data());
}

void Object::set(const std::string& name, const std::vector<std::string>& values) {
  std::vector<const char*> texts;
  for (const auto& value : values) texts.push_back(value.c_str());
  set_attribute(name, text_type(path_).id(), {values.size()}, texts.data());
}

}  // namespace sidestream::hdf5
