/* The parts of parts.c, declared as blocks and published with Sidestream's own calls:
 *
 *   parts_direct CONFIGURATION [--how WHAT] [--memory TYPE] */
#include <stdio.h>
#include <stdlib.h>

#include "parts.h"
#include "sidestream/sidestream.h"

static void check(const sidestream_session* s, int code) {
  if (code == SIDESTREAM_OK) return;
  fprintf(stderr, "parts_direct: %s\n", sidestream_message(s));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static sidestream_type type_of(const char* name) {
  if (strcmp(name, "float") == 0) return SIDESTREAM_FLOAT32;
  if (strcmp(name, "int32") == 0) return SIDESTREAM_INT32;
  if (strcmp(name, "int64") == 0) return SIDESTREAM_INT64;
  return strcmp(name, "uint8") == 0 ? SIDESTREAM_UINT8 : SIDESTREAM_FLOAT64;
}

int main(int argc, char** argv) {
  const char *how = "union", *type = "double";
  int rank, ranks;
  MPI_Init(&argc, &argv);
  for (int n = 2; n < argc; ++n) {
    if (strcmp(argv[n], "--how") == 0) how = argv[++n];
    if (strcmp(argv[n], "--memory") == 0) type = argv[++n];
  }
  sidestream_session* s = NULL;
  check(NULL, argc < 2 ? SIDESTREAM_ERROR_USAGE : sidestream_open(MPI_COMM_WORLD, argv[1], &s));
  MPI_Comm_rank(sidestream_comm(s), &rank);
  MPI_Comm_size(sidestream_comm(s), &ranks);
  const int64_t size[3] = {nx, ny, nz};
  const double origin[3] = {0, 0, 0}, spacing[3] = {0.5, 0.5, 0.5};
  check(s, sidestream_add_uniform_mesh(s, "grid", 3, size, origin, spacing));
  check(s, sidestream_add_variable(s, "temperature", "grid", type_of(type), SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN));
  struct part parts[most_parts];
  const int count = parts_of(how, rank, ranks, parts);
  for (int p = 0; p < count; ++p) {
    int64_t lo[3], hi[3];
    for (int a = 0; a < 3; ++a) {
      lo[a] = parts[p].lo[2 - a];
      hi[a] = parts[p].hi[2 - a];
    }
    check(s, sidestream_set_block(s, "grid", rank + p * ranks, lo, hi));
  }
  check(s, sidestream_start(s));
  double* const values = malloc(sizeof(double) * nx * ny * nz);
  for (int step = 0; step < 3; ++step) {
    for (int p = 0; p < count; ++p) {
      int64_t n = 0;
      for (int k = parts[p].lo[0]; k < parts[p].hi[0]; ++k) {
        for (int j = parts[p].lo[1]; j < parts[p].hi[1]; ++j) {
          for (int i = parts[p].lo[2]; i < parts[p].hi[2]; ++i) {
            store_value(type, values, n++, part_value(step, k, j, i));
          }
        }
      }
      check(s, sidestream_publish_values(s, "temperature", rank + p * ranks, type_of(type), values, n));
    }
    check(s, sidestream_end_iteration(s, 10 * step, 10 * step));
  }
  free(values);
  check(NULL, sidestream_close(&s));
  MPI_Finalize();
  return 0;
}
