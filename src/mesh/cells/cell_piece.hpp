// Some cells of one block, and how the pieces of all blocks become one set of cells, the same bytes however the mesh
// was divided.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mesh/repeated_points.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// What a point is called in all blocks: points of one key are one if they are at one place, and points are written in
/// the order of keys.
struct PointKey {
  /// Of points of the mesh, by number or, of particles without numbers, by place; of points on an edge, cut by plane
  /// `kind`; of points that several planes made.
  enum Kind : std::int64_t { of_mesh = 0, first_plane = 1, several_planes = 7 };
  std::int64_t kind = of_mesh;
  std::int64_t a = 0, b = 0;  ///< twice its number; both ends of the edge; a hash of what it was made from
  auto operator<=>(const PointKey&) const noexcept = default;
};

/// Cells of one block.
struct CellPiece {
  std::vector<std::array<double, 3>> points;
  std::vector<PointKey> keys;                      ///< of each point
  std::vector<std::vector<double>> point_data;     ///< [attribute][point]
  std::vector<std::uint8_t> types;                 ///< as VTK numbers them
  std::vector<std::int64_t> ends, links;           ///< as in CellSet
  std::vector<std::int64_t> faces, face_ends;      ///< likewise; an end for each cell
  std::vector<std::array<std::int64_t, 2>> names;  ///< of each cell: by what cells are in order; several may be alike
  std::vector<std::vector<double>> cell_data;      ///< [attribute][cell]
  bool apart = false;                              ///< particles: each point is a cell, and none is another one
};

/// What the data of pieces are called: names and components.
struct CellLayout {
  struct Array {
    std::string name;
    std::int32_t components = 1;
  };
  std::vector<Array> point_data, cell_data;
};

/// Pieces as bytes for a partial result; those without cells are left out.
[[nodiscard]] Bytes to_bytes(std::span<const CellPiece> pieces);
/// The inverse. Throws Error(internal) if the bytes are damaged.
[[nodiscard]] std::vector<CellPiece> to_cell_pieces(BytesView bytes);

/// One set of all pieces: points in the order of their keys, once each, cells in the order of their names, and those
/// that are alike in that of their types and points. `repeated` is told of points whose key another one elsewhere has.
[[nodiscard]] CellSet merge(std::vector<CellPiece> pieces, const CellLayout& layout, RepeatedPoints& repeated);

/// Collective: deals out the cells of all servers' partials anew, so that server after server has about as many, in the
/// order of the one set of them all.
[[nodiscard]] std::vector<CellPiece> share_cells(std::span<const Bytes> partials, Communicator& servers);

}  // namespace sidestream
