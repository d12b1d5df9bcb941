// Runs doctest between MPI_Init and MPI_Finalize, so that every test program works with and without mpirun.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#ifndef TEST_THREADS
#define TEST_THREADS MPI_THREAD_FUNNELED
#endif

namespace {

/// Starts MPI. What it allocates then is its own: it loads modules and unloads them again, whose leaks could not be
/// told from ours.
void start_mpi(int& argc, char**& argv) {
#ifdef __SANITIZE_ADDRESS__
  const __lsan::ScopedDisabler not_ours;
#endif
  int provided = 0;
  MPI_Init_thread(&argc, &argv, TEST_THREADS, &provided);
}

/// Whether the tests leaked memory; asked before MPI_Finalize, which unloads more modules. The check at the end of the
/// process comes too late and is turned off (see .ci/run).
bool leaked() {
#ifdef __SANITIZE_ADDRESS__
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  start_mpi(argc, argv);
  int result = doctest::Context(argc, argv).run();
  if (leaked()) result = 1;
  int worst = result;
  MPI_Allreduce(&result, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}
