// Volumes of an image: the query, and the boxes of cells that are cast.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/mesh/cell_choice.hpp"
#include "visualisation/graphics/cell_caster.hpp"
#include "visualisation/graphics/transfer_function.hpp"
#include "visualisation/graphics/volume_caster.hpp"

namespace sidestream::rendering {

/// One component of a variable, seen as a cloud.
struct VolumeQuery {
  std::int32_t variable = -1;
  int component = 0;
  std::vector<double> opacity;  ///< part of the light that is absorbed along `length`, 0 to 1
  std::vector<double> values;   ///< values of `opacity`; empty: equally spaced over the range of colours
  std::optional<double> length;
  std::optional<ColourRange> range;  ///< of colours, if it is configured
  CellChoice choice{};
};

/// The options of a volume, without its colours. The reader throws Error(configuration).
[[nodiscard]] std::vector<Option> volume_options();
[[nodiscard]] VolumeQuery read_volume(const Settings& settings, const Metadata& metadata);

/// Throws Error(configuration) if the opacities belong to values without a logarithm.
void check_logarithms(const Settings& settings, const VolumeQuery& query);

/// Blocks in which nothing is seen are left out if the range of colours is configured: an open one depends on all
/// values.
[[nodiscard]] Selection selection_of(const VolumeQuery& query, const Metadata& metadata);

/// The transfer function of a picture with that range of colours and that domain.
[[nodiscard]] TransferFunction function_of(const VolumeQuery& query, const ColourMap& map, const ColourRange& range,
                                           const Domain& domain);

/// Adds the finite values of this server's blocks to a range, or only values that have a logarithm.
void add_values(const VolumeQuery& query, const LocalInput& input, bool logarithms, ColourRange& seen);

/// Calls `take` for boxes that contain each counted cell of this server's blocks once. Numbers are positions in the
/// table of `function`. On refinement levels and in octrees, variables in cells have one number a cell. Other numbers
/// are linear between points; those of variables in cells reach from the outermost centres to the mesh's faces.
void for_each_box(const VolumeQuery& query, const LocalInput& input, const TransferFunction& function,
                  const std::function<void(VolumeBox)>& take);

/// True if the points of a mesh with cells have coordinates: then the volume has cells instead of boxes.
[[nodiscard]] bool has_coordinates(const Mesh& mesh);
/// Calls `take` for this server's blocks. Each counted cell is in one of them. Numbers at points are linear on the
/// triangles of faces; variables in cells have one number a cell. Query, input and function must outlive the cells.
void for_each_block_of_cells(const VolumeQuery& query, const LocalInput& input, const TransferFunction& function,
                             const std::function<void(std::unique_ptr<VolumeCells>)>& take);

}  // namespace sidestream::rendering
