/* The fields of writer.c, declared and published with Sidestream's own calls:
 *
 *   direct CONFIGURATION [--count N] [--float] [--steps WHAT] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sidestream/sidestream.h"

enum { nx = 12, ny = 5, nz = 6 };

/* The same formula as in writer.c. */
static double value(int step, int k, int j, int i, int c) {
  return 0.5 * i - 0.25 * j + 0.125 * k + 10.0 * step + 100.0 * c + 0.0625 * i * j;
}

static void fail_with(const sidestream_session* s) {
  fprintf(stderr, "direct: %s\n", sidestream_message(s));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void publish_field(sidestream_session* s, const char* name, int components, int step, int rank, int first,
                          int last, int single) {
  const size_t count = (size_t)(last - first) * ny * nx * (size_t)components;
  double* const values = malloc((count + 1) * sizeof *values);
  float* const singles = (float*)values;
  size_t at = 0;
  for (int k = first; k < last; ++k) {
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) {
        for (int c = 0; c < components; ++c, ++at) {
          if (single) {
            singles[at] = (float)value(step, k, j, i, c);
          } else {
            values[at] = value(step, k, j, i, c);
          }
        }
      }
    }
  }
  if (last > first && sidestream_publish(s, name, rank, values) != SIDESTREAM_OK) fail_with(s);
  free(values);
}

int main(int argc, char** argv) {
  int rank, ranks, steps = 3, single = 0, scale = 10;
  MPI_Init(&argc, &argv);
  for (int n = 2; n < argc; ++n) {
    if (strcmp(argv[n], "--count") == 0) steps = atoi(argv[++n]);
    if (strcmp(argv[n], "--float") == 0) single = 1;
    if (strcmp(argv[n], "--steps") == 0 && (strcmp(argv[++n], "index") == 0 || strcmp(argv[n], "whole") == 0))
      scale = 1;
  }
  sidestream_session* s = NULL;
  if (argc < 2 || sidestream_open(MPI_COMM_WORLD, argv[1], &s) != SIDESTREAM_OK) fail_with(NULL);
  MPI_Comm_rank(sidestream_comm(s), &rank);
  MPI_Comm_size(sidestream_comm(s), &ranks);
  const int64_t size[3] = {nx, ny, nz};
  const double origin[3] = {0, 0, 0}, spacing[3] = {0.5, 0.5, 0.5};
  const int first = nz * rank / ranks, last = nz * (rank + 1) / ranks;
  const sidestream_type type = single ? SIDESTREAM_FLOAT32 : SIDESTREAM_FLOAT64;
  sidestream_add_uniform_mesh(s, "grid", 3, size, origin, spacing);
  sidestream_add_variable(s, "temperature", "grid", type, SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN);
  sidestream_add_variable(s, "velocity", "grid", type, SIDESTREAM_CELL, 3, SIDESTREAM_COLUMN);
  const int64_t lo[3] = {0, 0, first}, hi[3] = {nx, ny, last};
  if (last > first && sidestream_set_block(s, "grid", rank, lo, hi) != SIDESTREAM_OK) fail_with(s);
  if (sidestream_start(s) != SIDESTREAM_OK) fail_with(s);
  for (int step = 0; step < steps; ++step) {
    publish_field(s, "temperature", 1, step, rank, first, last, single);
    publish_field(s, "velocity", 3, step, rank, first, last, single);
    if (sidestream_end_iteration(s, scale * step, 0.25 * step) != SIDESTREAM_OK) fail_with(s);
  }
  if (sidestream_close(&s) != SIDESTREAM_OK) fail_with(NULL);
  MPI_Finalize();
  return 0;
}
