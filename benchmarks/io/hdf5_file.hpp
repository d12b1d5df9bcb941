// Checked HDF5 calls, for the methods that use it.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "method.hpp"

namespace io {

/// An HDF5 identifier that is closed with the object.
class Id {
 public:
  Id(hid_t id, herr_t (*closing)(hid_t), const char* what) : id_(id), close_(closing) {
    if (id < 0) throw Error(std::string("HDF5 cannot ") + what);
  }
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  [[nodiscard]] hid_t get() const { return id_; }
  /// Closes early, so that a failure is noticed.
  void close() {
    if (close_(std::exchange(id_, -1)) < 0) throw Error("HDF5 cannot close a file");
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

inline void check_hdf5(herr_t status, const char* what) {
  if (status < 0) throw Error(std::string("HDF5 cannot ") + what);
}

inline Id properties(hid_t of) { return {H5Pcreate(of), H5Pclose, "make a list of properties"}; }

/// A box in the order of axes in files, slowest first.
struct Extents {
  hsize_t lo[3], size[3];
  explicit Extents(const Box& box) {
    for (int a = 0; a < 3; ++a) {
      lo[a] = static_cast<hsize_t>(box.lo[2 - a]);
      size[a] = static_cast<hsize_t>(box.extent(2 - a));
    }
  }
};

}  // namespace io
