// Where the cells of all levels of a mesh are, be it a tree or patches on refinement levels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/octree.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// Cells of all levels on one lattice of whole numbers, as fine as the finest level that there may be: whether cells
/// touch, and which points they share, is decided without rounding. Cells are named as TreeCell does: by their level
/// and their indices on it. Keeps a reference to the mesh, which is an octree, or uniform with refinement levels.
class Lattice {
 public:
  explicit Lattice(const Mesh& mesh);
  [[nodiscard]] const Mesh& mesh() const noexcept { return mesh_; }
  [[nodiscard]] int dimensions() const noexcept { return mesh_.dimensions; }
  [[nodiscard]] std::size_t levels() const noexcept { return steps_.size(); }
  /// How long a cell of a level is on each axis, in steps of the lattice; 1 along axes that the mesh does not use.
  /// Throws Error(analysis) if there are not so many levels.
  [[nodiscard]] const Index3& steps(std::int32_t level) const;
  /// The whole mesh.
  [[nodiscard]] const Box& domain() const noexcept { return domain_; }
  [[nodiscard]] Box box(const TreeCell& cell) const;
  /// The same bits on every server.
  [[nodiscard]] std::array<double, 3> centre(const TreeCell& cell) const;
  /// Whether axes run downwards so that cells are mirrored.
  [[nodiscard]] bool mirrored() const noexcept;
  /// By which cells are in order over all levels and blocks (see place_names.hpp).
  [[nodiscard]] std::int64_t name(const TreeCell& cell) const;

 private:
  const Mesh& mesh_;
  std::vector<Index3> steps_;  ///< of each level
  Box domain_;
};

}  // namespace sidestream
