/* Particles that migrate between ranks, and the lines (marked S) that give them to Sidestream.
 *
 * Usage: mpirun -n RANKS particles [CONFIGURATION]
 *
 * COUNT particles circle in the unit cube. Each rank has the particles in its slab of x. This program finds them by
 * looking at all; real codes send and receive them. */
#include <math.h>
#include <mpi.h>
#include <sidestream/sidestream.h> /* S */
#include <stdio.h>

enum { COUNT = 3000, STEPS = 12 };

/* The particles of this rank. */
static double position[COUNT][3], energy[COUNT];
static int64_t id[COUNT];

static long gather(double time, int rank, int ranks) {
  long n = 0;
  for (long p = 0; p < COUNT; ++p) {
    const double radius = 0.05 + 0.4 * (double)p / COUNT, speed = 1 / (1 + 5 * radius),
                 angle = speed * time + 0.7 * (double)p;
    const double x = 0.5 + radius * cos(angle);
    if (x < (double)rank / ranks || x >= (double)(rank + 1) / ranks) continue;
    position[n][0] = x;
    position[n][1] = 0.5 + radius * sin(angle);
    position[n][2] = (double)(p % 100) / 100;
    energy[n] = 0.5 * speed * speed * radius * radius * (1 + 0.5 * cos(angle));
    id[n++] = p;
  }
  return n;
}

/* Runs on the ranks that simulate. Returns Sidestream's code. */
static int simulate(sidestream_session* s) {
  int rank, ranks, code = SIDESTREAM_OK;
  MPI_Comm_rank(sidestream_comm(s), &rank); /* S: instead of MPI_COMM_WORLD */
  MPI_Comm_size(sidestream_comm(s), &ranks);
  for (int step = 0; step < STEPS; ++step) {
    const double time = 0.5 * step;
    const long n = gather(time, rank, ranks);
    sidestream_set_block_list(s, "gas", rank, n, n, 0, 0, NULL); /* S: the new number, perhaps 0 */
    if (step == 0) code = sidestream_start(s);                   /* S: all checks happen here */
    if (SIDESTREAM_FAILED(code)) break;                          /* S: a refused iteration is not a failure */
    sidestream_publish_values(s, "position", rank, SIDESTREAM_FLOAT64, position, 3 * n); /* S */
    sidestream_publish_values(s, "energy", rank, SIDESTREAM_FLOAT64, energy, n);         /* S */
    sidestream_publish_values(s, "id", rank, SIDESTREAM_INT64, id, n);                   /* S */
    code = sidestream_end_iteration(s, step, time);                                      /* S */
  }
  return SIDESTREAM_FAILED(code) ? code : SIDESTREAM_OK;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sidestream_session* s;                                                           /* S */
  int code = sidestream_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "run.yaml", &s); /* S */
  if (!code) code = sidestream_is_server(s) ? sidestream_serve(s) : simulate(s);   /* S */
  /* S: failures of opening, starting and serving are the same on every rank. */
  if (code && rank == 0) fprintf(stderr, "particles: %s\n", sidestream_message(s));
  if (s) sidestream_close(&s); /* S */
  MPI_Finalize();
  return code;
}
