// The ranges that colours span, and the box that the camera looks at, where only the data say how far they reach: each
// server sees what its blocks show, and all of it together counts.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analysis/render/scene.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::rendering {

/// Of each colour scale, and then along x, y and z where the domain is found; low > high where there is nothing.
using Ranges = std::vector<ColourRange>;

/// What a scene leaves open. The scene outlives it.
class ShownRanges {
 public:
  explicit ShownRanges(const Scene& scene) : scene_(&scene) {}

  /// Whether anything is open: then a pass of its own sees what is shown.
  [[nodiscard]] bool are_found() const;
  /// Whether the layer's values decide about a range.
  [[nodiscard]] bool is_open(const Layer& layer) const;

  /// Nothing seen yet.
  [[nodiscard]] Ranges nothing() const;
  /// Adds the places of the points that a block owns; `view` is of coordinates. Where they have fewer than three
  /// components, the others are 0.
  void add_places(const BlockView& view, Ranges& seen) const;
  /// Adds the balls of particles; those of a size in pixels by where their middle is.
  void add_balls(const ParticlesQuery& query, const Piece& piece, Ranges& seen) const;
  /// Adds the values of a layer that is open.
  void add_values(const Layer& layer, const Piece& piece, Ranges& seen) const;

  /// Collective over the servers: what all of them have seen, of which `seen` is this one's, and the ranges that
  /// colours then span. The same on all.
  /// `remember` may widen what the scales have shown, before equal ends are taken apart.
  [[nodiscard]] Ranges joined(std::span<const Ranges> seen, Communicator& servers,
                              const std::function<void(std::span<ColourRange>)>& remember) const;
  /// What `joined` gave, as bytes; if nothing is open, what the scene says.
  [[nodiscard]] Ranges from(BytesView joined) const;
  /// A partial of the pass that finds them. Throws Error(internal) if it is none.
  [[nodiscard]] Ranges seen_in(BytesView partial) const;
  /// Where everything is.
  [[nodiscard]] Domain domain(const Ranges& ranges) const;

 private:
  [[nodiscard]] std::size_t count() const { return scene_->scales.size() + (scene_->finds_domain() ? 3 : 0); }
  [[nodiscard]] std::span<ColourRange> axes(Ranges& ranges) const {
    return std::span(ranges).subspan(scene_->scales.size());
  }
  [[nodiscard]] static ColourRange usable(const ColourScale& scale, ColourRange found);

  const Scene* scene_;
};

}  // namespace sidestream::rendering
