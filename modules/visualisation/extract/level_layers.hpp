// Isosurfaces in trees and on refinement levels as layers of an image: complete, with normals, before they are drawn.
#pragma once

#include <vector>

#include "visualisation/contour/surface_shares.hpp"
#include "visualisation/extract/level_surfaces.hpp"

namespace sidestream {

/// Holds such surfaces between `local` and `combine`. A point's normal is the mean over all adjacent triangles, from
/// whatever blocks. So triangles cannot be drawn before those between blocks exist.
class LevelLayers {
 public:
  explicit LevelLayers(std::size_t layers) : given_(layers), held_(layers), rims_(layers), pieces_(layers) {}

  /// In `local`: adds a layer's pieces of this server's blocks.
  void add(std::size_t layer, LevelPieces found);
  /// After that: returns the partial, including `rest`.
  [[nodiscard]] Bytes partial(const LocalInput& input, BytesView rest);

  /// In `combine`: returns the rest of each partial.
  [[nodiscard]] std::vector<Bytes> take(const CombineInput& input);
  /// After that, collective, for each layer: returns all its pieces, including those between blocks, with normals if
  /// the query requests them.
  [[nodiscard]] std::vector<Piece> surface(std::size_t layer, const IsosurfaceQuery& query, const CombineInput& input);

  void drop() noexcept;

 private:
  std::vector<LevelPieces> given_;  ///< used in `local`
  std::vector<LocalPieces> held_;
  LayerRims rims_;                          ///< used in `combine`
  std::vector<std::vector<Piece>> pieces_;  ///< used in `combine`
};

}  // namespace sidestream
