// Measurement of data that move while a client computes without calling a library.
#pragma once

#include <mpi.h>

#include <string>

#include "case.hpp"

namespace transfer {

/// Medians over steps, of the slowest client or server.
struct Overlap {
  double moving = 0;   ///< seconds per step of the plain stream
  double alone = 0;    ///< seconds of computing while nothing moves
  double beside = 0;   ///< seconds of the same computing after end_iteration
  double arrived = 0;  ///< seconds from end_iteration until the analysis has seen all values
  double latest = 0;   ///< maximum of `arrived`
  /// 1 if the values arrive as early as with plain MPI, 0 if only when computing is over.
  [[nodiscard]] double kept() const { return std::clamp(1 - (arrived - moving) / beside, 0.0, 1.0); }
  [[nodiscard]] double slowdown() const { return beside / alone; }
};

/// Collective, the same on every rank. All ranks must be on one machine, since they compare clocks.
[[nodiscard]] Overlap overlap(MPI_Comm comm, const Case& c, const std::string& placement, double seconds);

}  // namespace transfer
