// Ranges of colours, and the domain that the camera shows, where only the data determine them.
//
// Each server finds the ranges of its blocks, and all are joined. Running ranges only grow from frame to frame, so that
// the frames of a film are comparable.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/communicator.hpp"
#include "visualisation/render/scene.hpp"

namespace sidestream::rendering {

/// Ranges by colour scale, followed by those along x, y and z if the domain is found; low > high if nothing exists.
using Ranges = std::vector<ColourRange>;

/// Ranges that a scene leaves open. The scene must outlive it.
class ShownRanges {
 public:
  explicit ShownRanges(const Scene& scene) : scene_(&scene) {}

  /// True if a range is open, which takes a pass to find.
  [[nodiscard]] bool are_found() const;
  /// True if a range depends on the layer's values.
  [[nodiscard]] bool is_open(const Layer& layer) const;

  /// Empty ranges.
  [[nodiscard]] Ranges nothing() const;
  /// Adds the positions of the points that a block owns; `view` is of coordinates. If it has fewer than three
  /// components, the others are 0.
  void add_places(const BlockView& view, Ranges& seen) const;
  /// Adds the balls of particles; balls with a size in pixels count by their centre.
  void add_balls(const ParticlesQuery& query, const Piece& piece, Ranges& seen) const;
  /// Adds the values of a layer with an open range.
  void add_values(const Layer& layer, const Piece& piece, Ranges& seen) const;
  /// Adds the values of a volume's layer.
  void add_values(const Layer& layer, const VolumeQuery& query, const LocalInput& input, Ranges& seen) const;

  /// Collective over the servers: joins the ranges of all servers; `seen` has those of this one. The result is the same
  /// on all. `remember` may widen the ranges of scales, before ranges of zero width are widened.
  [[nodiscard]] Ranges joined(std::span<const Ranges> seen, Communicator& servers,
                              const std::function<void(std::span<ColourRange>)>& remember) const;
  /// Decodes the result of `joined`; if nothing is open, returns the scene's ranges.
  [[nodiscard]] Ranges from(BytesView joined) const;
  /// Decodes a partial of the pass that finds ranges. Throws Error(internal) if it is not one.
  [[nodiscard]] Ranges seen_in(BytesView partial) const;
  /// The domain that contains everything.
  [[nodiscard]] Domain domain(const Ranges& ranges) const;

 private:
  [[nodiscard]] std::size_t count() const { return scene_->scales.size() + (scene_->finds_domain() ? 3 : 0); }
  [[nodiscard]] std::span<ColourRange> axes(Ranges& ranges) const {
    return std::span(ranges).subspan(scene_->scales.size());
  }
  [[nodiscard]] static ColourRange usable(const ColourScale& scale, ColourRange found);

  const Scene* scene_;
};

/// Ranges of the scales of a scene with `range: running`; the scene must outlive it. They are kept in a table next to
/// the frames; a resumed run continues from that table.
class RunningRanges {
 public:
  explicit RunningRanges(const Scene& scene);

  /// Collective: widens the ranges shown in this iteration (low > high if nothing) by those shown before. The result is
  /// the same on all servers and in all placements.
  void widen(std::span<ColourRange> shown, const CombineInput& input);

 private:
  [[nodiscard]] std::vector<ColourRange> kept_before(const CombineInput& input) const;
  void keep(const CombineInput& input) const;

  const Scene* scene_;
  std::string file_;  ///< file of the table
  bool any_ = false, begun_ = false;
  std::vector<ColourRange> so_far_;  ///< by scale
};

}  // namespace sidestream::rendering
