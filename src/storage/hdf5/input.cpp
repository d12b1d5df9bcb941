// Reading HDF5 files of others: names, shapes, parts of arrays and attributes.
//
// Each call opens the object by its path and closes it again. Files may be damaged or come from other programs: types
// are converted by HDF5 where they are numbers, and shapes and lengths are checked before memory is allocated. Faults
// are Error(file) with path and object.
#include "storage/hdf5/input.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sidestream/data/array.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/hdf5/properties.hpp"

namespace sidestream::hdf5 {

namespace {

constexpr std::uint64_t most_values_of_attribute = 1 << 20;

Handle open_object(const Handle& file, const std::string& name, const std::string& path) {
  const std::string action = fmt::format("open '{}' of", name);
  return {H5Oopen(file.id(), name.c_str(), H5P_DEFAULT), H5Oclose, action, path};
}

hid_t open_input(const std::string& path) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) fail_hdf5("open", path, "it is damaged, was cut off, or is being written");
  return file;
}

Extents extents_of(hid_t space, const std::string& path) {
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0) fail_hdf5("read the shape of an array of", path);
  Extents extents(static_cast<std::size_t>(rank));
  check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), "read the shape of an array of", path);
  return extents;
}

std::optional<Type> type_of(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  if (H5Tget_class(type) == H5T_FLOAT) return size <= 4 ? Type::float32 : Type::float64;
  if (H5Tget_class(type) != H5T_INTEGER) return std::nullopt;
  const bool has_sign = H5Tget_sign(type) != H5T_SGN_NONE;
  switch (size) {
    case 1:
      return has_sign ? Type::int8 : Type::uint8;
    case 2:
      return has_sign ? Type::int16 : Type::uint16;
    case 4:
      return has_sign ? Type::int32 : Type::uint32;
    case 8:
      return has_sign ? Type::int64 : Type::uint64;
    default:
      return std::nullopt;
  }
}

std::size_t count_of(const Handle& attribute, const std::string& action, const std::string& path) {
  const Handle space(H5Aget_space(attribute.id()), H5Sclose, action, path);
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  if (count < 0) fail_hdf5(action, path);
  if (static_cast<std::uint64_t>(count) > most_values_of_attribute) {
    fail(Code::file, "cannot {} '{}': it has {} values, expected at most {}", action, path, count,
         most_values_of_attribute);
  }
  return static_cast<std::size_t>(count);
}

extern "C" {

// No exception may go through HDF5.
static herr_t keep_name(hid_t, const char* name, const H5L_info_t*, void* to) noexcept {
  try {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  } catch (...) {
    return -1;
  }
}

static herr_t keep_array(hid_t, const char* name, const H5O_info_t* info, void* to) noexcept {
  return info->type == H5O_TYPE_DATASET ? keep_name(-1, name, nullptr, to) : 0;
}

}  // extern "C"

}  // namespace

bool is_hdf5(const std::string& path) {
  const QuietErrors quiet;
  return H5Fis_hdf5(path.c_str()) > 0;
}

InputFile::InputFile(const std::string& path) : path_(path), file_(open_input(path), H5Fclose, "open", path) {}

