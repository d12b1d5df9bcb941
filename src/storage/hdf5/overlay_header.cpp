#include "storage/hdf5/properties.hpp"

#include <algorithm>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::hdf5 {

namespace {

constexpr std::size_t end_of_file_at = 40;  ///< position in the superblock of version 0

Bytes patched(std::uint64_t value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Adds an array that has a size but no address yet, since nothing is written to it.
void add_array(const Handle& file, Type type, std::uint64_t bytes, const std::string& path) {
  const Handle creation = property_list(H5P_DATASET_CREATE, path);
  check(H5Pset_layout(creation.id(), H5D_CONTIGUOUS), "set up", path);
  check(H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER), "set up", path);
  const Handle space = dataspace({bytes / size_of(type)}, path);
  const std::string name(name_of(type));
  const Handle array(
      H5Dcreate2(file.id(), name.c_str(), native_type(type), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose, "create an array in the HDF5 header of", path);
}

/// Sets the address of each array: in the layout message of version 3, class 1, address and size are adjacent.
void place_arrays(Bytes& image, std::uint64_t bytes, std::uint64_t address, const std::string& path) {
  int placed = 0;
  const Bytes place = patched(address);
  for (const std::uint64_t width : {1, 2, 4, 8}) {
    Bytes layout{std::byte{3}, std::byte{1}};
    layout.insert(layout.end(), 8, std::byte{0xff});
    const Bytes size = patched(bytes / width * width);
    layout.insert(layout.end(), size.begin(), size.end());
    auto from = image.begin();
    while ((from = std::search(from, image.end(), layout.begin(), layout.end())) != image.end()) {
      std::copy(place.begin(), place.end(), from + 2);
      ++placed;
    }
  }
  if (placed != type_count) {
    fail(Code::file, "cannot make the HDF5 face of '{}': this HDF5 library writes {} of {} arrays in the oldest format",
         path, placed, type_count);
  }
}

Handle file_in_memory(const std::string& path) {
  const Handle creation = property_list(H5P_FILE_CREATE, path);
  const Handle access = property_list(H5P_FILE_ACCESS, path);
  check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V18), "set up", path);
  check(H5Pset_fapl_core(access.id(), 1 << 16, false), "set up", path);
  // The name is arbitrary, since no file is opened.
  return {H5Fcreate("sidestream-header", H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose,
          "make the HDF5 header of", path};
}

}  // namespace

Bytes overlay_header(std::uint64_t size, std::uint64_t overlay_bytes, const std::string& path) {
  const QuietErrors quiet;
  const std::uint64_t bytes = size - overlay_bytes;
  const Handle file = file_in_memory(path);
  for (int type = 0; type < type_count; ++type) add_array(file, static_cast<Type>(type), bytes, path);
  check(H5Fflush(file.id(), H5F_SCOPE_GLOBAL), "make the HDF5 header of", path);
  const ssize_t length = H5Fget_file_image(file.id(), nullptr, 0);
  if (length < 0 || static_cast<std::uint64_t>(length) > overlay_bytes) fail_hdf5("make the HDF5 header of", path);
  Bytes image(static_cast<std::size_t>(length));
  if (H5Fget_file_image(file.id(), image.data(), image.size()) < 0) fail_hdf5("make the HDF5 header of", path);
  place_arrays(image, bytes, overlay_bytes, path);
  image.resize(overlay_bytes);
  std::memcpy(image.data() + end_of_file_at, &size, sizeof size);
  return image;
}

}  // namespace sidestream::hdf5
