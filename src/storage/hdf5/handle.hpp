// Ownership of HDF5 identifiers and the way from its return codes to exceptions.
//
// HDF5 is used by one thread of the process: Debian's build is not thread-safe.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

namespace sidestream::hdf5 {

/// Throws Error(file): `cannot <action> '<path>'` followed by what HDF5's error stack says, and clears the
/// stack.
[[noreturn]] void fail_hdf5(std::string_view action, const std::string& path,
                            std::string_view advice = "report this with the configuration");

/// Keeps HDF5 from printing its error stack while it lives, whatever the program has set; restores that.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// An identifier that is closed with its owner.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  /// Takes over `id`, as HDF5 returned it. Throws through fail_hdf5 if it is negative. Make what says the action before
  /// the identifier: memory that ends in between would lose that.
  Handle(hid_t id, Close closer, std::string_view action, const std::string& path);
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle();

  [[nodiscard]] hid_t id() const noexcept { return id_; }
  /// Closes now; throws through fail_hdf5.
  void close(std::string_view action, const std::string& path);

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

}  // namespace sidestream::hdf5
