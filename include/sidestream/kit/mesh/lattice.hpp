// Integer coordinates of the cells of all levels of a mesh, an octree or patches on refinement levels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "sidestream/kit/data/octree.hpp"

namespace sidestream {

/// A lattice of integers that is as fine as the finest possible level. On the lattice, contact of cells and shared
/// points are found without rounding. Cells are given by level and index, as a TreeCell. Keeps a reference to the mesh,
/// which is an octree or a uniform mesh with refinement levels.
class Lattice {
 public:
  explicit Lattice(const Mesh& mesh);
  [[nodiscard]] const Mesh& mesh() const noexcept { return mesh_; }
  [[nodiscard]] int dimensions() const noexcept { return mesh_.dimensions; }
  [[nodiscard]] std::size_t levels() const noexcept { return steps_.size(); }
  /// Length of a cell of a level along each axis, in steps of the lattice; 1 along unused axes. Throws Error(analysis)
  /// if the level does not exist.
  [[nodiscard]] const Index3& steps(std::int32_t level) const;
  /// The whole mesh.
  [[nodiscard]] const Box& domain() const noexcept { return domain_; }
  [[nodiscard]] Box box(const TreeCell& cell) const;
  /// The centre, with the same bits on every server.
  [[nodiscard]] std::array<double, 3> centre(const TreeCell& cell) const;
  /// True if axes run downwards so that cells are mirrored.
  [[nodiscard]] bool mirrored() const noexcept;
  /// A number that orders cells over all levels and blocks (place_names.hpp).
  [[nodiscard]] std::int64_t name(const TreeCell& cell) const;

 private:
  const Mesh& mesh_;
  std::vector<Index3> steps_;  ///< lengths of cells, by level
  Box domain_;
};

}  // namespace sidestream
