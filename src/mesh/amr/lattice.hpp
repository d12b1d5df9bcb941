// Integer coordinates of the cells of all levels of a mesh, a tree or patches on refinement levels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/octree.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// Maps cells of all levels to one lattice of whole numbers, as fine as the finest possible level: contact between
/// cells, and the points they share, are decided without rounding. Cells are named as in TreeCell: by their level and
/// their indices on it. Keeps a reference to the mesh, which is an octree, or uniform with refinement levels.
class Lattice {
 public:
  explicit Lattice(const Mesh& mesh);
  [[nodiscard]] const Mesh& mesh() const noexcept { return mesh_; }
  [[nodiscard]] int dimensions() const noexcept { return mesh_.dimensions; }
  [[nodiscard]] std::size_t levels() const noexcept { return steps_.size(); }
  /// Extent of a cell of a level on each axis, in steps of the lattice; 1 along axes that the mesh does not use. Throws
  /// Error(analysis) if there are not that many levels.
  [[nodiscard]] const Index3& steps(std::int32_t level) const;
  /// The whole mesh.
  [[nodiscard]] const Box& domain() const noexcept { return domain_; }
  [[nodiscard]] Box box(const TreeCell& cell) const;
  /// Position of a cell's centre, the same bits on every server.
  [[nodiscard]] std::array<double, 3> centre(const TreeCell& cell) const;
  /// True if axes run downwards so that cells are mirrored.
  [[nodiscard]] bool mirrored() const noexcept;
  /// A number that orders cells over all levels and blocks (see place_names.hpp).
  [[nodiscard]] std::int64_t name(const TreeCell& cell) const;

 private:
  const Mesh& mesh_;
  std::vector<Index3> steps_;  ///< by level
  Box domain_;
};

}  // namespace sidestream
