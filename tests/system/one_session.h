/* The session of a simulation in C, for programs of tests that have one at a time. */
#pragma once

#include <stdio.h>

#include "in_turn.h"
#include "sidestream/sidestream.h"

static sidestream_session* s;

static void must(int code, const char* call) {
  if (code == SIDESTREAM_OK) return;
  printf("error %d: %s: %s\n", code, call, sidestream_message(s));
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define MUST(call) must(call, #call)

/* Closes the session and prints what became of its iterations. Without a rank, only clients do. */
static void close_with_account(int rank) {
  sidestream_account account = {.struct_size = sizeof account};
  const int server = sidestream_is_server(s);
  MUST(sidestream_close_with_account(&s, &account));
  if (rank < 0 && server) return;
  printf("account ");
  if (rank >= 0) printf("rank=%d ", rank);
  printf("delivered=%ld refused=%ld failed=%ld unknown=%ld absent=%ld\n", (long)account.delivered,
         (long)account.refused, (long)account.failed, (long)account.unknown, (long)account.absent_blocks);
}

/* The body of main. */
static int main_in_turn(int argc, char** argv, one_run run) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int status = run_in_turn(argc, argv, run);
  MPI_Finalize();
  return status;
}
