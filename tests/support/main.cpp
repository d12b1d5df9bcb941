// Runs doctest between MPI_Init and MPI_Finalize, so that every test program works with and without mpirun. It runs
// once for each rank count that is asked for (ranks.hpp).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "support/ranks.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#ifndef TEST_THREADS
#define TEST_THREADS MPI_THREAD_FUNNELED
#endif

namespace {

/// Starts MPI. Its allocations are not checked, because leaks of modules that MPI unloads again look like ours.
void start_mpi(int& argc, char**& argv) {
#ifdef __SANITIZE_ADDRESS__
  const __lsan::ScopedDisabler not_ours;
#endif
  int provided = 0;
  MPI_Init_thread(&argc, &argv, TEST_THREADS, &provided);
}

/// True if the tests leaked memory. This is checked before MPI_Finalize, which unloads more modules. The check at the
/// end of the process would come too late and is turned off (see .ci/run).
bool leaked() {
#ifdef __SANITIZE_ADDRESS__
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

/// Reports which rank counts failed, because tests of several counts run one after the other.
void report(const std::vector<int>& counts, const std::vector<int>& results, const std::string& program) {
  std::string failed, all;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    const std::string count = std::to_string(counts[n]);
    all += (all.empty() ? "" : ", ") + count;
    if (results[n] != 0) failed += (failed.empty() ? "" : ", ") + count;
  }
  if (failed.empty() || counts.size() == 1) return;
  std::printf("FAILED %s: with %s ranks, of %s\n", program.c_str(), failed.c_str(), all.c_str());
}

/// The largest result of all ranks and counts.
int run_counts(int argc, char** argv) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const sidestream::testing::RunOptions options(argc, argv, size);
  std::vector<int> results(options.counts.size(), 0);
  int asked = 0;
  for (std::size_t n = 0; n < results.size() && asked == 0; ++n) {
    results[n] = sidestream::testing::run_tests(options.counts[n], options, argc, argv, asked);
    MPI_Bcast(&asked, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  int result = leaked() ? 1 : 0, worst = 0;
  MPI_Allreduce(MPI_IN_PLACE, results.data(), static_cast<int>(results.size()), MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (const int each : results) result = std::max(result, each);
  MPI_Allreduce(&result, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) report(options.counts, results, std::filesystem::path(argv[0]).filename());
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  start_mpi(argc, argv);
  int result = 2;
  try {
    result = run_counts(argc, argv);
  } catch (const std::exception& error) {  // wrong options, on all ranks
    std::fprintf(stderr, "%s\n", error.what());
  }
  MPI_Finalize();
  return result;
}
