// Times of the steps, measured by the simulation.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace oscillators {

/// Seconds of one step on one rank.
struct StepTimes {
  double start = 0;  ///< since the first step began on this rank
  double compute = 0;
  double publish = 0;  ///< publishing the values, including getting memory for them
  double end = 0;      ///< ending the step; including analyses on the simulation's ranks
};

/// Collective: rank 0 writes rank,step,start,compute,publish,end to `file`. Throws UserError on all ranks
/// alike.
void write_times(MPI_Comm comm, const std::string& file, const std::vector<StepTimes>& mine);

/// Collective: medians over steps and ranks and the total, as a sentence on rank 0; empty elsewhere.
[[nodiscard]] std::string describe_times(MPI_Comm comm, const std::vector<StepTimes>& mine);

}  // namespace oscillators
