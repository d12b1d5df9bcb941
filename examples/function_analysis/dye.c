/* A function of the program itself as an analysis: the configuration says where it runs.
 *
 * Usage: mpirun -n RANKS dye [CONFIGURATION]
 *
 * A ball of dye drifts through a periodic box. The analysis `cloud` counts the cells above a threshold and
 * finds their bounds. Both are integers, so the result does not depend on the distribution of cells to
 * servers. */
#include <sidestream/sidestream.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 24, STEPS = 12 };

/* Knowledge of one server about the cloud. */
typedef struct {
  int64_t cells;
  int64_t lo[3], hi[3]; /* bounds, half-open; meaningful if cells > 0 */
} cloud;

typedef struct {
  double threshold;
  const char* file;
} cloud_settings;

/* ---- The analysis
 * ---------------------------------------------------------------------------------------------- */

static void cloud_add(cloud* c, const int64_t point[3]) {
  for (int a = 0; a < 3; ++a) {
    if (c->cells == 0 || point[a] < c->lo[a]) c->lo[a] = point[a];
    if (c->cells == 0 || point[a] >= c->hi[a]) c->hi[a] = point[a] + 1;
  }
  ++c->cells;
}

static void cloud_add_block(cloud* c, const sidestream_block* b, double threshold) {
  const double* data = b->data;
  int64_t p[3];
  for (p[2] = b->owned_lo[2]; p[2] < b->owned_hi[2]; ++p[2])
    for (p[1] = b->owned_lo[1]; p[1] < b->owned_hi[1]; ++p[1])
      for (p[0] = b->owned_lo[0]; p[0] < b->owned_hi[0]; ++p[0]) {
        const int64_t at =
            (p[0] - b->lo[0]) * b->strides[0] + (p[1] - b->lo[1]) * b->strides[1] + (p[2] - b->lo[2]) * b->strides[2];
        if (data[at] > threshold) cloud_add(c, p);
      }
}

/* Runs on every server on its own blocks; must not communicate. */
static int cloud_local(const sidestream_input* input, void* partial, char* message, void* user) {
  const cloud_settings* settings = user;
  const int64_t blocks = sidestream_input_blocks(input, "dye");
  for (int64_t n = 0; n < blocks; ++n) {
    sidestream_block block = {.struct_size = sizeof block};
    if (sidestream_input_block(input, "dye", n, &block) != SIDESTREAM_OK || block.type != SIDESTREAM_FLOAT64) {
      snprintf(message, 512, "block %lld of 'dye' is not there as float64", (long long)n);
      return 1;
    }
    cloud_add_block(partial, &block, settings->threshold);
  }
  return 0;
}

/* Used with forwarders: a server may get the results of several; `other` is added to `partial`. */
static int cloud_merge(void* partial, const void* other, char* message, void* user) {
  (void)message;
  (void)user;
  cloud* into = partial;
  const cloud* from = other;
  for (int a = 0; a < 3 && from->cells > 0; ++a) {
    if (into->cells == 0 || from->lo[a] < into->lo[a]) into->lo[a] = from->lo[a];
    if (into->cells == 0 || from->hi[a] > into->hi[a]) into->hi[a] = from->hi[a];
  }
  into->cells += from->cells;
  return 0;
}

/* Runs last, on all servers together; `servers` is a communicator of this analysis' own. */
static int cloud_combine(const sidestream_input* input, void* partial, MPI_Comm servers, char* message, void* user) {
  const cloud_settings* settings = user;
  cloud *mine = partial, all = {0};
  for (int a = 0; a < 3 && mine->cells == 0; ++a) {
    mine->lo[a] = INT64_MAX;
    mine->hi[a] = INT64_MIN;
  }
  int rank;
  MPI_Comm_rank(servers, &rank);
  MPI_Reduce(&mine->cells, &all.cells, 1, MPI_INT64_T, MPI_SUM, 0, servers);
  MPI_Reduce(mine->lo, all.lo, 3, MPI_INT64_T, MPI_MIN, 0, servers);
  MPI_Reduce(mine->hi, all.hi, 3, MPI_INT64_T, MPI_MAX, 0, servers);
  if (rank != 0) return 0;

  FILE* file = fopen(settings->file, sidestream_input_index(input) == 0 ? "w" : "a");
  if (file == NULL) {
    snprintf(message, 512, "cannot write '%s'; is the directory writable?", settings->file);
    return 1;
  }
  fprintf(file, "%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld\n", (long long)sidestream_input_cycle(input),
          (long long)all.cells, (long long)all.lo[0], (long long)all.hi[0], (long long)all.lo[1], (long long)all.hi[1],
          (long long)all.lo[2], (long long)all.hi[2]);
  return fclose(file) == 0 ? 0 : 1;
}

/* ---- The simulation
 * -------------------------------------------------------------------------------------------- */

/* Distance from the cloud's centre along one axis, in a box that repeats. */
static int64_t away(int64_t index, int64_t centre) {
  const int64_t d = llabs(index - centre) % N;
  return d < N - d ? d : N - d;
}

static void fill(double* dye, int64_t k_lo, int64_t k_hi, int step) {
  for (int64_t k = k_lo; k < k_hi; ++k)
    for (int64_t j = 0; j < N; ++j)
      for (int64_t i = 0; i < N; ++i) {
        const int64_t x = away(i, 6 + step), y = away(j, 12), z = away(k, 12);
        *dye++ = 1.0 / (double)(1 + x * x + y * y + z * z);
      }
}

static int simulate(sidestream_session* session) {
  int rank, size;
  MPI_Comm_rank(sidestream_comm(session), &rank);
  MPI_Comm_size(sidestream_comm(session), &size);
  const int64_t lo[3] = {0, 0, (int64_t)N * rank / size}, hi[3] = {N, N, (int64_t)N * (rank + 1) / size};
  double* dye = malloc((size_t)(hi[2] - lo[2]) * N * N * sizeof(double) + 1);
  if (dye == NULL) return SIDESTREAM_ERROR_SYSTEM;
  int code = sidestream_set_int(session, "n", N);
  if (!code) code = sidestream_set_block(session, "box", rank, lo, hi);
  if (!code) code = sidestream_start(session);
  for (int step = 0; step < STEPS && !SIDESTREAM_FAILED(code); ++step) {
    fill(dye, lo[2], hi[2], step);
    code = sidestream_publish_values(session, "dye", rank, SIDESTREAM_FLOAT64, dye, N * N * (hi[2] - lo[2]));
    if (!SIDESTREAM_FAILED(code)) code = sidestream_end_iteration(session, step, step);
  }
  free(dye);
  return SIDESTREAM_FAILED(code) ? code : SIDESTREAM_OK;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cloud_settings settings = {.threshold = 0.05, .file = "cloud.csv"};
  const sidestream_function function = {.struct_size = sizeof function,
                                        .name = "cloud",
                                        .partial_bytes = sizeof(cloud),
                                        .local = cloud_local,
                                        .combine = cloud_combine,
                                        .merge = cloud_merge,
                                        .user = &settings};
  sidestream_session* session;
  int code = sidestream_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "run.yaml", &session);
  if (!code) code = sidestream_register_function(session, &function);
  if (!code) code = sidestream_is_server(session) ? sidestream_serve(session) : simulate(session);
  /* Failures of opening, starting and serving are the same on every rank. */
  if (code && rank == 0) fprintf(stderr, "dye: %s\n", sidestream_message(session));
  if (session) {
    const int closed = sidestream_close(&session);
    if (!code && SIDESTREAM_FAILED(closed)) code = closed;
  }
  MPI_Finalize();
  return code;
}
