// Meshes: a box of cells and the positions of its nodes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream {

/// The kinds of meshes. `none`: a mesh of which only the name is known so far. `other`: a mesh of a plug-in or a test.
/// The numeric values are part of the file formats.
enum class MeshKind : std::int32_t {
  none = -2,
  other = -1,
  uniform = 0,
  rectilinear = 1,
  curvilinear = 2,   ///< a box of cells whose nodes have coordinates of their own
  unstructured = 3,  ///< lists of points and of cells of VTK's types
  points = 4,        ///< only a list of points; each point is also a cell
  octree = 5,        ///< lists of the cells of a tree over a box of root cells, level by level
};

/// Positions of the points of a mesh; base class of the kinds. An analysis asks for the view that it understands
/// (`axes()`), checks `kind()`, and refuses a mesh without such a view.
class Geometry {
 public:
  virtual ~Geometry() = default;
  [[nodiscard]] virtual std::string kind() const = 0;  ///< as in configurations: `uniform`, `rectilinear`
  [[nodiscard]] virtual MeshKind type() const noexcept { return MeshKind::other; }
  /// The three axes, if node positions are their product; otherwise null. Owned by the geometry.
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
  /// Position of a point of a variable with that centring.
  [[nodiscard]] double position(Centering centering, int axis, Index index) const {
    return at_nodes(centering, axis) ? node(axis, index) : centre(axis, index);
  }
};

/// Equal spacing: node(axis, i) = origin + spacing * i. It is computed from the global index and is therefore the same
/// everywhere.
class UniformGeometry final : public Geometry, public Axes {
 public:
  UniformGeometry(std::array<double, 3> origin, std::array<double, 3> spacing) : origin_(origin), spacing_(spacing) {}
  [[nodiscard]] std::string kind() const override { return "uniform"; }
  [[nodiscard]] MeshKind type() const noexcept override { return MeshKind::uniform; }
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
  [[nodiscard]] MeshKind type() const noexcept override { return MeshKind::rectilinear; }
  [[nodiscard]] const Axes* axes() const noexcept override { return this; }
  [[nodiscard]] double node(int axis, Index index) const override {
    return nodes_[axis].at(static_cast<std::size_t>(index - first_[axis]));
  }
  [[nodiscard]] const std::vector<double>& nodes(int axis) const noexcept { return nodes_[axis]; }

 private:
  Index3 first_;
  std::array<std::vector<double>, 3> nodes_;
};

/// Meshes whose positions are in variables: see Mesh::arrays.
class ArrayGeometry final : public Geometry {
 public:
  /// `type` is curvilinear, unstructured or points.
  explicit ArrayGeometry(MeshKind type) : type_(type) {}
  [[nodiscard]] std::string kind() const override {
    return type_ == MeshKind::curvilinear ? "curvilinear" : type_ == MeshKind::unstructured ? "unstructured" : "points";
  }
  [[nodiscard]] MeshKind type() const noexcept override { return type_; }

 private:
  MeshKind type_;
};

/// Trees over a box of root cells of equal size. A refined cell has 2 children along each axis that the mesh uses: 2, 4
/// or 8 in total. A block lists the cells of its tree, including parents, level by level (breadth first, as RAMSES-like
/// codes store octrees). All root cells come first, x fastest. The children of the refined root cells follow in the
/// same order, the children of each cell x fastest. The further levels follow in the same way.
class OctreeGeometry final : public Geometry {
 public:
  OctreeGeometry(const Index3& roots, const std::array<double, 3>& origin, const std::array<double, 3>& spacing)
      : roots_(roots), origin_(origin), spacing_(spacing) {}
  [[nodiscard]] std::string kind() const override { return "octree"; }
  [[nodiscard]] MeshKind type() const noexcept override { return MeshKind::octree; }
  /// Root cells along each axis; 1 on those that the mesh does not use.
  [[nodiscard]] const Index3& roots() const noexcept { return roots_; }
  [[nodiscard]] const std::array<double, 3>& origin() const noexcept { return origin_; }
  /// Size of the root cells.
  [[nodiscard]] const std::array<double, 3>& spacing() const noexcept { return spacing_; }

 private:
  Index3 roots_;
  std::array<double, 3> origin_, spacing_;
};

