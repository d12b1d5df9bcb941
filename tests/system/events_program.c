/* A simulation that raises events at random, with random delays on every rank:
 * PROGRAM FILE [steps=N] [seed=N] [pause_us=N] [refuse_at=N] [until=FILE] [ring=1]
 *
 * Writes the events that each rank raises to raised-RANK.txt beside FILE, one line each: ITERATION CLIENT NUMBER NAME
 * SCOPE, where barriers have the scope 'barrier'. In iteration `refuse_at` rank 0 publishes a block twice, so that it
 * is refused. With `ring` it also raises the event 'ring' without values, of scope 'plain'. Ends early once the file
 * `until` exists. */
#include <mpi.h>
#include <sidestream/sidestream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "in_turn.h"

static long option(int argc, char** argv, const char* name, long value) {
  const size_t length = strlen(name);
  for (int n = 2; n < argc; ++n) {
    if (strncmp(argv[n], name, length) == 0 && argv[n][length] == '=') value = atol(argv[n] + length + 1);
  }
  return value;
}

/* True if the file of `until=` does not exist yet; the same on every rank. */
static int goes_on(MPI_Comm comm, int argc, char** argv) {
  const char* until = NULL;
  for (int n = 2; n < argc; ++n) {
    if (strncmp(argv[n], "until=", 6) == 0) until = argv[n] + 6;
  }
  if (!until) return 1;
  int on = access(until, F_OK) != 0;
  MPI_Allreduce(MPI_IN_PLACE, &on, 1, MPI_INT, MPI_MIN, comm);
  return on;
}

static unsigned next(unsigned* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 16;
}

static int failed(sidestream_session* session, int code, const char* call) {
  if (!SIDESTREAM_FAILED(code)) return 0;
  printf("error %d in %s: %s\n", code, call, sidestream_message(session));
  return 1;
}

static int raise_some(sidestream_session* session, FILE* log, unsigned* random, int rank, long step, int64_t* number) {
  static const char* const scopes[] = {"server", "node", "all"};
  for (unsigned left = next(random) % 4; left > 0; --left, ++*number) {
    const int scope = (int)(next(random) % 3);
    const char* const name = next(random) % 2 ? "poke" : "prod";
    const int64_t values[3] = {rank, *number, step};
    fprintf(log, "%ld %d %ld %s %s\n", step, rank, (long)*number, name, scopes[scope]);
    if (failed(session, sidestream_signal_values(session, name, (sidestream_scope)scope, SIDESTREAM_INT64, values, 3),
               "signal_values")) {
      return 1;
    }
  }
  if (next(random) % 3 == 0) {
    fprintf(log, "%ld %d %ld meet barrier\n", step, rank, (long)(*number)++);
    return failed(session, sidestream_signal_barrier(session, "meet"), "signal_barrier");
  }
  return 0;
}

static int ring(sidestream_session* session, FILE* log, unsigned* random, int rank, long step, int64_t* number) {
  if (next(random) % 3 != 0) return 0;
  fprintf(log, "%ld %d %ld ring plain\n", step, rank, (long)(*number)++);
  return failed(session, sidestream_signal(session, "ring"), "signal");
}

static int simulate(sidestream_session* session, int argc, char** argv) {
  int rank = 0, size = 1;
  MPI_Comm_rank(sidestream_comm(session), &rank);
  MPI_Comm_size(sidestream_comm(session), &size);
  const long steps = option(argc, argv, "steps", 30), pause = option(argc, argv, "pause_us", 500);
  const long refuse_at = option(argc, argv, "refuse_at", -1), rings = option(argc, argv, "ring", 0);
  unsigned random = (unsigned)option(argc, argv, "seed", 1) * 7919u + (unsigned)rank * 104729u;
  const int64_t lo[3] = {rank, 0, 0}, hi[3] = {rank + 1, 1, 1};
  if (failed(session, sidestream_set_int(session, "n", size), "set_int") ||
      failed(session, sidestream_set_block(session, "grid", rank, lo, hi), "set_block") ||
      failed(session, sidestream_start(session), "start")) {
    return 1;
  }
  char name[4096];
  const char* const end = strrchr(argv[1], '/');
  snprintf(name, sizeof name, "%.*sraised-%d.txt", end ? (int)(end + 1 - argv[1]) : 0, argv[1], rank);
  FILE* const log = fopen(name, "w");
  if (!log) return 1;
  int64_t number = 0;
  for (long step = 0; step < steps && goes_on(sidestream_comm(session), argc, argv); ++step) {
    const double value = rank + step;
    const struct timespec rest = {0, 1000 * (long)(next(&random) % (unsigned)(pause + 1))};
    nanosleep(&rest, NULL);
    if (failed(session, sidestream_publish(session, "t", rank, &value), "publish")) return 1;
    if (step == refuse_at && rank == 0) sidestream_publish(session, "t", rank, &value);
    if (raise_some(session, log, &random, rank, step, &number)) return 1;
    if (rings && ring(session, log, &random, rank, step, &number)) return 1;
    if (failed(session, sidestream_end_iteration(session, step, 0.1 * (double)step), "end_iteration")) return 1;
  }
  return fclose(log);
}

static int run(int argc, char** argv, MPI_Comm comm) {
  sidestream_session* session = NULL;
  int bad = argc < 2 || failed(NULL, sidestream_open(comm, argv[1], &session), "open");
  if (!bad) {
    bad = sidestream_is_server(session) ? failed(session, sidestream_serve(session), "serve")
                                        : simulate(session, argc, argv);
    const int code = sidestream_close(&session);
    bad |= failed(NULL, code, "close");
  }
  return bad;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run_in_turn(argc, argv, run);
  MPI_Finalize();
  return status;
}
