// HDF5 driver that accesses the disk and records failures.
//
// HDF5 does not survive a write that fails while a file is closed: the file's memory is freed, its identifier stays,
// and the process crashes at the next use or at its exit (seen with 1.10.8 on a full disk). So this driver never
// reports a failure to HDF5. It keeps the first one, drops all later writes, and lets HDF5 close normally; the owner of
// the file then finds the failure here and throws.
#pragma once

#include <memory>
#include <string>

#include "storage/hdf5/handle.hpp"

namespace sidestream::hdf5 {

/// The first failure among a file's reads and writes.
struct DiskFailure {
  int error_number = 0;  ///< 0: none
};

class Driver {
 public:
  explicit Driver(const std::string& path);
  /// Makes files created with this access property list use the driver.
  void use(const Handle& access, const std::string& path);
  [[nodiscard]] const DiskFailure& failure() const noexcept { return *failure_; }

 private:
  std::unique_ptr<DiskFailure> failure_ = std::make_unique<DiskFailure>();
  Handle id_;
};

}  // namespace sidestream::hdf5
