// What a projection adds up, and where it goes.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/common/grid_result.hpp"
#include "analysis/projection/column_sums.hpp"
#include "mesh/cell_choice.hpp"
#include "mesh/point_grid.hpp"
#include "reduce/grid_sums.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/options.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

struct ProjectionQuery {
  std::int32_t variable = -1, weight = -1;  ///< no weight: -1
  int component = 0, weight_component = 0;
  int axis = 2;
  bool mean = false;
  std::int32_t level = 0;  ///< of the grid of results
  CellChoice choice{};     ///< of the points that count
};

[[nodiscard]] std::vector<Option> projection_options();
/// Throws Error(configuration).
[[nodiscard]] ProjectionQuery read_projection(const Settings& settings, const Metadata& metadata);

/// The grid of results: the points of the variable's centring on its level along the axes that are left.
class ProjectionGrid {
 public:
  ProjectionGrid(const ProjectionQuery& query, const Metadata& metadata);
  ProjectionGrid(const ProjectionGrid&) = delete;
  ProjectionGrid& operator=(const ProjectionGrid&) = delete;
  [[nodiscard]] const GridShape& shape() const noexcept { return shape_; }
  [[nodiscard]] const ColumnLevels& levels() const noexcept { return levels_; }
  /// The column that a point of a level is in, which is no finer than that of the grid.
  [[nodiscard]] LevelColumn column(std::int32_t level, const Index3& point) const noexcept;
  /// The mesh's axes that are left, the fastest first: one or two.
  [[nodiscard]] const std::vector<int>& left() const noexcept { return left_; }
  /// Their names and the positions on them, the slowest first.
  [[nodiscard]] const std::vector<GridAxis>& axes() const noexcept { return axes_; }
  /// What bounds the places of the points on an axis that is left, in space.
  [[nodiscard]] std::vector<double> edges(int axis) const;
  /// The first index of the grid on an axis that is left.
  [[nodiscard]] Index first(int axis) const noexcept { return points_.lo[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] Index count(int axis) const noexcept { return points_.extent(axis); }

 private:
  Mesh mesh_;  ///< that of the variable, or of a tree the levels that it is on
  int dimensions_;
  LevelAxes level_;
  Centering centering_;
  Box points_;
  std::vector<int> left_;
  std::vector<GridAxis> axes_;
  GridShape shape_;
  ColumnLevels levels_;
};

/// How far along the axis of a projection the value of each point counts: of a point of a level the width of its cell,
/// or, where points lie at nodes, half of what lies between its neighbours.
[[nodiscard]] double width_along(const Mesh& mesh, Centering centering, int axis, std::int32_t level, Index index);

}  // namespace sidestream
