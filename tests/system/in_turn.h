/* Several runs of a simulation in one job, one after the other, for tests that would wait for mpirun most of the time.
 *
 *   PROGRAM ARGUMENTS...         one run, of all ranks
 *   PROGRAM --in-turn FOLDER     a run for each line of FOLDER/orders.RANK, which are pipes that
 * tests/system/launched.py writes to: RANKS, a file for what is printed, and the arguments, between tabs
 *
 * The first RANKS ranks do the run. Each prints to its own file FILE.RANK, and writes what main would return to
 * FOLDER/replies. Ranks without a part in a run wait for their next line, without calls of MPI. */
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*one_run)(int argc, char** argv, MPI_Comm comm);

/* A communicator of the first ranks. */
static MPI_Comm first_ranks(int count) {
  MPI_Group all, some;
  MPI_Comm comm;
  int range[1][3] = {{0, count - 1, 1}};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_range_incl(all, 1, range, &some);
  MPI_Comm_create_group(MPI_COMM_WORLD, some, 0, &comm);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return comm;
}

/* Sends both streams, and output of the library and its workers, to the file from here on. Returns 0 on success. */
static int print_to(const char* file, int rank) {
  char name[4096];
  const int length = snprintf(name, sizeof name, "%s.%d", file, rank);
  const int to = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (to < 0 || length >= (int)sizeof name) return 1;
  const int failed = dup2(to, STDOUT_FILENO) < 0 || dup2(to, STDERR_FILENO) < 0;
  close(to);
  return failed;
}

/* Divides a line at its tabs; words may be empty. Returns the number of words, or -1 if there are more than `most`. */
static int divide(char* line, char** words, int most) {
  line[strcspn(line, "\n")] = '\0';
  int count = 0;
  for (char* next = line; next; ++count) {
    if (count == most) return -1;
    words[count] = next;
    next = strchr(next, '\t');
    if (next) *next++ = '\0';
  }
  return count;
}

static int run_line(char* line, const char* program, int rank, one_run run) {
  enum { MOST = 64 };
  char* words[MOST + 1] = {NULL};
  const int count = divide(line, words, MOST);
  if (!words[1] || print_to(words[1], rank) != 0) return 1;
  if (count < 0) {
    fprintf(stderr, "in_turn.h: a run has more than %d arguments\n", MOST - 2);
    return 1;
  }
  MPI_Comm comm = first_ranks(atoi(words[0]));
  char name[4096];
  snprintf(name, sizeof name, "%s", program);
  char** const arguments = words + 1; /* the place of the file is free for the program's name */
  arguments[0] = name;
  const int status = run(count - 1, arguments, comm);
  fflush(stdout);
  fflush(stderr);
  MPI_Comm_free(&comm);
  return status;
}

/* Does all runs, between MPI_Init and MPI_Finalize. */
static int run_in_turn(int argc, char** argv, one_run run) {
  if (argc != 3 || strcmp(argv[1], "--in-turn") != 0) return run(argc, argv, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char name[4096], reply[64];
  snprintf(name, sizeof name, "%s/orders.%d", argv[2], rank);
  const int orders_file = open(name, O_RDONLY | O_CLOEXEC);
  snprintf(name, sizeof name, "%s/replies", argv[2]);
  const int replies = open(name, O_WRONLY | O_CLOEXEC);
  FILE* const orders = orders_file < 0 ? NULL : fdopen(orders_file, "r");
  if (!orders || replies < 0) return 1;
  char* line = NULL;
  size_t room = 0;
  while (getline(&line, &room, orders) > 0) {
    const int status = run_line(line, argv[0], rank, run);
    const int length = snprintf(reply, sizeof reply, "%d %d\n", rank, status);
    if (write(replies, reply, (size_t)length) != length) break;
  }
  free(line);
  fclose(orders);
  close(replies);
  return 0;
}
