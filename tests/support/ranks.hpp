// The ranks that a test runs with. A test program runs once for each rank count in one job of mpirun, which takes
// longer to start than most tests to run: every count gets a communicator of its own, and the other ranks sleep
// meanwhile.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace sidestream::testing {

/// The ranks of this run of the tests. Tests use it instead of MPI_COMM_WORLD.
[[nodiscard]] MPI_Comm test_ranks();

/// How a test program was called: `test_x [--ranks 1,2,3] [--folder DIR] [--limit SECONDS] [options of doctest]`.
struct RunOptions {
  /// Rank counts, one after the other; all ranks of mpirun if none is given. Under a limit two of them at most,
  /// unless SIDESTREAM_TEST_ALL is 1: `make test-all` has them all.
  std::vector<int> counts;
  std::string folder;  ///< each count runs in a folder of this one; in the working directory if empty
  unsigned limit = 0;  ///< seconds after which a count has failed; 0: no limit

  /// Throws std::invalid_argument with a sentence. `size`: ranks of mpirun.
  RunOptions(int argc, char** argv, int size);
};

/// Collective over MPI_COMM_WORLD: runs the tests with the first `count` ranks. Returns what this rank's tests
/// returned, 0 on ranks that had none. `asked` tells whether doctest was asked for something else, a list of its tests.
[[nodiscard]] int run_tests(int count, const RunOptions& options, int argc, char** argv, int& asked);

}  // namespace sidestream::testing
