// Times of the steps, measured by the simulation.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "mini_app/output.hpp"

namespace mini_app {

/// Seconds of one step on one rank.
struct StepTimes {
  double start = 0;  ///< since the first step began on this rank
  double compute = 0;
  double publish = 0;  ///< publishing, including what is derived for it and getting memory
  double end = 0;      ///< ending the step; including analyses on the simulation's ranks
};

/// All ranks' times on rank 0, ordered by rank; every rank has the same number of steps. Empty elsewhere.
inline std::vector<StepTimes> gathered_times(MPI_Comm comm, const std::vector<StepTimes>& mine) {
  constexpr int fields = 4;
  static_assert(sizeof(StepTimes) == fields * sizeof(double));
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<StepTimes> all(rank == 0 ? mine.size() * static_cast<std::size_t>(ranks) : 0);
  const int count = static_cast<int>(mine.size()) * fields;
  MPI_Gather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm);
  return all;
}

/// Collective: rank 0 writes rank,step,start,compute,publish,end to `file`. Throws UserError on all ranks alike.
inline void write_times(MPI_Comm comm, const std::string& file, const std::vector<StepTimes>& mine) {
  const std::vector<StepTimes> all = gathered_times(comm, mine);
  write_file(comm, "--times", file, [&](std::FILE* out) {
    std::fputs("rank,step,start,compute,publish,end\n", out);
    for (std::size_t n = 0; n < all.size(); ++n) {
      std::fprintf(out, "%zu,%zu,%.9f,%.9f,%.9f,%.9f\n", n / mine.size(), n % mine.size(), all[n].start, all[n].compute,
                   all[n].publish, all[n].end);
    }
    return std::ferror(out) == 0;
  });
}

}  // namespace mini_app
