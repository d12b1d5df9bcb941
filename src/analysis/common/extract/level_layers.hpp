// Isosurfaces in trees and on refinement levels as layers of a picture: whole, with normals, before they are drawn.
#pragma once

#include <vector>

#include "analysis/common/extract/level_surfaces.hpp"
#include "contour/surface_shares.hpp"

namespace sidestream {

/// What a task has of such surfaces between `local` and `combine`. A point's normal is the mean over all triangles
/// round it, whichever blocks they come from, so that triangles cannot be drawn before those between blocks are there.
class LevelLayers {
 public:
  explicit LevelLayers(std::size_t layers) : given_(layers), held_(layers), rims_(layers), pieces_(layers) {}

  /// In `local`: what a layer has of this server's blocks.
  void add(std::size_t layer, LevelPieces found);
  /// Then: the partial, with `rest`.
  [[nodiscard]] Bytes partial(const LocalInput& input, BytesView rest);

  /// In `combine`: the rest of each partial.
  [[nodiscard]] std::vector<Bytes> take(const CombineInput& input);
  /// Then, collective, for each layer: all its pieces, those between blocks among them, with normals if the query has
  /// them.
  [[nodiscard]] std::vector<Piece> surface(std::size_t layer, const IsosurfaceQuery& query, const CombineInput& input);

  void drop() noexcept;

 private:
  std::vector<LevelPieces> given_;  ///< in `local`
  std::vector<LocalPieces> held_;
  LayerRims rims_;                          ///< in `combine`
  std::vector<std::vector<Piece>> pieces_;  ///< likewise
};

}  // namespace sidestream
