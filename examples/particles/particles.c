/* Particles that go from rank to rank, and the lines (marked S) that give them to Sidestream.
 *
 * Usage: mpirun -n RANKS particles [CONFIGURATION]
 *
 * COUNT particles go round in the unit cube. A rank has those in its slab of x; in this small program it finds them by
 * looking at all, where others send and receive them. */
#include <math.h>
#include <mpi.h>
#include <sidestream/sidestream.h> /* S */
#include <stdio.h>

enum { COUNT = 3000, STEPS = 12 };

/* What a rank has at present, as arrays of numbers. */
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

static void simulate(sidestream_session* s) {
  int rank, ranks;
  MPI_Comm_rank(sidestream_comm(s), &rank); /* S: instead of MPI_COMM_WORLD */
  MPI_Comm_size(sidestream_comm(s), &ranks);
  for (int step = 0; step < STEPS; ++step) {
    const double time = 0.5 * step;
    const long n = gather(time, rank, ranks);
    sidestream_set_block_list(s, "gas", rank, n, n, 0, 0, NULL); /* S: as many from now on, perhaps none */
    if (step == 0) sidestream_start(s);                          /* S */
    sidestream_publish_values(s, "position", rank, SIDESTREAM_FLOAT64, position, 3 * n); /* S */
    sidestream_publish_values(s, "energy", rank, SIDESTREAM_FLOAT64, energy, n);         /* S */
    sidestream_publish_values(s, "id", rank, SIDESTREAM_INT64, id, n);                   /* S */
    sidestream_end_iteration(s, step, time);                                             /* S */
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  sidestream_session* s;                                                      /* S */
  if (sidestream_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "run.yaml", &s)) { /* S */
    fprintf(stderr, "particles: %s\n", sidestream_message(NULL));             /* S */
  } else {
    if (sidestream_is_server(s))
      sidestream_serve(s); /* S */
    else
      simulate(s);
    sidestream_close(&s); /* S */
  }
  MPI_Finalize();
  return 0;
}
