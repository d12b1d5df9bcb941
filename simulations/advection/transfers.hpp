// Transfer of values between levels and between patches.
#pragma once

#include <vector>

#include "levels.hpp"

namespace advection {

/// Fluxes through the faces of a level's patches, by axis and patch.
using Fluxes = std::array<std::vector<Field>, 3>;

/// Interpolates the cells of `where` from the coarser level, with limited slopes in their centres. The cells in a
/// coarse one have its mean. `coarse` covers these and one layer around them.
void interpolate(const Field& coarse, const Box& where, const Index3& ratio, int axes, Field& fine);
/// The slope over a cell from its neighbours' values: the central one, limited to twice that to the nearer neighbour; 0
/// at extrema.
[[nodiscard]] double central_slope(double before, double here, double after);

/// The exchanges between given levels, made anew when patches change. All functions are collective.
class Transfers {
 public:
  Transfers() = default;
  Transfers(MPI_Comm comm, const Geometry& geometry, const std::vector<Level>& levels);

  /// Fills two layers of cells around each patch, from other patches or else from the coarser level. Cells of patches
  /// must be valid.
  void fill_ghosts(std::vector<Level>& levels) const;
  /// Sets cells covered by finer ones to their mean.
  void average_down(std::vector<Level>& levels) const;
  /// Sets fluxes through coarser faces to the mean of those through the finer ones there.
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

/// Collective. Values of the next coarser level under and around each patch; see Geometry::under.
[[nodiscard]] std::vector<Field> under_patches(const CopyPlan& plan, const Geometry& geometry, const Level& coarse,
                                               const Level& fine);
/// The plan for under_patches.
[[nodiscard]] CopyPlan plan_under(MPI_Comm comm, const Geometry& geometry, const Level& coarse, const Level& fine,
                                  int number);

}  // namespace advection
