// Choice of cells of a mesh by an analysis: of some levels, in a box.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/option_table.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"

namespace sidestream {

/// Chooses counting cells (or points) of some levels whose middle lies in a box. On each axis the lower end belongs to
/// the box and the upper end does not, so that adjacent boxes share no cell. For a tree the cells are its leaves.
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
  /// True if a cell between these ends, given in any order, may have its middle in the box.
  [[nodiscard]] bool may_have(std::size_t axis, double one_end, double other_end) const noexcept;
};

/// The options `levels` and `box`. `of`: name of the chosen items, for example "cells".
[[nodiscard]] std::vector<Option> choice_options();
/// Reads these options. Throws Error(configuration) if they are invalid or the mesh cannot use them.
[[nodiscard]] CellChoice read_choice(const Settings& settings, const Mesh& mesh);

/// These options bound to a field; `variable`, bound above them, lies on the mesh.
template <class Owner, class Base>
[[nodiscard]] OptionField<Owner> choice_options(CellChoice Owner::*choice, Variable Base::*variable) {
  return options_read_by(
      [variable](const Settings& settings, const Metadata& metadata, const Owner& owner) {
        return read_choice(settings, metadata.mesh_of(owner.*variable));
      },
      choice_options(), choice);
}

/// Reads only the option `levels`.
[[nodiscard]] CellChoice read_choice_of_levels(const Settings& settings, const Mesh& mesh);

/// The blocks that may have chosen cells.
[[nodiscard]] Part part_of(const CellChoice& choice);
[[nodiscard]] bool may_have_some(const CellChoice& choice, const BlockSummary& block) noexcept;

/// The indices of the chosen points within `box`, on a level of a mesh with axes.
[[nodiscard]] Box chosen_in(const CellChoice& choice, const LevelAxes& axes, Centering centering, const Box& box,
                            int dimensions);

/// The parts of boxes of cells between points (PointGrid) whose points are all chosen, on level 0.
[[nodiscard]] std::vector<Box> cells_between_chosen(const CellChoice& choice, const Mesh& mesh, Centering centering,
                                                    std::vector<Box> cells);

}  // namespace sidestream
