// Shares of a particle in the cells of a uniform grid.
#pragma once

#include <array>

#include "sidestream/data/box.hpp"

namespace sidestream {

/// Schemes of mass assignment. (Hockney and Eastwood, "Computer Simulation Using Particles", 1988, 5-2.)
enum class Assignment {
  nearest = 1,  ///< nearest grid point: everything to the cell around the particle
  cloud = 2,    ///< cloud in cell: to the two cells along each axis whose centres surround the particle
  triangle = 3  ///< triangular-shaped cloud: to the three nearest along each axis
};

/// A grid along one axis.
struct ShareAxis {
  Index cells = 1;
  double low = 0, high = 1;  ///< the outer ends of the first and the last cell; `high` may be below `low`
  bool periodic = false;
};

/// The shares of a particle in cells along one axis, counted from the first one.
struct AxisShares {
  std::array<Index, 3> cells{};
  std::array<double, 3> parts{1, 0, 0};
  int count = 1;
};

/// Computes the shares along an axis. Returns false if the position is outside of the grid. Shares beyond the ends stay
/// in the outermost cells, or wrap around on a periodic axis. Cells may occur twice.
[[nodiscard]] bool shares_along(const ShareAxis& axis, Assignment assignment, double x, AxisShares& shares) noexcept;

/// Calls `f(cell, share of the weight)` for each cell that gets a share. `f` gets an Index3.
template <class F>
void for_each_share(const std::array<AxisShares, 3>& shares, double weight, F&& f) {
  for (int k = 0; k < shares[2].count; ++k) {
    for (int j = 0; j < shares[1].count; ++j) {
      for (int i = 0; i < shares[0].count; ++i) {
        const std::array<std::size_t, 3> which{static_cast<std::size_t>(i), static_cast<std::size_t>(j),
                                               static_cast<std::size_t>(k)};
        Index3 cell{};
        double part = 1;
        for (std::size_t a = 3; a-- > 0;) {
          cell[a] = shares[a].cells[which[a]];
          part *= shares[a].parts[which[a]];
        }
        if (part > 0) f(cell, weight * part);
      }
    }
  }
}

}  // namespace sidestream
