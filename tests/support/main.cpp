// Runs doctest between MPI_Init and MPI_Finalize, so that every test program works with and without mpirun.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

#ifndef TEST_THREADS
#define TEST_THREADS MPI_THREAD_FUNNELED
#endif

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, TEST_THREADS, &provided);
  int result = doctest::Context(argc, argv).run();
  int worst = result;
  MPI_Allreduce(&result, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}
