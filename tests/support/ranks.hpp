// The ranks of a test. A test program runs for all its rank counts in one job of mpirun, which takes longer to start
// than most tests take to run. Every count gets its own communicator, while the other ranks sleep.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace sidestream::testing {

/// The ranks of this run of the tests. Tests use it instead of MPI_COMM_WORLD.
[[nodiscard]] MPI_Comm test_ranks();

/// Arguments of a test program: `test_x [--ranks 1,2,3] [--folder DIR] [--limit SECONDS] [options of doctest]`.
struct RunOptions {
  /// Rank counts, one after the other; all ranks of mpirun if none is given.
  std::vector<int> counts;
  std::string folder;  ///< each count runs in a folder of its own in this one; if empty, in the working directory
  unsigned limit = 0;  ///< seconds after which a count has failed; 0 means no limit

  /// Throws std::invalid_argument with a sentence. `size` is the number of mpirun's ranks.
  RunOptions(int argc, char** argv, int size);
};

/// Runs the tests with the first `count` ranks; collective over MPI_COMM_WORLD. Returns the result of this rank's
/// tests, 0 on the other ranks. `asked` tells if doctest was asked for something else, such as a list of its tests.
[[nodiscard]] int run_tests(int count, const RunOptions& options, int argc, char** argv, int& asked);

}  // namespace sidestream::testing
