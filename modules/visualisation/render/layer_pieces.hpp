// Pieces of a scene's layers. Those that the first pass extracts, for a range, are kept for the second.
#pragma once

#include <cstdint>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "visualisation/extract/level_surfaces.hpp"
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
  /// Keeps pieces of a layer for the next pass. What was kept in other iterations is dropped.
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

}  // namespace sidestream::rendering
