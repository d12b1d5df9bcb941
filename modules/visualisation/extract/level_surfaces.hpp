// Isosurfaces in trees and in patches on refinement levels.
//
// Points are the centres of counted cells; cells are those of the dual mesh (leaf_set.hpp). `local` extracts the
// surface around corners whose leaves all belong to one block. The part between blocks is extracted in `combine`, from
// the leaves at their borders, which are part of the partial.
#pragma once

#include <vector>

#include "visualisation/contour/dual/seam_leaves.hpp"
#include "visualisation/extract/extract.hpp"

namespace sidestream {

struct LevelPieces {
  std::vector<Piece> pieces;   ///< as from extract()
  std::vector<BlockRim> rims;  ///< for pieces_between
};

[[nodiscard]] LevelPieces extract_from_levels(const IsosurfaceQuery& query, const LocalInput& input);

/// Collective: returns the pieces between blocks, each on one server. `rims`: of all blocks of this server.
[[nodiscard]] std::vector<Piece> pieces_between(const IsosurfaceQuery& query, const Metadata& metadata,
                                                std::span<const BlockRim> rims, Communicator& servers);

/// Collective: adds normals to the pieces of all servers. `rims`: as for pieces_between, whose pieces begin at index
/// `between`.
void add_normals(const IsosurfaceQuery& query, const Metadata& metadata, std::span<const BlockRim> rims,
                 std::vector<Piece>& pieces, std::size_t between, Communicator& servers);

/// Rims of several surfaces, by index, in partials that contain other data as well.
class LayerRims {
 public:
  explicit LayerRims(std::size_t layers) : rims_(layers) {}
  void add(std::size_t layer, std::vector<BlockRim> rims);
  [[nodiscard]] std::span<const BlockRim> of(std::size_t layer) const { return rims_[layer]; }
  /// A partial with the rims and `rest`.
  [[nodiscard]] Bytes with(BytesView rest) const;
  /// Adds the rims of partials, and returns the rest of each.
  [[nodiscard]] std::vector<Bytes> split(std::span<const Bytes> partials);

 private:
  std::vector<std::vector<BlockRim>> rims_;
};

}  // namespace sidestream