/// One declared mesh. Ids count meshes in the order of declaration, the same on every process.
struct Mesh {
  std::int32_t id = -1;
  std::string name;
  Box cells;  ///< all cells of level 0; an axis that a 2-D mesh does not use has one cell; empty for lists
  int dimensions = 3;
  std::shared_ptr<const Geometry> geometry;
  std::array<bool, 3> periodic{false, false, false};  ///< true where an axis continues at its other end
  /// Entry l is the number of cells of level l + 1 along one cell of level l, for each axis. Levels beyond the entries
  /// are not declared.
  std::vector<Index3> refinement{};
  bool fixed = false;  ///< blocks never change after the start
  bool made = false;   ///< an analysis makes it of its results (`makes`), not the simulation
  /// True if no two blocks have a node in common: nodes at the upper end of a block belong to the next block, on a
  /// periodic axis also at the mesh's end. Only the last block on an axis that is not periodic has its upper nodes.
  bool owned_points = false;
  std::array<std::string, 3> units{};   ///< of positions along each axis; empty if unknown
  std::array<std::string, 3> labels{};  ///< of the axes, for people; empty: x, y, z
  std::vector<Attribute> attributes{};  ///< further attributes for files
  /// The variable that has each role, by role; -1 if none has it. docs/mesh-kinds.md lists which roles a kind has and
  /// needs.
  std::array<std::int32_t, role_count> arrays{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

  [[nodiscard]] MeshKind kind() const noexcept { return geometry ? geometry->type() : MeshKind::none; }
  /// True if its blocks are lists; otherwise they are boxes of its cells.
  [[nodiscard]] bool is_list() const noexcept { return kind() >= MeshKind::unstructured; }
  /// Number of axes of arrays on it.
  [[nodiscard]] int index_dimensions() const noexcept { return is_list() ? 1 : dimensions; }
  /// Node positions as a product of axes, or null.
  [[nodiscard]] const Axes* axes() const noexcept { return geometry ? geometry->axes() : nullptr; }
  /// The variable of a role, -1 if none has it.
  [[nodiscard]] std::int32_t array(Role role) const noexcept { return arrays[static_cast<std::size_t>(role)]; }
  /// All cells of a level.
  [[nodiscard]] Box cells_on(std::int32_t level) const {
    Box box = cells;
    const Index3 ratio = ratio_to(level);
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] *= ratio[a];
      box.hi[a] *= ratio[a];
    }
    return box;
  }

  /// All points that blocks of level 0 have.
  [[nodiscard]] Box points(Centering centering) const noexcept {
    Box box = points_of(centering, cells);
    for (int a = 0; a < dimensions && owned_points; ++a) {
      const auto n = static_cast<std::size_t>(a);
      if (periodic[n] && at_nodes(centering, a)) box.hi[n] = cells.hi[n];
    }
    return box;
  }
  /// The box by which `size` and blocks are declared: cells, or points if these are owned.
  [[nodiscard]] Box declared(const Box& of_cells) const noexcept {
    Box box = of_cells;
    for (int a = 0; a < dimensions && owned_points && !of_cells.empty(); ++a) {
      const auto n = static_cast<std::size_t>(a);
      if (!periodic[n] && of_cells.hi[n] == cells.hi[n]) ++box.hi[n];
    }
    return box;
  }
  /// The numbering of a block with these cells.
  [[nodiscard]] IndexSpace space_of(const Box& of_cells) const noexcept {
    if (is_list()) return IndexSpace::list;
    std::uint32_t bits = 0;
    for (int a = 0; a < dimensions && owned_points; ++a) {
      const auto n = static_cast<std::size_t>(a);
      if (periodic[n] || of_cells.hi[n] < cells.hi[n]) bits |= 2u << a;
    }
    return static_cast<IndexSpace>(bits);
  }

  /// Number of cells of `level` along one cell of level 0, for each axis.
  [[nodiscard]] Index3 ratio_to(std::int32_t level) const {
    Index3 ratio{1, 1, 1};
    for (std::size_t l = 0; l < static_cast<std::size_t>(level); ++l) {
      for (int a = 0; a < 3; ++a) ratio[a] *= refinement.at(l)[a];
    }
    return ratio;
  }
};

}  // namespace sidestream
