/* A real simulation, for the lines of the README. */
#include <sidestream/sidestream.h>

static void compute(MPI_Comm comm, double* T) {
  (void)comm;
  T[0] = 1;
}

int main(void) {
  static double T[64];
  const int64_t lo[3] = {0, 0, 0}, hi[3] = {4, 4, 4};
  const int rank = 0, steps = 2, cells = 64;
  const double time = 0;
  int step;
  MPI_Init(NULL, NULL);
  /* @BLOCK@ */
  MPI_Finalize();
  return 0;
}
