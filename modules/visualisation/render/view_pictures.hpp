// Pictures of a scene's views: drawings of several views in one partial, and finished pictures as results.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/result.hpp"
#include "sidestream/extend/analysis.hpp"
#include "visualisation/render/materials.hpp"
#include "visualisation/render/scene.hpp"
#include "visualisation/render/shown_ranges.hpp"

namespace sidestream::rendering {

/// One partial with the encoded drawings of all views, which `split_drawings` returns by view, each with those of all
/// partials.
[[nodiscard]] Bytes join_drawings(std::vector<Bytes> drawn);
[[nodiscard]] std::vector<std::vector<Bytes>> split_drawings(std::span<const Bytes> partials, std::size_t views);

/// Completes pictures on rank 0 and hands them over as results. The scene and the materials must outlive it.
class ViewPictures {
 public:
  ViewPictures(const Scene& scene, const Materials& materials)
      : scene_(&scene), materials_(&materials), layout_(layout_of(scene)) {}

  /// Adds the colour bars, the caption and the lengths to the rows of a view's picture, given by servers, and hands it
  /// over. A failure is kept for `end`, since the other servers continue with the next view.
  void add(std::size_t view, const std::vector<Bytes>& parts, const CombineInput& input, const Ranges& ranges,
           const Domain& domain);
  /// After the last view of an iteration and all communication: throws the failure, if any.
  void end(const CombineInput& input);

  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }

 private:
  [[nodiscard]] Image finish(const CameraView& view, const std::vector<Bytes>& parts, const Iteration& iteration,
                             const Ranges& ranges, const Domain& domain) const;
  void hand_over(std::size_t view, const Image& picture, const CombineInput& input);
  void list(const CameraView& view, const Iteration& iteration, const std::string& file);

  const Scene* scene_;
  const Materials* materials_;
  Layout layout_;
  Table listed_;                ///< pictures of this iteration in a database
  std::exception_ptr failure_;  ///< the first of this iteration
};

}  // namespace sidestream::rendering
