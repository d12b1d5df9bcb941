// Times of the steps, measured by the simulation.
#pragma once

#include <string>
#include <vector>

#include "layout.hpp"

namespace universe {

/// Seconds of one step on one rank.
struct StepTimes {
  double start = 0;  ///< since the first step began on this rank
  double compute = 0;
  double publish = 0;  ///< deriving gas and velocities from the matter, and publishing
  double end = 0;      ///< ending the step; including analyses on the simulation's ranks
};

/// Adds consecutive intervals to counters.
class Watch {
 public:
  explicit Watch(double began) : last_(MPI_Wtime()), began_(began) {}
  [[nodiscard]] double start() const { return last_ - began_; }
  void lap(double& seconds) {
    const double now = MPI_Wtime();
    seconds += now - last_;
    last_ = now;
  }

 private:
  double last_, began_;
};

/// Collective: rank 0 writes rank,step,start,compute,publish,end to `file`; the first step is the beginning. Throws
/// UserError on all ranks alike.
void write_times(const Layout& layout, const std::string& file, const std::vector<StepTimes>& mine);

}  // namespace universe
