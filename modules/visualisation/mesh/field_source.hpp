// Sources of numbers at points for the contour kernel.
#pragma once

#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"

namespace sidestream {

/// Gives a number at every point of a grid.
class ScalarSource {
 public:
  virtual ~ScalarSource() = default;
  /// False if no contour of value 0 can pass between the points of `region`; a cheap test that lets the kernel skip it.
  [[nodiscard]] virtual bool may_cross(const Box& /*region*/) const { return true; }
  /// Fills `out`, i fastest, for all points of `region` (inside the grid's points). NaN where there is no value.
  virtual void fill(const Box& region, double* out) = 0;
};

/// One component of a variable in and around one block. A variable whose centring differs from the grid's is first
/// averaged to the grid's points: over the eight nodes of a cell, or over the existing cells around a node.
class FieldSource final : public ScalarSource {
 public:
  /// `view` may be null (the block was not delivered). Then every value is NaN. Keeps references to grid and view.
  FieldSource(const PointGrid& grid, const Mesh& mesh, const Variable& variable, int component, const BlockView* view);
  void fill(const Box& region, double* out) override;

 private:
  void fill_real(const Box& region, double* out);
  void average(const Box& region, double* out);

  const PointGrid& grid_;
  Box existing_;  ///< all points of the variable on the mesh
  bool same_centering_;
  int component_;
  const BlockView* view_;
  std::vector<double> clamped_, other_;
};

/// The width of the halo that a FieldSource of `variable` needs around a block. Every cell of the block then has its
/// eight points and, with `gradients`, their neighbours.
[[nodiscard]] int halo_for(Centering grid, Centering variable, bool gradients) noexcept;

/// The view of block `id` among `views` (ascending ids), or null.
[[nodiscard]] const BlockView* find_block(const std::vector<BlockView>& views, std::int64_t id) noexcept;

}  // namespace sidestream
