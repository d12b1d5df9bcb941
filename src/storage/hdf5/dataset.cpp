#include "storage/hdf5/properties.hpp"

#include <fmt/format.h>

#include <limits>

namespace sidestream::hdf5 {

namespace {

void apply(const Layout& layout, const Handle& creation, const std::string& path) {
  // Every value is written, so filling the space first would write everything twice.
  check(H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER), "set up", path);
  if (layout.chunk.empty()) return;
  const int rank = static_cast<int>(layout.chunk.size());
  check(H5Pset_chunk(creation.id(), rank, layout.chunk.data()), "set up chunks in", path);
  if (layout.deflate > 0) {
    // Shuffling groups bytes of the same significance, which makes real numbers compressible.
    check(H5Pset_shuffle(creation.id()), "set up compression in", path);
    check(H5Pset_deflate(creation.id(), static_cast<unsigned>(layout.deflate)), "set up compression in", path);
  }
  if (layout.checksum) check(H5Pset_fletcher32(creation.id()), "set up checksums in", path);
}

void set_fill(const Handle& creation, Type type, const std::string& path) {
  with_type(type, [&](auto value) {
    using T = decltype(value);
    if constexpr (std::numeric_limits<T>::has_quiet_NaN) value = std::numeric_limits<T>::quiet_NaN();
    check(H5Pset_fill_value(creation.id(), native_type(type), &value), "set up", path);
  });
}

/// Escapes a source name of a virtual dataset. HDF5 reads it as a format: %b is a block's number, %% a percent sign.
std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

Handle create(const Handle& parent, const std::string& name, Type type, const Extents& extents, const Handle& creation,
              const std::string& path) {
  const Handle space = dataspace(extents, path);
  const std::string action = fmt::format("create the array '{}' in", name);
  return {H5Dcreate2(parent.id(), name.c_str(), native_type(type), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
          H5Dclose, action, path};
}

}  // namespace

Dataset Group::dataset(const std::string& name, Type type, const Extents& extents, const Layout& layout) {
  const Handle creation = property_list(H5P_DATASET_CREATE, path_);
  apply(layout, creation, path_);
  return {create(handle_, name, type, extents, creation, path_), path_};
}

Dataset Group::virtual_dataset(const std::string& name, Type type, const Extents& extents,
                               std::span<const VirtualPart> parts, Fill fill) {
  const Handle creation = property_list(H5P_DATASET_CREATE, path_);
  if (fill == Fill::absent) set_fill(creation, type, path_);
  const Handle here = dataspace(extents, path_);
  for (const VirtualPart& part : parts) {
    select(here, part.here, path_);
    const Handle there = dataspace(part.extents, path_);
    select(there, part.there, path_);
    check(
        H5Pset_virtual(creation.id(), here.id(), escaped(part.file).c_str(), escaped(part.dataset).c_str(), there.id()),
        fmt::format("point to '{}' from", part.file), path_);
  }
  return {create(handle_, name, type, extents, creation, path_), path_};
}

void Dataset::write(Type type, const Part& part, std::span<const std::byte> values) {
  const Handle memory = dataspace(part.size, path_);
  const Handle file(H5Dget_space(handle_.id()), H5Sclose, "ask for the extents of an array in", path_);
  select(file, part, path_);
  check(H5Dwrite(handle_.id(), native_type(type), memory.id(), file.id(), H5P_DEFAULT, values.data()), "write to",
        path_);
}

}  // namespace sidestream::hdf5
