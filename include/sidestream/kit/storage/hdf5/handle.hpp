// Ownership of HDF5 identifiers, and conversion of its return codes to exceptions.
//
// Only one thread of the process uses HDF5: Debian's build is not thread-safe.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

namespace sidestream::hdf5 {

/// Throws Error(file): `cannot <action> '<path>'` followed by HDF5's error stack, and clears the stack.
[[noreturn]] void fail_hdf5(std::string_view action, const std::string& path,
                            std::string_view advice = "report this with the configuration");

/// Suppresses HDF5's printing of its error stack during its lifetime, then restores the program's setting.
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

/// An identifier with its owner's lifetime.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  /// Takes ownership of `id`, as returned by HDF5. Throws through fail_hdf5 if it is negative. Build the text of
  /// `action` before the identifier, since bad_alloc in between would leak the identifier.
  Handle(hid_t id, Close closer, std::string_view action, const std::string& path);
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle();

  [[nodiscard]] hid_t id() const noexcept { return id_; }
  /// Closes early; throws through fail_hdf5.
  void close(std::string_view action, const std::string& path);

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

}  // namespace sidestream::hdf5
