// Pieces of a scene's layers, among them stream lines and the edges of cells on a slice.
//
// Pieces that the first pass extracts, for a range, are kept for the second. Of the edges there are as many as can be
// told apart.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "visualisation/contour/contour.hpp"
#include "visualisation/extract/level_surfaces.hpp"
#include "visualisation/graphics/camera.hpp"
#include "visualisation/lines/lines.hpp"
#include "visualisation/render/scene.hpp"

namespace sidestream::rendering {

/// True if a layer is an isosurface that is completed in `combine`, since it crosses refinement levels.
[[nodiscard]] bool in_levels(const Layer& layer);

/// True if a layer is completed in `combine`: such an isosurface, or lines.
[[nodiscard]] bool is_completed(const Layer& layer);

/// The variable whose blocks a layer is extracted from; -1 if it needs no values.
[[nodiscard]] std::int32_t leading_variable(const Layer::Query& query);

/// Pieces of layers of this server's blocks. The scene must outlive it.
class LayerPieces {
 public:
  explicit LayerPieces(const Scene& scene) : scene_(&scene) {}

  /// Extracts a layer. Volumes have no pieces, and lines have none yet.
  [[nodiscard]] static LevelPieces extract_layer(const Layer& layer, const LocalInput& input);
  /// Keeps pieces of a layer for the next pass. Drops pieces of other iterations.
  void keep(std::size_t layer, const LocalInput& input, LevelPieces found);
  /// The pieces that were kept for the same blocks; otherwise extracts them.
  [[nodiscard]] LevelPieces take(std::size_t layer, const LocalInput& input);
  void drop_others(const Iteration& iteration);

 private:
  struct Kept {
    std::size_t layer;
    std::int64_t iteration;
    std::vector<std::int64_t> blocks;
    LevelPieces found;
  };

  [[nodiscard]] std::vector<std::int64_t> blocks_of(std::size_t layer, const LocalInput& input) const;

  const Scene* scene_;
  std::vector<Kept> kept_;
};

/// Collective: traces lines, which rank 0 gets as a piece with all their values; elsewhere there is none. Throws
/// Error(configuration) on all servers alike where blocks are not on the servers that combine.
[[nodiscard]] std::vector<Piece> pieces_of_lines(const streamlines::Query& query, const CombineInput& input);

/// The lines of a piece, which are closed outlines of cells one after the other, without those of cells whose picture
/// is narrower than `least` samples along the picture's rows or columns: so many lines would make a dark area, or
/// moiré. Each cell is judged by itself, so that the result does not depend on the division into blocks.
[[nodiscard]] std::vector<std::array<std::int64_t, 2>> distinct_edges(const Piece& piece, const Camera& camera,
                                                                      double least);

}  // namespace sidestream::rendering
