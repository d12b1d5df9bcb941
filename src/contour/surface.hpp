// Joins pieces of blocks to one surface, with the same bytes however the mesh was divided.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "contour/contour.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/extend/communicator.hpp"

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

}  // namespace sidestream
