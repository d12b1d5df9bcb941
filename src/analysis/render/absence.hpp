// What is said of a picture in which nothing is seen.
#pragma once

#include <map>
#include <string>

#include "analysis/common/extract/empty_results.hpp"
#include "analysis/render/scene.hpp"
#include "graphics/framebuffer.hpp"

namespace sidestream::rendering {

/// Watches the pictures of a scene, which outlives it.
class Absence {
 public:
  explicit Absence(const Scene& scene);
  /// Adds what has to be known to say why.
  void select(Selection& selection) const;
  /// Collective: says it once if no layer covers a sample of any server's stripe.
  void look(const Framebuffer& stripe, const CombineInput& input);
  void forget() noexcept;

 private:
  [[nodiscard]] std::string why(const CombineInput& input) const;

  const Scene* scene_;
  std::map<std::size_t, SeenValues> seen_;  ///< by the number of a layer: of those that go by values
  EmptyNotice notice_;
};

}  // namespace sidestream::rendering
