// Isosurfaces that are drawn during tracing, without being stored, for one view or several.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "visualisation/contour/row_normals.hpp"
#include "visualisation/graphics/rasteriser.hpp"

namespace sidestream::rendering {

/// Draws the triangles of one value in one box of cells. Keeps the points of two planes. The rasteriser's material must
/// be set before; lit.
class DrawnRows final : public ContourRows {
 public:
  explicit DrawnRows(Rasteriser& rasteriser) : rasteriser_(rasteriser) {}
  void expect(std::size_t, std::size_t) override {}
  void take(const PointRow& row) override {
    for (std::size_t n = 0; n < row.places.size(); ++n) {
      upper_.push_back(rasteriser_.vertex(row.places[n], row.normals[n], 0));
    }
  }
  void take(const TriangleRow& row) override {
    for (const auto& [a, b, c] : row.corners) rasteriser_.draw(at(a), at(b), at(c));
  }
  void end_plane(Index) override {
    first_ += static_cast<std::int32_t>(lower_.size());
    lower_.swap(upper_);
    upper_.clear();
  }

 private:
  [[nodiscard]] const Rasteriser::Vertex& at(std::int32_t point) const noexcept {
    const auto n = static_cast<std::size_t>(point - first_);
    return n < lower_.size() ? lower_[n] : upper_[n - lower_.size()];
  }

  Rasteriser& rasteriser_;
  std::vector<Rasteriser::Vertex> lower_, upper_;  ///< vertices of the last but one and the last plane
  std::int32_t first_ = 0;                         ///< number of the first of them
};

/// Hands rows on to several drawings.
class RowsOfViews final : public ContourRows {
 public:
  explicit RowsOfViews(std::vector<std::unique_ptr<ContourRows>> views) : views_(std::move(views)) {}
  void expect(std::size_t points, std::size_t triangles) override {
    for (const auto& view : views_) view->expect(points, triangles);
  }
  void take(const PointRow& row) override {
    for (const auto& view : views_) view->take(row);
  }
  void take(const TriangleRow& row) override {
    for (const auto& view : views_) view->take(row);
  }
  void end_plane(Index plane) override {
    for (const auto& view : views_) view->end_plane(plane);
  }

 private:
  std::vector<std::unique_ptr<ContourRows>> views_;
};

}  // namespace sidestream::rendering
