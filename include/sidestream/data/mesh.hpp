// What a mesh is: a box of cells and where its nodes are.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream {

/// Where the points of a mesh are. Kinds derive from this; an analysis asks for the view it understands (`axes()`) and
/// refuses, by `kind()`, a mesh that does not offer it. That is how curvilinear, unstructured, particle and AMR
/// meshes are added without changing what exists.
class Geometry {
 public:
  virtual ~Geometry() = default;
  [[nodiscard]] virtual std::string kind() const = 0;  ///< as in configurations: `uniform`, `rectilinear`
  /// Node positions along each axis are a product of three axes: those; otherwise null. Owned by the geometry.
  [[nodiscard]] virtual const class Axes* axes() const noexcept { return nullptr; }
};

/// Meshes whose node (i, j, k) is at (x(i), y(j), z(k)).
class Axes {
 public:
  virtual ~Axes() = default;
  /// Position of node `index` on `axis`, for index in [lo, hi] of the mesh's box (nodes: one more than cells).
  [[nodiscard]] virtual double node(int axis, Index index) const = 0;
  /// Position of the centre of cell `index`: the middle of its nodes.
  [[nodiscard]] double centre(int axis, Index index) const { return 0.5 * (node(axis, index) + node(axis, index + 1)); }
  /// Position of a point of a variable of that centring.
  [[nodiscard]] double position(Centering centering, int axis, Index index) const {
    return centering == Centering::cell ? centre(axis, index) : node(axis, index);
  }
};

/// Equal spacing: node(axis, i) = origin + spacing * i, computed from the global index and so the same everywhere.
class UniformGeometry final : public Geometry, public Axes {
 public:
  UniformGeometry(std::array<double, 3> origin, std::array<double, 3> spacing) : origin_(origin), spacing_(spacing) {}
  [[nodiscard]] std::string kind() const override { return "uniform"; }
  [[nodiscard]] const Axes* axes() const noexcept override { return this; }
  [[nodiscard]] double node(int axis, Index index) const override {
    return origin_[axis] + spacing_[axis] * static_cast<double>(index);
  }
  [[nodiscard]] const std::array<double, 3>& origin() const noexcept { return origin_; }
  [[nodiscard]] const std::array<double, 3>& spacing() const noexcept { return spacing_; }

 private:
  std::array<double, 3> origin_, spacing_;
};

/// Node coordinates listed per axis; entry 0 belongs to the lower end of the mesh's box.
class RectilinearGeometry final : public Geometry, public Axes {
 public:
  RectilinearGeometry(Index3 first, std::array<std::vector<double>, 3> nodes)
      : first_(first), nodes_(std::move(nodes)) {}
  [[nodiscard]] std::string kind() const override { return "rectilinear"; }
  [[nodiscard]] const Axes* axes() const noexcept override { return this; }
  [[nodiscard]] double node(int axis, Index index) const override {
    return nodes_[axis].at(static_cast<std::size_t>(index - first_[axis]));
  }
  [[nodiscard]] const std::vector<double>& nodes(int axis) const noexcept { return nodes_[axis]; }

 private:
  Index3 first_;
  std::array<std::vector<double>, 3> nodes_;
};

/// One declared mesh. Ids count meshes in the order of declaration, the same on every process.
struct Mesh {
  std::int32_t id = -1;
  std::string name;
  Box cells;  ///< all cells of level 0; an axis of a 2-D mesh that is not used has one cell
  int dimensions = 3;
  std::shared_ptr<const Geometry> geometry;
  std::array<bool, 3> periodic{false, false, false};  ///< whether an axis goes on at its other end
  /// Entry l: how many cells of level l + 1 lie along one of level l, on each axis. Levels beyond are not declared.
  std::vector<Index3> refinement{};
  bool fixed = false;  ///< blocks never change after the start

  /// How many cells of `level` lie along one of level 0, on each axis.
  [[nodiscard]] Index3 ratio_to(std::int32_t level) const {
    Index3 ratio{1, 1, 1};
    for (std::size_t l = 0; l < static_cast<std::size_t>(level); ++l) {
      for (int a = 0; a < 3; ++a) ratio[a] *= refinement.at(l)[a];
    }
    return ratio;
  }
};

}  // namespace sidestream
