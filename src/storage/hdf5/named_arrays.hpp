// Names for netCDF's library and xarray, which open our HDF5 files unchanged.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/kit/storage/hdf5/dimensions.hpp"

namespace sidestream {

/// Gives arrays over whole meshes named dimensions with positions, and names in the root of the file, where xarray
/// looks for them. The names are those of the Python reader.
class NamedArrays {
 public:
  /// `prefix`: names of dimensions begin with the name of the mesh, because the file has several meshes.
  NamedArrays(hdf5::Group& root, const Metadata& metadata, bool prefix)
      : root_(root), dimensions_(root), metadata_(metadata), has_prefix_(prefix) {}
  /// Names the dimensions of the array of a variable over `whole`.
  void add(hdf5::Dataset& array, const Variable& variable, const Box& whole);
  /// Adds the names in the root. Call it once, after all arrays.
  void finish();

 private:
  [[nodiscard]] std::vector<std::pair<std::string, int>> axes_of(const Variable& variable) const;
  std::string dimension(const std::string& name, const Variable& variable, int axis, const Box& whole, Index length);

  hdf5::Group& root_;
  hdf5::Dimensions dimensions_;
  const Metadata& metadata_;
  bool has_prefix_;
  std::map<std::string, Index> lengths_{};  ///< of dimensions
  std::vector<const Variable*> named_{};
};

/// True if the variables lie on several meshes.
[[nodiscard]] bool on_several_meshes(const Metadata& metadata, const std::vector<std::int32_t>& variables);

}  // namespace sidestream
