// Volumes of an image: what the configuration asks for, and the boxes of cells that are cast.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/mesh/cell_choice.hpp"
#include "visualisation/graphics/transfer_function.hpp"
#include "visualisation/graphics/volume_caster.hpp"

namespace sidestream::rendering {

/// One component of a variable, seen as a cloud.
struct VolumeQuery {
  std::int32_t variable = -1;
  int component = 0;
  std::vector<double> opacity;  ///< part of the light that is absorbed along `length`, 0 to 1
  std::vector<double> values;   ///< at which `opacity` applies; empty: equally spaced over the range of colours
  std::optional<double> length;
  std::optional<ColourRange> range;  ///< of colours, if it is configured
  CellChoice choice{};
};

/// The options of a volume, without its colours. The reader throws Error(configuration).
[[nodiscard]] std::vector<Option> volume_options();
[[nodiscard]] VolumeQuery read_volume(const Settings& settings, const Metadata& metadata);

/// Blocks in which nothing is seen are left out if the range of colours is configured: an open one depends on all
/// values.
[[nodiscard]] Selection selection_of(const VolumeQuery& query, const Metadata& metadata);

/// The transfer function of a picture with that range of colours and that domain.
[[nodiscard]] TransferFunction function_of(const VolumeQuery& query, const ColourMap& map, const ColourRange& range,
                                           const Domain& domain);

/// Adds the finite values of this server's blocks to a range.
void add_values(const VolumeQuery& query, const LocalInput& input, ColourRange& seen);

/// Calls `take` for boxes that contain each counted cell of this server's blocks once. Numbers are positions in the
/// table of `function`. On refinement levels and in octrees, variables in cells have one number a cell. Other numbers
/// are linear between points; those of variables in cells reach from the outermost centres to the mesh's faces.
void for_each_box(const VolumeQuery& query, const LocalInput& input, const TransferFunction& function,
                  const std::function<void(VolumeBox)>& take);

}  // namespace sidestream::rendering
