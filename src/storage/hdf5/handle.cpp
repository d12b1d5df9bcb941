#include "storage/hdf5/handle.hpp"

#include "base/fail.hpp"

namespace sidestream::hdf5 {

namespace {

/// Called from the outermost function to the innermost; the innermost says what really happened.
extern "C" herr_t keep_last(unsigned, const H5E_error2_t* error, void* text) {
  if (error->desc != nullptr && *error->desc != '\0') *static_cast<std::string*>(text) = error->desc;
  return 0;
}

}  // namespace

void fail_hdf5(const std::string& action, const std::string& path) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_last, &reason);
  H5Eclear2(H5E_DEFAULT);
  if (reason.empty()) reason = "no reason";
  fail(Code::file, "cannot {} '{}': HDF5 says '{}'; report this with the configuration", action, path, reason);
}

QuietErrors::QuietErrors() {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

Handle::Handle(hid_t id, Close closer, const std::string& action, const std::string& path) : id_(id), close_(closer) {
  if (id_ < 0) fail_hdf5(action, path);
}

Handle::~Handle() {
  if (id_ >= 0) close_(id_);
}

void Handle::close(const std::string& action, const std::string& path) {
  const hid_t id = std::exchange(id_, -1);
  if (id >= 0 && close_(id) < 0) fail_hdf5(action, path);
}

}  // namespace sidestream::hdf5
