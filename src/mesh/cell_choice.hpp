// Which cells of a mesh an analysis takes: of some levels, in a box.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "mesh/point_grid.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream {

/// Of the cells (or points) that count those of some levels whose middle is in a box: not below its lower and below its
/// upper end on each axis, so that boxes side by side share none. Those of a tree are its leaves.
struct CellChoice {
  std::int32_t coarsest = 0, finest = std::numeric_limits<std::int32_t>::max();
  bool boxed = false;
  std::array<std::array<double, 2>, 3> box{};  ///< by axis, if `boxed`

  [[nodiscard]] bool all() const noexcept {
    return !boxed && coarsest == 0 && finest == std::numeric_limits<std::int32_t>::max();
  }
  [[nodiscard]] bool has_level(std::int32_t level) const noexcept { return coarsest <= level && level <= finest; }
  [[nodiscard]] bool has_place(std::size_t axis, double x) const noexcept {
    return !boxed || (box[axis][0] <= x && x < box[axis][1]);
  }
  /// Whether a cell may have its middle in the box that lies between these ends, which are in any order.
  [[nodiscard]] bool may_have(std::size_t axis, double one_end, double other_end) const noexcept;
};

/// The options `levels` and `box`. `of`: what is taken, as "cells".
[[nodiscard]] std::vector<Option> choice_options();
/// Their values. Throws Error(configuration), also if the mesh has no use for them.
[[nodiscard]] CellChoice read_choice(const Settings& settings, const Mesh& mesh);

/// That of the option `levels` alone.
[[nodiscard]] CellChoice read_choice_of_levels(const Settings& settings, const Mesh& mesh);

/// The blocks that may have some.
[[nodiscard]] Part part_of(const CellChoice& choice);
[[nodiscard]] bool may_have_some(const CellChoice& choice, const BlockSummary& block) noexcept;

/// The indices, of the points of a level of a mesh with axes, within `box` that are in the choice.
[[nodiscard]] Box chosen_in(const CellChoice& choice, const LevelAxes& axes, Centering centering, const Box& box,
                            int dimensions);

}  // namespace sidestream
