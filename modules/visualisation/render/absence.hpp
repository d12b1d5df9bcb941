// Warning about an image in which nothing is visible.
#pragma once

#include <map>
#include <string>

#include "sidestream/kit/analysis/empty_results.hpp"
#include "visualisation/graphics/drawing.hpp"
#include "visualisation/render/scene.hpp"

namespace sidestream::rendering {

/// Watches the images of a scene, which must outlive it.
class Absence {
 public:
  explicit Absence(const Scene& scene);
  /// Adds entries to the selection that are needed for the reason.
  void select(Selection& selection) const;
  /// Looks at this server's stripe of a view.
  void note_stripe(std::size_t view, const Drawing& stripe);
  /// Collective, after all views: warns once if in a view no layer covers a sample of any server's stripe.
  void report(const CombineInput& input);
  void forget() noexcept;

 private:
  [[nodiscard]] std::string why(const std::vector<std::size_t>& blank, const CombineInput& input) const;

  const Scene* scene_;
  std::map<std::size_t, SeenValues> seen_;  ///< by index of a layer, for layers that depend on values
  std::vector<std::int64_t> covered_;       ///< by view: 0 if nothing is seen in the stripe
  EmptyNotice notice_;
};

}  // namespace sidestream::rendering
