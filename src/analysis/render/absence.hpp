// Warning about an image in which nothing is visible.
#pragma once

#include <map>
#include <string>

#include "analysis/common/extract/empty_results.hpp"
#include "analysis/render/scene.hpp"
#include "graphics/drawing.hpp"

namespace sidestream::rendering {

/// Watches the images of a scene, which must outlive it.
class Absence {
 public:
  explicit Absence(const Scene& scene);
  /// Adds entries to the selection that are needed for the reason.
  void select(Selection& selection) const;
  /// Collective: warns once if no layer covers a sample of any server's stripe.
  void look(const Drawing& stripe, const CombineInput& input);
  void forget() noexcept;

 private:
  [[nodiscard]] std::string why(const CombineInput& input) const;

  const Scene* scene_;
  std::map<std::size_t, SeenValues> seen_;  ///< by index of a layer, for layers that depend on values
  EmptyNotice notice_;
};

}  // namespace sidestream::rendering
