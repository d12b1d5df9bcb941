// Named dimensions of a file's arrays, in the form of netCDF-4 and HDF5's dimension scales.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/kit/storage/hdf5/file.hpp"

namespace sidestream::hdf5 {

/// The dimensions of a file. All lie in its root: netCDF looks for them in an array's group and above.
class Dimensions {
 public:
  explicit Dimensions(Group& root) : root_(root) {}

  [[nodiscard]] bool has(const std::string& name) const { return scales_.count(name) > 0; }
  /// Makes a new dimension of a dataset in the root, which provides its name and positions.
  void add(const std::string& name, Dataset scale);
  /// Adds a dimension without positions. No other object of the root may have its name.
  void add(const std::string& name, hsize_t length);
  /// Names the dimensions of an array, slowest first. All must have been added.
  void attach(Dataset& array, const std::vector<std::string>& names);
  /// Writes the list of arrays of each dimension, which HDF5's library uses. Call it once, before the file is closed;
  /// nothing can be attached afterwards.
  void finish();

 private:
  struct User {
    hobj_ref_t array;
    std::int32_t axis;
    std::int32_t padding = 0;  ///< its bytes get into the file, which must not differ between runs
  };
  struct Scale {
    Dataset dataset;
    std::vector<User> users;
  };

  void mark(Dataset& scale, const std::string& name);

  Group& root_;
  std::map<std::string, Scale> scales_;
};

}  // namespace sidestream::hdf5
