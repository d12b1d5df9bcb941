/* A simulation for the tests of databases: write_contexts FILE FIRST COUNT WITNESS. Publishes known values in COUNT
 * cycles from FIRST on, as fast as it can. Its first rank appends to the file WITNESS the number of delivered cycles
 * that it knows of, and how many of them failed. A database must not lose these. */
#include <fcntl.h>
#include <mpi.h>
#include <sidestream/sidestream.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NX = 5, NY = 3, LAYERS = 2, BLOCKS = 2 };

static int failed(sidestream_session* session, int status, const char* call) {
  if (status != SIDESTREAM_OK) fprintf(stderr, "%s: %s\n", call, sidestream_message(session));
  return status != SIDESTREAM_OK;
}

static void witness(int file, const sidestream_account* account) {
  char line[80];
  const int length =
      snprintf(line, sizeof line, "%lld %lld\n", (long long)account->delivered, (long long)account->failed);
  if (write(file, line, (size_t)length) != length) fprintf(stderr, "cannot write the witness\n");
}

/* Block `id` has layers from LAYERS * id on; values depend on cycle and position. */
static void fill(double* values, int id, long cycle) {
  for (int n = 0; n < NX * NY * LAYERS; ++n) values[n] = (double)cycle * 1000 + id * NX * NY * LAYERS + n;
}

static int simulate(sidestream_session* session, long first, long count, const char* name) {
  int rank = 0;
  double values[NX * NY * LAYERS];
  sidestream_account account = {0}, known = {0};
  account.struct_size = known.struct_size = sizeof account;
  MPI_Comm_rank(sidestream_comm(session), &rank);
  const int file = rank == 0 ? open(name, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
  int status = 0;
  for (long cycle = first; cycle < first + count && status == 0; ++cycle) {
    for (int b = 0; b < BLOCKS; ++b) {
      fill(values, rank * BLOCKS + b, cycle);
      status |= failed(session, sidestream_publish(session, "field", rank * BLOCKS + b, values), "publish");
    }
    status |= failed(session, sidestream_end_iteration(session, cycle, 0.5 * (double)cycle), "end_iteration");
    sidestream_account_so_far(session, &account);
    if (file >= 0 && (account.delivered != known.delivered || account.failed != known.failed)) witness(file, &account);
    known = account;
  }
  if (file >= 0) close(file);
  return status;
}

static int declare(sidestream_session* session) {
  int rank = 0, size = 0, status = 0;
  MPI_Comm_rank(sidestream_comm(session), &rank);
  MPI_Comm_size(sidestream_comm(session), &size);
  sidestream_set_int(session, "nz", (int64_t)size * BLOCKS * LAYERS);
  for (int b = 0; b < BLOCKS; ++b) {
    const int64_t layer = ((int64_t)rank * BLOCKS + b) * LAYERS;
    const int64_t lo[3] = {0, 0, layer}, hi[3] = {NX, NY, layer + LAYERS};
    status |= failed(session, sidestream_set_block(session, "grid", (int64_t)rank * BLOCKS + b, lo, hi), "set_block");
  }
  return status;
}

int main(int argc, char** argv) {
  sidestream_session* session = NULL;
  int status = 1;
  MPI_Init(&argc, &argv);
  if (argc == 5 && !failed(NULL, sidestream_open(MPI_COMM_WORLD, argv[1], &session), "open")) {
    if (sidestream_is_server(session)) {
      status = failed(session, sidestream_serve(session), "serve");
    } else {
      status = declare(session) || simulate(session, atol(argv[2]), atol(argv[3]), argv[4]);
    }
    status |= failed(NULL, sidestream_close(&session), "close");
  }
  MPI_Finalize();
  return status;
}
