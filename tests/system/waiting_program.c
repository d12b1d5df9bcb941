/* A simulation and analyses that wait instead of working, so that the best split of many ranks is known and can be
 * tried on a machine with few cores.
 *
 * Usage: waiting_program CONFIGURATION STEPS CONSTANT SHARED [NAME CONSTANT SHARED DOUBLING]...
 *
 * All times are in milliseconds. On n clients a step waits CONSTANT + SHARED / n. The analysis NAME waits
 * CONSTANT + SHARED / n + DOUBLING * log2(n) on n servers, SHARED / n of it before servers combine. */
#include <math.h>
#include <sidestream/sidestream.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 4, CELLS = 16 };

typedef struct {
  double constant, shared, doubling;
  int servers; /* known after the first iteration */
} load;

static void wait_for(double milliseconds) {
  const long long nanoseconds = (long long)(1e6 * milliseconds);
  const struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000),
                                .tv_nsec = (long)(nanoseconds % 1000000000)};
  nanosleep(&time, NULL);
}

static int wait_locally(const sidestream_input* input, void* partial, char* message, void* user) {
  (void)input, (void)partial, (void)message;
  const load* of = user;
  if (of->servers > 0) wait_for(of->shared / of->servers);
  return 0;
}

static int wait_together(const sidestream_input* input, void* partial, MPI_Comm servers, char* message, void* user) {
  (void)input, (void)partial, (void)message;
  load* of = user;
  const int known = of->servers;
  MPI_Comm_size(servers, &of->servers);
  wait_for(of->constant + of->doubling * log2(of->servers) + (known > 0 ? 0 : of->shared / of->servers));
  MPI_Barrier(servers);
  return 0;
}

static int simulate(sidestream_session* session, int steps, const load* step) {
  int rank, clients;
  const MPI_Comm comm = sidestream_comm(session);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &clients);
  const int64_t lo[3] = {(int64_t)rank * CELLS, 0, 0}, hi[3] = {(int64_t)(rank + 1) * CELLS, 1, 1};
  if (sidestream_set_int(session, "n", (int64_t)clients * CELLS) != SIDESTREAM_OK) return 1;
  if (sidestream_set_block(session, "line", rank, lo, hi) != SIDESTREAM_OK) return 1;
  double values[CELLS];
  for (int n = 0; n < CELLS; ++n) values[n] = rank * CELLS + n;
  for (int n = 0; n < steps; ++n) {
    wait_for(step->constant + step->shared / clients);
    MPI_Barrier(comm);
    if (sidestream_publish(session, "t", rank, values) != SIDESTREAM_OK) return 1;
    if (sidestream_end_iteration(session, n, n) != SIDESTREAM_OK) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 5) return 2;
  sidestream_session* session = NULL;
  int failed = sidestream_open(MPI_COMM_WORLD, argv[1], &session) != SIDESTREAM_OK;
  load loads[MOST] = {{0}};
  for (int n = 0; n < MOST && 8 + 4 * n < argc; ++n) {
    char** words = argv + 5 + 4 * n;
    loads[n] = (load){.constant = atof(words[1]), .shared = atof(words[2]), .doubling = atof(words[3])};
    const sidestream_function function = {.struct_size = sizeof function,
                                          .name = words[0],
                                          .partial_bytes = 8,
                                          .local = wait_locally,
                                          .combine = wait_together,
                                          .user = &loads[n]};
    failed = failed || sidestream_register_function(session, &function) != SIDESTREAM_OK;
  }
  const load step = {.constant = atof(argv[3]), .shared = atof(argv[4])};
  if (!failed && sidestream_is_server(session)) {
    failed = sidestream_serve(session) != SIDESTREAM_OK;
  } else if (!failed) {
    failed = simulate(session, atoi(argv[2]), &step);
  }
  if (failed) fprintf(stderr, "waiting_program: %s\n", sidestream_message(session));
  failed = sidestream_close(&session) != SIDESTREAM_OK || failed;
  MPI_Finalize();
  return failed;
}
