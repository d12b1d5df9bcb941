#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <limits>

#include "storage/hdf5/properties.hpp"

namespace sidestream::hdf5 {

namespace {

void apply(const Layout& layout, const Handle& creation, const std::string& path) {
  // Every value is written, so fill values would double the writing.
  check(H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER), "set up", path);
  if (layout.placed) check(H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY), "set up", path);
  if (layout.chunk.empty()) return;
  const int rank = static_cast<int>(layout.chunk.size());
  check(H5Pset_chunk(creation.id(), rank, layout.chunk.data()), "set up chunks in", path);
  if (layout.shuffle) check(H5Pset_shuffle(creation.id()), "set up compression in", path);
  if (layout.deflate > 0) {
    check(H5Pset_deflate(creation.id(), static_cast<unsigned>(layout.deflate)), "set up compression in", path);
  }
  if (layout.packed.number != 0) {
    // Optional, since this process lacks the plug-in.
    const std::vector<unsigned>& parameters = layout.packed.parameters;
    check(H5Pset_filter(creation.id(), static_cast<H5Z_filter_t>(layout.packed.number), H5Z_FLAG_OPTIONAL,
                        parameters.size(), parameters.data()),
          "set up compression in", path);
  }
  if (layout.checksum) check(H5Pset_fletcher32(creation.id()), "set up checksums in", path);
}

constexpr std::uint16_t half_nan = 0x7e00;

void set_fill(const Handle& creation, const Element& element, Fill fill, const std::string& path) {
  const Handle type = element_type(element, path);
  with_type(element.type, [&](auto value) {
    using T = decltype(value);
    if constexpr (std::numeric_limits<T>::has_quiet_NaN) value = std::numeric_limits<T>::quiet_NaN();
    if (fill == Fill::lowest) value = std::numeric_limits<T>::lowest();
    if constexpr (std::same_as<T, std::uint16_t>) value = element.is_half ? half_nan : value;
    check(H5Pset_fill_value(creation.id(), type.id(), &value), "set up", path);
  });
}

/// Escapes a source name of a virtual dataset. HDF5 reads it as a format: %b is a block's number, %% a percent sign.
std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

Handle create(const Handle& parent, const std::string& name, const Element& element, const Extents& extents,
              const Handle& creation, const std::string& path) {
  const Handle space = dataspace(extents, path);
  const Handle type = element_type(element, path);
  const std::string action = fmt::format("create the array '{}' in", name);
  return {H5Dcreate2(parent.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
          H5Dclose, action, path};
}

}  // namespace

Dataset Group::dataset(const std::string& name, Element element, const Extents& extents, const Layout& layout) {
  const Handle creation = property_list(H5P_DATASET_CREATE, path_);
  apply(layout, creation, path_);
  return {create(handle_, name, element, extents, creation, path_), path_};
}

Dataset Group::virtual_dataset(const std::string& name, Element element, const Extents& extents,
                               std::span<const VirtualPart> parts, Fill fill) {
  const Handle creation = property_list(H5P_DATASET_CREATE, path_);
  if (fill != Fill::zero) set_fill(creation, element, fill, path_);
  const Handle here = dataspace(extents, path_);
  for (const VirtualPart& part : parts) {
    select(here, part.here, path_);
    const Handle there = dataspace(part.extents, path_);
    select(there, part.there, path_);
    check(
        H5Pset_virtual(creation.id(), here.id(), escaped(part.file).c_str(), escaped(part.dataset).c_str(), there.id()),
        fmt::format("point to '{}' from", part.file), path_);
  }
  return {create(handle_, name, element, extents, creation, path_), path_};
}

void Dataset::write(Element element, const Part& part, std::span<const std::byte> values) {
  const Handle memory = dataspace(part.size, path_);
  const Handle file(H5Dget_space(handle_.id()), H5Sclose, "ask for the extents of an array in", path_);
  select(file, part, path_);
  const Handle type = element_type(element, path_);
  check(H5Dwrite(handle_.id(), type.id(), memory.id(), file.id(), H5P_DEFAULT, values.data()), "write to", path_);
}

void Dataset::write_chunk(const Extents& start, std::span<const std::byte> bytes, std::uint32_t skipped) {
  check(H5Dwrite_chunk(handle_.id(), H5P_DEFAULT, skipped, start.data(), bytes.size(), bytes.data()), "write to",
        path_);
}

std::uint64_t Dataset::place() const {
  const haddr_t place = H5Dget_offset(handle_.id());
  if (place == HADDR_UNDEF) fail_hdf5("ask for the place of an array in", path_);
  return place;
}

std::uint32_t fletcher32(std::span<const std::byte> bytes) noexcept {
  std::uint32_t first = 0, second = 0;
  const auto folded = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  for (std::size_t n = 0; n < bytes.size(); n += 2) {
    const auto high = static_cast<std::uint32_t>(bytes[n]) << 8;
    const auto low = n + 1 < bytes.size() ? static_cast<std::uint32_t>(bytes[n + 1]) : 0;
    first = folded(first + (high | low));
    second = folded(second + first);
  }
  return second << 16 | first;
}

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

void Object::set_int32(const std::string& name, std::int32_t value) {
  set_attribute(name, native_type(Type::int32), {}, &value);
}

void Object::set_missing(const std::string& name, Type type) {
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::numeric_limits<T>::has_quiet_NaN) zero = std::numeric_limits<T>::quiet_NaN();
    if constexpr (!std::numeric_limits<T>::has_quiet_NaN) zero = std::numeric_limits<T>::lowest();
    set_attribute(name, native_type(type), {}, &zero);
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
  const bool is_ascii =
      std::all_of(value.begin(), value.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  if (!is_ascii) check(H5Tset_cset(type.id(), H5T_CSET_UTF8), action, path_);
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
