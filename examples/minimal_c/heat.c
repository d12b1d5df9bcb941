/* Heat in an insulated box, and the lines (marked S) that give its temperature to Sidestream.
 *
 * Usage: mpirun -n RANKS heat [CONFIGURATION]
 *
 * Explicit steps of dT/dt = Laplace T on N x N x N cells, cut into slabs along k. One ghost plane on either
 * side of a slab holds the neighbour's values. No heat leaves the box, so the mean temperature stays what it
 * was. */
#include <sidestream/sidestream.h> /* S */
#include <stdio.h>
#include <stdlib.h>

enum { N = 32, STEPS = 20 };
static const double fourier = 0.1; /* time step over the square of the spacing; above 1/6 the scheme is unstable */

/* One rank's slab: cells lo to hi in k, values of planes lo-1 to hi, i fastest. */
typedef struct {
  MPI_Comm comm;
  int below, above; /* the neighbours' ranks, MPI_PROC_NULL at the walls */
  int64_t lo, hi;
  double *now, *next;
} slab;

static double* plane(double* values, int64_t k) { return values + k * N * N; }

static int slab_make(slab* s, MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  s->comm = comm;
  s->below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  s->above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  s->lo = (int64_t)N * rank / size;
  s->hi = (int64_t)N * (rank + 1) / size;
  size_t values = (size_t)(s->hi - s->lo + 2) * N * N;
  s->now = calloc(values, sizeof(double));
  s->next = calloc(values, sizeof(double));
  return s->now && s->next;
}

/* 300 K, and a hot corner of 400 K. */
static void slab_fill(slab* s) {
  for (int64_t k = s->lo; k < s->hi; ++k)
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < N; ++i)
        plane(s->now, k - s->lo + 1)[j * N + i] = (i < N / 2 && j < N / 2 && k < N / 2) ? 400 : 300;
}

static void slab_exchange(slab* s) {
  const int count = N * N;
  const int64_t last = s->hi - s->lo;
  MPI_Sendrecv(plane(s->now, last), count, MPI_DOUBLE, s->above, 0, plane(s->now, 0), count, MPI_DOUBLE, s->below, 0,
               s->comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(plane(s->now, 1), count, MPI_DOUBLE, s->below, 1, plane(s->now, last + 1), count, MPI_DOUBLE, s->above,
               1, s->comm, MPI_STATUS_IGNORE);
}

/* The difference to a neighbour; none across a wall. */
static double flux(double here, const double* there, int inside) { return inside ? *there - here : 0; }

static void slab_step(slab* s) {
  slab_exchange(s);
  for (int64_t k = s->lo; k < s->hi; ++k)
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < N; ++i) {
        const double* t = plane(s->now, k - s->lo + 1) + j * N + i;
        const double sum = flux(*t, t - 1, i > 0) + flux(*t, t + 1, i < N - 1) + flux(*t, t - N, j > 0) +
                           flux(*t, t + N, j < N - 1) + flux(*t, t - N * N, k > 0) + flux(*t, t + N * N, k < N - 1);
        plane(s->next, k - s->lo + 1)[j * N + i] = *t + fourier * sum;
      }
  double* swap = s->now;
  s->now = s->next;
  s->next = swap;
}

/* Runs on the ranks that simulate. Returns Sidestream's code. */
static int simulate(sidestream_session* session) {
  slab s;
  if (!slab_make(&s, sidestream_comm(session))) return SIDESTREAM_ERROR_SYSTEM; /* S: instead of MPI_COMM_WORLD */
  slab_fill(&s);

  int rank;
  MPI_Comm_rank(s.comm, &rank);
  const int64_t lo[3] = {0, 0, s.lo}, hi[3] = {N, N, s.hi};
  int code = sidestream_set_int(session, "n", N);                       /* S: $n in run.yaml */
  if (!code) code = sidestream_set_block(session, "box", rank, lo, hi); /* S: my piece */
  if (!code) code = sidestream_start(session);                          /* S: all checks happen here */
  /* S: a refused iteration (SIDESTREAM_REFUSED) is not a failure: the simulation goes on. */
  for (int step = 0; step < STEPS && !SIDESTREAM_FAILED(code); ++step) {
    code = sidestream_publish_values(session, "temperature", rank, SIDESTREAM_FLOAT64, plane(s.now, 1),
                                     N * N * (s.hi - s.lo));                                      /* S */
    if (!SIDESTREAM_FAILED(code)) code = sidestream_end_iteration(session, step, step * fourier); /* S */
    slab_step(&s);
  }
  free(s.now);
  free(s.next);
  return SIDESTREAM_FAILED(code) ? code : SIDESTREAM_OK;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sidestream_session* session;                                                                     /* S */
  int code = sidestream_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "run.yaml", &session);           /* S */
  if (!code) code = sidestream_is_server(session) ? sidestream_serve(session) : simulate(session); /* S */
  /* S: failures of opening, starting and serving are the same on every rank. */
  if (code && rank == 0) fprintf(stderr, "heat: %s\n", sidestream_message(session));
  if (session) sidestream_close(&session); /* S */
  MPI_Finalize();
  return code;
}
