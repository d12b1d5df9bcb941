// Options of a projection, and its grid of results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/task.hpp"
#include "sidestream/kit/analysis/grid_result.hpp"
#include "sidestream/kit/mesh/cell_choice.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"
#include "visualisation/projection/column_sums.hpp"
#include "visualisation/projection/heat_map.hpp"

namespace sidestream {

struct ProjectionQuery {
  Variable variable{};
  std::optional<Variable> weight{};
  int component = 0, weight_component = 0;
  int axis = 2;
  bool mean = false;
  std::int32_t level = -1;  ///< level of the grid of results
  CellChoice choice{};      ///< choice of the points that count
  std::string file{};
  Pieces pieces = Pieces::automatic;
  std::optional<HeatMap> picture{};
};

/// Reading throws Error(configuration).
[[nodiscard]] OptionTable<ProjectionQuery> projection_options();

/// Grid of results: the points of the variable's centring on its level, along the remaining axes.
class ProjectionGrid {
 public:
  ProjectionGrid(const ProjectionQuery& query, const Metadata& metadata);
  ProjectionGrid(const ProjectionGrid&) = delete;
  ProjectionGrid& operator=(const ProjectionGrid&) = delete;
  [[nodiscard]] const GridShape& shape() const noexcept { return shape_; }
  [[nodiscard]] const ColumnLevels& levels() const noexcept { return levels_; }
  /// The column that contains a point of a level, which must not be finer than the grid's.
  [[nodiscard]] LevelColumn column(std::int32_t level, const Index3& point) const noexcept;
  /// The remaining axes of the mesh, the fastest first: one or two.
  [[nodiscard]] const std::vector<int>& left() const noexcept { return left_; }
  /// Their names and positions, the slowest first.
  [[nodiscard]] const std::vector<GridAxis>& axes() const noexcept { return axes_; }
  /// Edges of the places of points along a remaining axis, in space.
  [[nodiscard]] std::vector<double> edges(int axis) const;
  /// First index of the grid along a remaining axis.
  [[nodiscard]] Index first(int axis) const noexcept { return points_.lo[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] Index count(int axis) const noexcept { return points_.extent(axis); }

 private:
  Mesh mesh_;  ///< the variable's mesh; for a tree, the uniform mesh of its levels
  int dimensions_;
  LevelAxes level_;
  Centering centering_;
  Box points_;
  std::vector<int> left_;
  std::vector<GridAxis> axes_;
  GridShape shape_;
  ColumnLevels levels_;
};

/// Length along the axis of the projection that each point's value represents: the width of its cell, or, for points at
/// nodes, half of the distance between its neighbours.
[[nodiscard]] double width_along(const Mesh& mesh, Centering centering, int axis, std::int32_t level, Index index);

}  // namespace sidestream
