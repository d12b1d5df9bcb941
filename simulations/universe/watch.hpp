// A stop watch.
#pragma once

#include <mpi.h>

namespace universe {

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

}  // namespace universe
