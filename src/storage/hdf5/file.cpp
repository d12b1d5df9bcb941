#include "sidestream/kit/storage/hdf5/file.hpp"

#include <fmt/format.h>

#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/hdf5/properties.hpp"

namespace sidestream::hdf5 {

namespace {

constexpr hsize_t metadata_bytes = 64u << 10;

Handle open_group(const Handle& parent, const std::string& name, const std::string& path) {
  const std::string action = fmt::format("open the group '{}' of", name);
  return {H5Gopen2(parent.id(), name.c_str(), H5P_DEFAULT), H5Gclose, action, path};
}

/// Opens the group, or creates it if missing.
Handle need_group(const Handle& parent, const std::string& name, const std::string& path) {
  const std::string action = fmt::format("create the group '{}' in", name);
  const htri_t exists = H5Lexists(parent.id(), name.c_str(), H5P_DEFAULT);
  check(exists, action, path);
  if (exists > 0) return open_group(parent, name, path);
  const Handle creation = property_list(H5P_GROUP_CREATE, path);
  return {H5Gcreate2(parent.id(), name.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose, action, path};
}

}  // namespace

File::File(const std::string& path, bool keeps_order) : path_(path), driver_(path), file_(create(keeps_order)) {
  root_ = std::make_unique<Group>(open_group(file_, "/", path), path);
}

Handle File::create(bool keeps_order) {
  const Handle creation = property_list(H5P_FILE_CREATE, path_);
  const Handle access = property_list(H5P_FILE_ACCESS, path_);
  if (keeps_order) {
    // Other processes write to this file too, so its metadata lies in few large pieces.
    check(H5Pset_meta_block_size(access.id(), metadata_bytes), "set up", path_);
    check(H5Pset_link_creation_order(creation.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "set up", path_);
  }
  // The compact objects of version 1.8 are smaller and faster than the oldest format. Every current HDF5 reads them.
  check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_LATEST), "set up", path_);
  // After an error objects may still be open; closing the file must free them.
  check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), "set up", path_);
  driver_.use(access, path_);
  const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation.id(), access.id());
  if (file < 0 && driver_.failure() != 0) fail_file("create", path_, driver_.failure());
  return {file, H5Fclose, "create", path_};
}

void File::close() {
  root_.reset();
  file_.close("finish writing", path_);
  if (driver_.failure() != 0) fail_file("write", path_, driver_.failure());
}

Group Group::group(const std::string& name) {
  // Groups are created one by one, because groups that HDF5 creates implicitly carry the time of day.
  const std::size_t slash = name.find('/');
  Group first(need_group(handle_, name.substr(0, slash), path_), path_);
  return slash == std::string::npos ? std::move(first) : first.group(name.substr(slash + 1));
}

Group Group::ordered_group(const std::string& name) {
  const std::string action = fmt::format("create the group '{}' in", name);
  const Handle creation = property_list(H5P_GROUP_CREATE, path_);
  check(H5Pset_link_creation_order(creation.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), action, path_);
  return {{H5Gcreate2(handle_.id(), name.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose, action, path_},
          path_};
}

void Group::link(const std::string& name, const std::string& path) {
  check(H5Lcreate_hard(handle_.id(), path.c_str(), handle_.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
        fmt::format("link '{}' in", name), path_);
}

void Group::soft_link(const std::string& name, const std::string& path) {
  check(H5Lcreate_soft(path.c_str(), handle_.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
        fmt::format("link '{}' in", name), path_);
}

}  // namespace sidestream::hdf5
