#include "sidestream/kit/storage/hdf5/handle.hpp"

#include <array>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::hdf5 {

namespace {

/// A fixed buffer for the description. C code of HDF5 calls these functions, so no exception may escape, not even
/// bad_alloc.
using Reason = std::array<char, 256>;

/// Called from the outermost function to the innermost, whose message is the actual reason.
extern "C" herr_t keep_last(unsigned, const H5E_error2_t* error, void* text) {
  auto& reason = *static_cast<Reason*>(text);
  if (error->desc != nullptr && *error->desc != '\0') {
    std::strncpy(reason.data(), error->desc, reason.size() - 1);
  }
  return 0;
}

}  // namespace

void fail_hdf5(std::string_view action, const std::string& path, std::string_view advice) {
  Reason reason{};
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_last, &reason);
  H5Eclear2(H5E_DEFAULT);
  fail(Code::file, "cannot {} '{}': HDF5 says '{}'; {}", action, path, reason[0] == '\0' ? "no reason" : reason.data(),
       advice);
}

QuietErrors::QuietErrors() {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

Handle::Handle(hid_t id, Close closer, std::string_view action, const std::string& path) : id_(id), close_(closer) {
  if (id_ < 0) fail_hdf5(action, path);
}

Handle::~Handle() {
  if (id_ >= 0) close_(id_);
}

void Handle::close(std::string_view action, const std::string& path) {
  const hid_t id = std::exchange(id_, -1);
  if (id >= 0 && close_(id) < 0) fail_hdf5(action, path);
}

}  // namespace sidestream::hdf5
