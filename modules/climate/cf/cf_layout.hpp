// Names, dimensions and attributes of variables by the conventions CF-1.11 and UGRID-1.0, for NetCDF and Zarr.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/kit/storage/hdf5/cf_axes.hpp"

namespace sidestream {

/// Source of an array's values.
enum class CfSource {
  values,     ///< all components of a variable
  component,  ///< one component of a variable
  centres,    ///< positions along one axis of a curvilinear mesh's cells: means of their nodes
  corners,    ///< positions of the four nodes of each cell of a 2-D curvilinear mesh, counterclockwise
  corner_ids  ///< the points of each cell of an unstructured mesh
};

/// The kind of length of a dimension: fixed, or the sum over the lists of blocks.
enum class CfLength { fixed, cells, points, corners };

struct CfDimension {
  std::string name;
  Index length = 0;  ///< only for `fixed`
  CfLength kind = CfLength::fixed;
  std::int32_t mesh = -1;
};

/// One array over a mesh that servers write block by block.
struct CfArray {
  std::string name;
  CfSource source = CfSource::values;
  std::int32_t variable = -1;  ///< the variable with the values; for `corner_ids` the connectivity
  int component = 0;           ///< for `component`, `centres`, `corners`
  Centering centering = Centering::cell;
  bool on_cells = true;
  std::vector<std::string> dimensions{};  ///< slowest first
  Attributes attributes{};
};

/// The topology of an unstructured mesh.
struct CfTopology {
  std::string name;
  std::int32_t mesh = -1;
  std::string node_coordinates, corner_ids;  ///< names of arrays
};

struct CfLayout {
  std::vector<CfDimension> dimensions;  ///< without those of axes
  std::vector<CfAxis> axes;
  std::vector<CfArray> arrays;
  std::vector<CfTopology> topologies;
  Attributes attributes;  ///< attributes of the file
};

/// Reason why CF cannot represent variables of the mesh, as `it is an octree`; empty if it can.
[[nodiscard]] std::string why_not_cf(const Mesh& mesh);

/// The layout of these variables, on meshes that CF can represent. Names consist of letters, digits and underscores. If
/// there are several meshes, names of dimensions and positions begin with the mesh's name.
[[nodiscard]] CfLayout cf_layout(const Metadata& metadata, const std::vector<std::int32_t>& variables);

/// The interval of time of an iteration's values, if they are statistics of one (`time_begin`, `time_end`).
[[nodiscard]] std::optional<std::array<double, 2>> cf_window(const CfLayout& layout, const Metadata& metadata);

}  // namespace sidestream