bool InputFile::has(const std::string& object) const {
  if (object == "/") return true;
  // H5Lexists checks only the last name of a path, so each prefix is checked.
  for (std::size_t at = object.find_first_not_of('/'); at < object.size();) {
    const std::size_t end = std::min(object.find('/', at), object.size());
    if (H5Lexists(file_.id(), object.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    at = object.find_first_not_of('/', end);
  }
  return H5Oexists_by_name(file_.id(), object.c_str(), H5P_DEFAULT) > 0;
}

bool InputFile::is_group(const std::string& object) const {
  if (!has(object)) return false;
  const Handle opened = open_object(file_, object, path_);
  return H5Iget_type(opened.id()) == H5I_GROUP;
}

std::vector<std::string> InputFile::names(const std::string& group) const {
  const Handle opened = open_object(file_, group, path_);
  std::vector<std::string> found;
  check(H5Literate(opened.id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, keep_name, &found),
        fmt::format("list '{}' of", group), path_);
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> InputFile::arrays(const std::string& group) const {
  const Handle opened = open_object(file_, group, path_);
  std::vector<std::string> found;
  check(H5Ovisit2(opened.id(), H5_INDEX_NAME, H5_ITER_NATIVE, keep_array, &found, H5O_INFO_BASIC),
        fmt::format("list '{}' of", group), path_);
  for (std::string& name : found) name = group + (group.back() == '/' ? "" : "/") + name;
  std::sort(found.begin(), found.end());
  return found;
}

Shape InputFile::shape(const std::string& array) const {
  const std::string action = fmt::format("open the array '{}' of", array);
  const Handle opened(H5Dopen2(file_.id(), array.c_str(), H5P_DEFAULT), H5Dclose, action, path_);
  const Handle space(H5Dget_space(opened.id()), H5Sclose, action, path_);
  const Handle type(H5Dget_type(opened.id()), H5Tclose, action, path_);
  return {extents_of(space.id(), path_), type_of(type.id())};
}

void InputFile::read(const std::string& array, const Part& part, Type type, std::span<std::byte> out) const {
  const std::string action = fmt::format("read the array '{}' of", array);
  std::uint64_t values = 1;
  for (const hsize_t extent : part.size) values *= extent;
  if (values * size_of(type) != out.size()) {
    fail(Code::internal, "{} bytes for {} values of '{}'", out.size(), values, array);
  }
  const Handle opened(H5Dopen2(file_.id(), array.c_str(), H5P_DEFAULT), H5Dclose, action, path_);
  const Handle space(H5Dget_space(opened.id()), H5Sclose, action, path_);
  const Extents extents = extents_of(space.id(), path_);
  bool inside = extents.size() == part.size.size();
  for (std::size_t n = 0; inside && n < extents.size(); ++n) inside = part.start[n] + part.size[n] <= extents[n];
  if (!inside) fail(Code::file, "cannot {} '{}': it is smaller than the file says elsewhere", action, path_);
  if (!part.size.empty()) select(space, part, path_);
  const Handle memory = dataspace(part.size, path_);
  if (H5Dread(opened.id(), native_type(type), memory.id(), space.id(), H5P_DEFAULT, out.data()) < 0) {
    fail_hdf5(
        action, path_,
        "it is damaged, or it needs a plug-in of HDF5, whose folder the environment variable HDF5_PLUGIN_PATH names");
  }
}

bool InputFile::has_attribute(const std::string& object, const std::string& name) const {
  return has(object) && H5Aexists_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

Handle InputFile::open_attribute(const std::string& object, const std::string& name) const {
  if (!has_attribute(object, name)) {
    fail(Code::file, "'{}': '{}' has no attribute '{}'", path_, object, name);
  }
  const std::string action = fmt::format("read the attribute '{}' of '{}' of", name, object);
  return {H5Aopen_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, action, path_};
}

std::optional<Type> InputFile::attribute_type(const std::string& object, const std::string& name) const {
  const Handle attribute = open_attribute(object, name);
  const std::string action = fmt::format("read the attribute '{}' of '{}' of", name, object);
  return type_of(Handle(H5Aget_type(attribute.id()), H5Tclose, action, path_).id());
}

template <class T>
std::vector<T> InputFile::read_attribute(const std::string& object, const std::string& name, Type type) const {
  const Handle attribute = open_attribute(object, name);
  const std::string action = fmt::format("read the attribute '{}' of '{}' of", name, object);
  const Handle stored(H5Aget_type(attribute.id()), H5Tclose, action, path_);
  if (!type_of(stored.id())) fail(Code::file, "'{}': the attribute '{}' of '{}' is no number", path_, name, object);
  std::vector<T> values(count_of(attribute, action, path_));
  if (values.empty()) return values;  // HDF5 needs a buffer even for zero values
  check(H5Aread(attribute.id(), native_type(type), values.data()), action, path_);
  return values;
}

std::vector<double> InputFile::numbers(const std::string& object, const std::string& name) const {
  return read_attribute<double>(object, name, Type::float64);
}

std::vector<std::int64_t> InputFile::integers(const std::string& object, const std::string& name) const {
  return read_attribute<std::int64_t>(object, name, Type::int64);
}

std::vector<std::string> InputFile::texts(const std::string& object, const std::string& name) const {
  const Handle attribute = open_attribute(object, name);
  const std::string action = fmt::format("read the attribute '{}' of '{}' of", name, object);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose, action, path_);
  if (H5Tget_class(type.id()) != H5T_STRING) {
    fail(Code::file, "'{}': the attribute '{}' of '{}' is no text", path_, name, object);
  }
  const std::size_t count = count_of(attribute, action, path_);
  std::vector<std::string> found;
  if (count == 0) return found;  // HDF5 needs a buffer even for zero values
  if (H5Tis_variable_str(type.id()) > 0) {
    std::vector<char*> values(count, nullptr);
    check(H5Aread(attribute.id(), type.id(), static_cast<void*>(values.data())), action, path_);
    for (char* value : values) {
      found.emplace_back(value == nullptr ? "" : value);
      H5free_memory(value);
    }
    return found;
  }
  const std::size_t width = H5Tget_size(type.id());
  std::string all(count * width, '\0');
  check(H5Aread(attribute.id(), type.id(), all.data()), action, path_);
  for (std::size_t n = 0; n < count; ++n) {
    std::string text = all.substr(n * width, width);
    text.resize(std::min(text.find('\0'), text.size()));
    text.resize(text.find_last_not_of(' ') + 1);
    found.push_back(std::move(text));
  }
  return found;
}

}  // namespace sidestream::hdf5
