// Pieces with the cells of single blocks, and their union as one set of cells. The set has the same bytes for every
// division of the mesh.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/result.hpp"
#include "sidestream/extend/communicator.hpp"
#include "visualisation/mesh/repeated_points.hpp"

namespace sidestream {

/// Identity of a point over all blocks. Points with the same key at the same position are one point. Points are written
/// in the order of keys.
struct PointKey {
  /// The kinds of keys: points of the mesh, by number or, for particles without numbers, by position; points on an
  /// edge, cut by plane `kind`; points that several planes made.
  enum Kind : std::int64_t { of_mesh = 0, first_plane = 1, several_planes = 7 };
  std::int64_t kind = of_mesh;
  std::int64_t a = 0, b = 0;  ///< twice its number; both ends of the edge; a hash of its origin
  auto operator<=>(const PointKey&) const noexcept = default;
};

/// Cells of one block.
struct CellPiece {
  std::vector<std::array<double, 3>> points;
  std::vector<PointKey> keys;                      ///< one per point
  std::vector<std::vector<double>> point_data;     ///< [attribute][point]
  std::vector<std::uint8_t> types;                 ///< with VTK's numbers
  std::vector<std::int64_t> ends, links;           ///< as in CellSet
  std::vector<std::int64_t> faces, face_ends;      ///< likewise; an end for each cell
  std::vector<std::array<std::int64_t, 2>> names;  ///< by cell: the order of cells; several may be equal
  std::vector<std::vector<double>> cell_data;      ///< [attribute][cell]
  bool apart = false;                              ///< particles: each point is a cell, and none is merged with another
};

/// Names and components of the data of pieces.
struct CellLayout {
  struct Array {
    std::string name;
    std::int32_t components = 1;
  };
  std::vector<Array> point_data, cell_data;
};

/// Serialises pieces for a partial result; those without cells are left out.
[[nodiscard]] Bytes to_bytes(std::span<const CellPiece> pieces);
/// The inverse of to_bytes. Throws Error(internal) if the bytes are damaged.
[[nodiscard]] std::vector<CellPiece> to_cell_pieces(BytesView bytes);

/// Merges all pieces. Points are in the order of their keys, each once. Cells are in the order of their names; cells
/// with equal names are in the order of their types and points. `repeated` records points that share their key with a
/// point at another position.
[[nodiscard]] CellSet merge(std::vector<CellPiece> pieces, const CellLayout& layout, RepeatedPoints& repeated);

/// Redistributes the cells of all servers' partials, in the order of their merged set, about equally over the servers.
/// Collective.
[[nodiscard]] std::vector<CellPiece> share_cells(std::span<const Bytes> partials, Communicator& servers);

}  // namespace sidestream
