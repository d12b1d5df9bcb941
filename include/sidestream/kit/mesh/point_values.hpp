// Elements of arrays as real numbers, and the points of blocks that are lists.
#pragma once

#include <fmt/format.h>

#include "sidestream/data/array.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// A component of one point of an array.
[[nodiscard]] inline double number_at(const ArrayView& array, const Index3& p, int component) {
  return with_type(array.type, [&](auto zero) {
    return static_cast<double>(*array.at<decltype(zero)>(p[0], p[1], p[2], component));
  });
}

/// An element of a list as a real number.
[[nodiscard]] inline double real_at(const BlockView& view, Index i, int component) {
  return number_at(view.array, {i, 0, 0}, component);
}

/// Calls `f(number in the list)` for each point that counts as the block's, in ascending order.
template <class F>
void for_each_counted(const BlockView& view, F&& f) {
  for (const Box& box : view.counted()) {
    for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
      if (view.ghosts.data == nullptr || *view.ghosts.at<std::uint8_t>(i, 0, 0) == 0) f(i);
    }
  }
}

/// The mesh of particles that the option `mesh` names. Throws Error(configuration) if it is of another kind.
[[nodiscard]] inline const Mesh& read_particles(const Settings& settings, const Metadata& metadata) {
  const Mesh& mesh = *metadata.find_mesh(settings.text("mesh"));
  if (mesh.kind() == MeshKind::points) return mesh;
  settings.fail("mesh", fmt::format("mesh '{}' is {}; expected one of type 'points'", mesh.name,
                                    mesh.geometry ? mesh.geometry->kind() : "none"));
}

}  // namespace sidestream
