// Pieces of blocks over all servers: as bytes, gathered to one surface, with normals. The results are the same however
// the mesh was divided.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sidestream/data/result.hpp"
#include "sidestream/extend/communicator.hpp"
#include "visualisation/contour/contour.hpp"

namespace sidestream {

/// Serialises pieces for a partial result; pieces without triangles and lines are left out.
[[nodiscard]] Bytes to_bytes(std::span<const Piece> pieces);
/// The inverse of to_bytes. Throws Error(internal) if the bytes are damaged.
[[nodiscard]] std::vector<Piece> to_pieces(BytesView bytes);

/// Names and components of Piece::data, in order: an array of c components takes c attributes.
struct AttributeLayout {
  std::string name;
  std::int32_t components = 1;
};

/// All servers' pieces on rank 0; nothing elsewhere. Collective.
[[nodiscard]] std::vector<Piece> gather_pieces(std::vector<Piece> mine, Communicator& communicator);

/// Number of triangles and lines in each of `layers` layers.
[[nodiscard]] std::vector<std::int64_t> count_cells(std::span<const Piece> pieces, std::size_t layers);

/// Size of a piece, for deciding if a surface is written in pieces: the same however it is stored.
[[nodiscard]] std::uint64_t bytes_of(const Piece& piece);

// Normals of surfaces with triangles only, without a gradient.

/// Gives each point the mean normal of its triangles in all servers' pieces, weighted by their areas. Collective. The
/// vectors are added in a canonical order, so that the mean does not depend on how triangles are divided; where they
/// cancel the normal is along z. `shared` is an ascending list of names. A point may be in several pieces only if the
/// list has both parts of its key; additional names do no harm.
void add_facet_normals(std::vector<Piece>& pieces, std::span<const std::int64_t> shared, Communicator& servers);

}  // namespace sidestream
