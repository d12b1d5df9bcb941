#include <mpi.h>
#include <sidestream/sidestream.h>

int main(int argc, char** argv) {
  sidestream_session* s = NULL;
  static double T[64];
  MPI_Init(&argc, &argv);
  sidestream_open(MPI_COMM_WORLD, "run.yaml", &s);
  for (int step = 0; step < 10; ++step) {
    const double time = 0.1 * step;
    /* @BLOCK@ */
  }
  sidestream_close(&s);
  MPI_Finalize();
  return 0;
}
