// From pieces of blocks to one surface, the same bytes however the mesh was divided.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/contour.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Pieces as bytes for a partial result; pieces without triangles and lines are left out.
[[nodiscard]] Bytes to_bytes(std::span<const Piece> pieces);
/// The inverse. Throws Error(internal) if the bytes are damaged.
[[nodiscard]] std::vector<Piece> to_pieces(BytesView bytes);

/// Names and components of Piece::data, in order: an array of c components takes c attributes.
struct AttributeLayout {
  std::string name;
  std::int32_t components = 1;
};

/// One surface of all pieces: layers one after another, in each the points in the order of their keys, once
/// each, and the triangles or lines in the order of their cells. Point data: the attributes as `layout` says, then
/// `normals` if the pieces have them (asked for by `normals`).
[[nodiscard]] Surface merge(std::span<const Piece> pieces, std::span<const AttributeLayout> layout, bool normals);

/// Collective: all servers' partials, gathered and merged on rank 0; an empty surface elsewhere.
[[nodiscard]] std::vector<Piece> gather_pieces(std::span<const Bytes> partials, Communicator& communicator);

}  // namespace sidestream
