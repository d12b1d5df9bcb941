// What goes from level to level and from patch to patch.
#pragma once

#include <vector>

#include "levels.hpp"

namespace advection {

/// Fluxes through the faces of a level's patches, by axis and patch.
using Fluxes = std::array<std::vector<Field>, 3>;

/// Sets the cells of `where` to the coarser level's, with limited slopes in their middles, so that the cells in one
/// have its mean. `coarse` covers these and one layer round them.
void interpolate(const Field& coarse, const Box& where, const Index3& ratio, int axes, Field& fine);
/// The slope over a cell from its neighbours' values: the central one, or, if that is less, twice that to the nearer
/// neighbour; 0 at extrema.
[[nodiscard]] double central_slope(double before, double here, double after);

/// The exchanges of some levels, made anew when patches change. Collective, all of them.
class Transfers {
 public:
  Transfers() = default;
  Transfers(MPI_Comm comm, const Geometry& geometry, const std::vector<Level>& levels);

  /// Two layers of cells round each patch, and nothing else: from the patch that has them, or else from the coarser
  /// level. Cells of patches must be right.
  void fill_ghosts(std::vector<Level>& levels) const;
  /// Gives cells that finer ones cover their mean.
  void average_down(std::vector<Level>& levels) const;
  /// Gives faces of coarser cells the mean of the fluxes through the finer ones there.
  void average_fluxes(std::vector<Fluxes>& fluxes) const;

 private:
  struct Between {  // a level and the one below
    CopyPlan beside, from_coarse, to_coarse;
    std::array<CopyPlan, 3> fluxes;
  };
  void fill_from_coarse(const std::vector<Level>& levels, std::size_t number, Level& level) const;
  Geometry geometry_;
  std::vector<Between> steps_;
};

/// Values of the next coarser level under each patch and round it; see Geometry::under. Collective.
[[nodiscard]] std::vector<Field> under_patches(const CopyPlan& plan, const Geometry& geometry, const Level& coarse,
                                               const Level& fine);
/// The plan of that.
[[nodiscard]] CopyPlan plan_under(MPI_Comm comm, const Geometry& geometry, const Level& coarse, const Level& fine,
                                  int number);

}  // namespace advection
