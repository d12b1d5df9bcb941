// Isosurfaces in trees and in patches on refinement levels.
//
// Points are the centres of the cells that count, cells are those of the dual mesh (leaf_set.hpp). `local` makes the
// surface round corners that one block has to itself; what goes on between blocks is made in `combine` from the leaves
// on their rims, which come along in the partial.
#pragma once

#include <vector>

#include "analysis/common/extract/extract.hpp"
#include "contour/dual/seam_leaves.hpp"

namespace sidestream {

struct LevelPieces {
  std::vector<Piece> pieces;   ///< as of extract()
  std::vector<BlockRim> rims;  ///< for pieces_between
};

[[nodiscard]] LevelPieces extract_from_levels(const IsosurfaceQuery& query, const LocalInput& input);

/// Collective: the pieces between blocks, each on one server. `rims`: of all blocks of this server.
[[nodiscard]] std::vector<Piece> pieces_between(const IsosurfaceQuery& query, const Metadata& metadata,
                                                std::span<const BlockRim> rims, Communicator& servers);

/// Collective: gives the pieces of all servers normals. `rims`: as for pieces_between, whose pieces are those from
/// number `between` on.
void add_normals(const IsosurfaceQuery& query, const Metadata& metadata, std::span<const BlockRim> rims,
                 std::vector<Piece>& pieces, std::size_t between, Communicator& servers);

/// The rims of several surfaces, by their numbers, in partials that have something else besides.
class LayerRims {
 public:
  explicit LayerRims(std::size_t layers) : rims_(layers) {}
  void add(std::size_t layer, std::vector<BlockRim> rims);
  [[nodiscard]] std::span<const BlockRim> of(std::size_t layer) const { return rims_[layer]; }
  /// A partial.
  [[nodiscard]] Bytes with(BytesView rest) const;
  /// Adds the rims in partials, and returns the rest of each.
  [[nodiscard]] std::vector<Bytes> split(std::span<const Bytes> partials);

 private:
  std::vector<std::vector<BlockRim>> rims_;
};

}  // namespace sidestream
