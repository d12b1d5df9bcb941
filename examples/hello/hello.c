/* The smallest program that publishes: a box of numbers, in planes. The same in hello.cpp, hello.f90 and hello.py. */
#include <sidestream/sidestream.h>
#include <stdio.h>

enum { NX = 6, NY = 5, NZ = 8, STEPS = 3 };

static int greet(sidestream_session* s) {
  int rank, ranks;
  MPI_Comm_rank(sidestream_comm(s), &rank);
  MPI_Comm_size(sidestream_comm(s), &ranks);
  const int64_t lo[] = {0, 0, NZ * rank / ranks}, hi[] = {NX, NY, NZ * (rank + 1) / ranks};
  sidestream_set_int(s, "nx", NX);
  sidestream_set_int(s, "ny", NY);
  sidestream_set_int(s, "nz", NZ);
  sidestream_set_block(s, "box", rank, lo, hi);
  int code = sidestream_start(s);
  for (int step = 0; step < STEPS && !SIDESTREAM_FAILED(code); ++step) {
    static double values[NZ][NY][NX];
    for (int64_t k = lo[2]; k < hi[2]; ++k)
      for (int64_t j = 0; j < NY; ++j)
        for (int64_t i = 0; i < NX; ++i) values[k - lo[2]][j][i] = (double)(i + 10 * j + 100 * k + 1000 * step) / 3;
    sidestream_publish_values(s, "greeting", rank, SIDESTREAM_FLOAT64, values, NX * NY * (hi[2] - lo[2]));
    code = sidestream_end_iteration(s, step, 0.5 * step);
  }
  return SIDESTREAM_FAILED(code) ? code : SIDESTREAM_OK;
}

int main(int argc, char** argv) {
  int rank;
  sidestream_session* s;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int code = sidestream_open(MPI_COMM_WORLD, "run.yaml", &s);
  if (!code) code = sidestream_is_server(s) ? sidestream_serve(s) : greet(s);
  if (code && rank == 0) fprintf(stderr, "hello: %s\n", sidestream_message(s));
  if (s) sidestream_close(&s);
  MPI_Finalize();
  return code;
}
