/* A standing wave on spectral elements, and the lines (marked S) that give it to Sidestream.
 *
 * Usage: mpirun -n RANKS elements [CONFIGURATION]
 *
 * The unit cube has E x E x E elements of polynomial degree P. Each has values at the (P + 1)^3
 * Gauss-Lobatto-Legendre points. Points on faces are stored by each element that shares them. */
#include <math.h>
#include <mpi.h>
#include <sidestream/sidestream.h> /* S */
#include <stdio.h>
#include <stdlib.h>

enum { E = 4, P = 4, Q = P + 1, POINTS = Q * Q * Q, STEPS = 10 };

static const double gll[Q] = {-1, -0.65465367070797714, 0, 0.65465367070797714, 1};

/* A rank's part of the mesh: elements `first` to `first + count - 1`. */
typedef struct {
  long first, count;
  double *x, *y, *z, *u; /* positions and values of the elements' points, i fastest */
} mesh;

static void points_of_element(mesh* m, long element) {
  const long place[3] = {(m->first + element) % E, (m->first + element) / E % E, (m->first + element) / (E * E)};
  long at = element * POINTS;
  for (long k = 0; k < Q; ++k)
    for (long j = 0; j < Q; ++j)
      for (long i = 0; i < Q; ++i, ++at) {
        m->x[at] = (place[0] + 0.5 * (gll[i] + 1)) / E;
        m->y[at] = (place[1] + 0.5 * (gll[j] + 1)) / E;
        m->z[at] = (place[2] + 0.5 * (gll[k] + 1)) / E;
      }
}

static mesh make(MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const long all = E * E * E;
  mesh m = {.first = all * rank / ranks};
  m.count = all * (rank + 1) / ranks - m.first;
  const size_t count = m.count > 0 ? (size_t)m.count : 1; /* with many ranks some have no elements */
  const size_t bytes = sizeof(double) * POINTS * count;
  m.x = malloc(bytes), m.y = malloc(bytes), m.z = malloc(bytes), m.u = malloc(bytes);
  if (!m.x || !m.y || !m.z || !m.u) MPI_Abort(MPI_COMM_WORLD, 1);
  for (long element = 0; element < m.count; ++element) points_of_element(&m, element);
  return m;
}

static void advance(mesh* m, double time) {
  const double pi = acos(-1.0);
  for (long p = 0; p < m->count * POINTS; ++p)
    m->u[p] = sin(pi * m->x[p]) * sin(pi * m->y[p]) * sin(2 * pi * m->z[p]) * cos(time);
}

/* Runs on the ranks that simulate. Returns Sidestream's code. */
static int simulate(sidestream_session* s) {
  int rank;
  MPI_Comm comm = sidestream_comm(s); /* S: instead of MPI_COMM_WORLD */
  MPI_Comm_rank(comm, &rank);
  mesh m = make(comm);
  sidestream_add_spectral_mesh(s, "elements", 3, 1);                                   /* S */
  sidestream_set_spectral_block(s, "elements", rank, P, m.count, NULL, m.x, m.y, m.z); /* S */
  int code = sidestream_start(s);                                                      /* S */
  /* S: a refused iteration (SIDESTREAM_REFUSED) is not a failure. */
  for (int step = 0; step < STEPS && !SIDESTREAM_FAILED(code); ++step) {
    const double time = 0.25 * step;
    advance(&m, time);
    sidestream_publish_values(s, "u", rank, SIDESTREAM_FLOAT64, m.u, m.count * POINTS); /* S */
    code = sidestream_end_iteration(s, step, time);                                     /* S */
  }
  free(m.x);
  free(m.y);
  free(m.z);
  free(m.u);
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
  if (code && rank == 0) fprintf(stderr, "elements: %s\n", sidestream_message(s));
  if (s) sidestream_close(&s); /* S */
  MPI_Finalize();
  return code;
}
