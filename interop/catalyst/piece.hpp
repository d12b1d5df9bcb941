// A rank's part of a mesh and its fields, as the host describes it in one call of `execute`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <sidestream/data/box.hpp>
#include <sidestream/data/mesh.hpp>
#include <sidestream/data/variable.hpp>
#include <string>
#include <vector>

#include "conduit.hpp"
#include "opening.hpp"

namespace sidestream::catalyst {

/// Values of a field on a piece. Refers to the host's memory.
struct FieldPiece {
  std::string name, unit;
  std::string path;  ///< of its node, for messages
  Centering centering = Centering::cell;
  std::vector<Numbers> components;
  Index first = 0;          ///< number of the value that belongs to the first cell or point
  Index3 strides{1, 0, 0};  ///< in values, along i, j, k
};

/// Cells of an unstructured piece, as Sidestream publishes them (docs/mesh-kinds.md).
struct CellLists {
  std::vector<std::int64_t> connectivity, offsets, faces, face_offsets;
  std::vector<std::uint8_t> types;
};

/// A part of one mesh. Axes that the mesh does not use have one cell.
struct MeshPiece {
  std::string mesh;  ///< name of its mesh
  std::string path;  ///< of its node, for messages
  MeshKind kind = MeshKind::none;
  int dimensions = 3;
  std::int64_t number = 0;         ///< counts the rank's pieces of this mesh
  std::optional<std::int64_t> id;  ///< the host's own number, unique in the job
  bool refined = false;            ///< a patch of a mesh with levels
  int level = 0;

  // Boxes of cells.
  Index3 cells{1, 1, 1};        ///< numbers of cells that the arrays cover, ghosts included
  Box owned;                    ///< the cells without ghosts, counted from the first of the arrays
  std::optional<Index3> first;  ///< index of the first cell in the whole mesh, if the host tells it
  std::array<double, 3> origin{0, 0, 0}, spacing{1, 1, 1};  ///< uniform: of the first node of the arrays
  std::array<std::vector<double>, 3> nodes;                 ///< rectilinear

  // Explicit places: curvilinear, unstructured, points.
  std::vector<Numbers> coordinates;
  Index first_place = 0;          ///< curvilinear: number of the first point among them
  Index3 place_strides{1, 0, 0};  ///< curvilinear: in points, along i, j, k
  Index points = 0;
  Index list_cells = 0;
  CellLists lists;
  std::vector<std::uint8_t> point_ghosts, cell_ghosts;  ///< lists only; empty if the host has none

  std::vector<FieldPiece> fields;

  [[nodiscard]] bool is_list() const noexcept { return kind >= MeshKind::unstructured; }
  /// Numbers of points along each axis that the arrays cover.
  [[nodiscard]] Index3 box_points() const noexcept {
    Index3 count{1, 1, 1};
    for (int a = 0; a < dimensions; ++a) count[static_cast<std::size_t>(a)] = cells[static_cast<std::size_t>(a)] + 1;
    return count;
  }
  /// Number of cells or points.
  [[nodiscard]] Index count(Centering centering) const noexcept {
    if (is_list()) return centering == Centering::cell ? list_cells : points;
    const Index3 n = centering == Centering::cell ? cells : box_points();
    return n[0] * n[1] * n[2];
  }
};

using interop::Problems;

}  // namespace sidestream::catalyst
