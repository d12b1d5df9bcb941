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

enum { E = 4, P = 4, Q = P + 1, POINTS = Q * Q * Q, CELLS = P * P * P, ALONG = E * P + 1, STEPS = 10 };

static const double gll[Q] = {-1, -0.65465367070797714, 0, 0.65465367070797714, 1};

/* A rank's part of the mesh: elements `first` to `first + count - 1`. */
typedef struct {
  long first, count;
  double *x, *u;   /* positions and values of the elements' points, i fastest */
  int64_t* number; /* of each point, the same in all elements that share it */
  int32_t *corners, *ends;
  unsigned char* kinds;
} mesh;

static void points_of_element(mesh* m, long element) {
  const long place[3] = {(m->first + element) % E, (m->first + element) / E % E, (m->first + element) / (E * E)};
  long at = element * POINTS;
  for (long k = 0; k < Q; ++k)
    for (long j = 0; j < Q; ++j)
      for (long i = 0; i < Q; ++i, ++at) {
        m->x[3 * at] = (place[0] + 0.5 * (gll[i] + 1)) / E;
        m->x[3 * at + 1] = (place[1] + 0.5 * (gll[j] + 1)) / E;
        m->x[3 * at + 2] = (place[2] + 0.5 * (gll[k] + 1)) / E;
        m->number[at] = ((place[2] * P + k) * ALONG + place[1] * P + j) * ALONG + place[0] * P + i;
      }
}

/* An element is shown as P x P x P hexahedra between its points, which count from 0 in the block. */
static void cells_of_element(mesh* m, long element) {
  long cell = element * CELLS;
  for (int k = 0; k < P; ++k)
    for (int j = 0; j < P; ++j)
      for (int i = 0; i < P; ++i, ++cell) {
        const int32_t p = (int32_t)(element * POINTS) + (k * Q + j) * Q + i;
        const int32_t corners[8] = {p,         p + 1,         p + Q + 1,         p + Q,
                                    p + Q * Q, p + Q * Q + 1, p + Q * Q + Q + 1, p + Q * Q + Q};
        for (int c = 0; c < 8; ++c) m->corners[8 * cell + c] = corners[c];
        m->ends[cell] = (int32_t)(8 * (cell + 1));
        m->kinds[cell] = 12; /* VTK's hexahedron */
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
  m.x = malloc(sizeof(double) * 3 * POINTS * count);
  m.u = malloc(sizeof(double) * POINTS * count);
  m.number = malloc(sizeof(int64_t) * POINTS * count);
  m.corners = malloc(sizeof(int32_t) * 8 * CELLS * count);
  m.ends = malloc(sizeof(int32_t) * CELLS * count);
  m.kinds = malloc(CELLS * count);
  if (!m.x || !m.u || !m.number || !m.corners || !m.ends || !m.kinds) MPI_Abort(MPI_COMM_WORLD, 1);
  for (long element = 0; element < m.count; ++element) {
    points_of_element(&m, element);
    cells_of_element(&m, element);
  }
  return m;
}

static void advance(mesh* m, double time) {
  const double pi = acos(-1.0);
  for (long p = 0; p < m->count * POINTS; ++p) {
    const double* x = &m->x[3 * p];
    m->u[p] = sin(pi * x[0]) * sin(pi * x[1]) * sin(2 * pi * x[2]) * cos(time);
  }
}

/* S: starts the session and publishes the mesh once, since it does not vary in time. Returns Sidestream's code. */
static int publish_mesh(sidestream_session* s, int rank, const mesh* m) {
  const int64_t points = m->count * POINTS, cells = m->count * CELLS;
  sidestream_set_block_list(s, "elements", rank, points, cells, 8 * cells, 0, NULL);
  const int code = sidestream_start(s);
  if (SIDESTREAM_FAILED(code)) return code;
  sidestream_publish_values(s, "place", rank, SIDESTREAM_FLOAT64, m->x, 3 * points);
  sidestream_publish_values(s, "number", rank, SIDESTREAM_INT64, m->number, points);
  sidestream_publish_values(s, "corners", rank, SIDESTREAM_INT32, m->corners, 8 * cells);
  sidestream_publish_values(s, "ends", rank, SIDESTREAM_INT32, m->ends, cells);
  sidestream_publish_values(s, "kinds", rank, SIDESTREAM_UINT8, m->kinds, cells);
  return code;
}

/* Runs on the ranks that simulate. Returns Sidestream's code. */
static int simulate(sidestream_session* s) {
  int rank;
  MPI_Comm comm = sidestream_comm(s); /* S: instead of MPI_COMM_WORLD */
  MPI_Comm_rank(comm, &rank);
  mesh m = make(comm);
  int code = publish_mesh(s, rank, &m); /* S */
  /* S: a refused iteration (SIDESTREAM_REFUSED) is not a failure. */
  for (int step = 0; step < STEPS && !SIDESTREAM_FAILED(code); ++step) {
    const double time = 0.25 * step;
    advance(&m, time);
    sidestream_publish_values(s, "u", rank, SIDESTREAM_FLOAT64, m.u, m.count * POINTS); /* S */
    code = sidestream_end_iteration(s, step, time);                                     /* S */
  }
  free(m.x);
  free(m.u);
  free(m.number);
  free(m.corners);
  free(m.ends);
  free(m.kinds);
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
