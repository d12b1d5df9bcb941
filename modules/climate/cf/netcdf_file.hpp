// A NetCDF-4 file of one iteration, complete except for the values of the blocks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "climate/cf/cf_values.hpp"
#include "sidestream/data/iteration.hpp"
#include "sidestream/kit/storage/hdf5/dimensions.hpp"
#include "sidestream/kit/storage/writers/agreed_forms.hpp"

namespace sidestream {

/// Makes the files of all iterations on one server. Files of the same shape differ in a few numbers only, so a further
/// file with many variables costs no more than copying its metadata.
class NetcdfFiles {
 public:
  /// `time_units`: empty if the units of times are unknown; files then have no dimension of time.
  NetcdfFiles(CfLayout layout, std::string time_units, std::string provenance)
      : layout_(std::move(layout)), time_units_(std::move(time_units)), provenance_(std::move(provenance)) {}

  /// Creates the file. Returns the place of each array in it; 0: it has none, and all its values are missing. Points
  /// that no block fills are missing, too. Throws Error(file).
  [[nodiscard]] std::vector<std::uint64_t> create(const std::string& path, const Iteration& iteration,
                                                  const Metadata& metadata, const CfShape& shape,
                                                  const AgreedForms& forms);

 private:
  /// Bytes that all files of a shape have in common.
  struct Piece {
    std::uint64_t at = 0;
    std::string bytes;
  };
  struct Times {
    std::uint64_t time = 0, cycle = 0, iteration = 0, bounds = 0;  ///< offsets of these values; 0: none
  };
  void make(const std::string& path, const Metadata& metadata, const CfShape& shape, const AgreedForms& forms);
  void describe(hdf5::File& file, hdf5::Dimensions& dimensions, const CfShape& shape);
  void add_times(hdf5::File& file, hdf5::Dimensions& dimensions);
  void add_array(hdf5::File& file, hdf5::Dimensions& dimensions, const CfArray& array, Index count,
                 const Metadata& metadata, const CfLists& lists, const AgreedForms& forms);
  void add_location(hdf5::Dataset& dataset, const CfArray& array, const Mesh& mesh, const CfLists& lists);
  void keep_pieces(const std::string& path);
  void erase_arrays(int file, const std::string& path, const Metadata& metadata, const CfShape& shape,
                    const AgreedForms& forms);

  CfLayout layout_;
  std::string time_units_, provenance_;
  std::vector<std::int64_t> kept_{};  ///< shape of `pieces_`; empty: none
  std::vector<Piece> pieces_{};
  std::uint64_t size_ = 0;
  Times times_{};
  std::optional<std::array<double, 2>> window_{};    ///< of this iteration
  std::vector<std::uint64_t> places_{}, lengths_{};  ///< by array, in bytes
};

}  // namespace sidestream
