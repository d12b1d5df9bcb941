/* Column density: the integral of a variable along the last axis of an octree or of a mesh with refinement levels, as a
 * map whose pixels are the cells of one level. Several ranks each make some rows of it. Reads a database directly.
 *
 *   mpirun -n 4 column DIRECTORY VARIABLE LEVEL FILE
 *
 * takes the context that was written last, and writes the map as float64, x fastest. The sums do not depend on the
 * number of ranks: cells come in the same order whatever box is asked for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "sidestream/reader.h"

typedef struct {
  sidestream_stored_mesh mesh;
  sidestream_stored_variable variable;
  int level;
  int64_t lo[3], hi[3]; /* this rank's box of cells of that level: all of x and z, some rows */
} task;

/* Cells of level `to` along one of level `from`, which is no finer. */
static int64_t ratio(const sidestream_stored_mesh* mesh, int axis, int from, int to) {
  int64_t product = 1;
  for (int level = from; level < to; ++level) {
    const int is_used = axis < mesh->dimensions;
    product *= mesh->kind == SIDESTREAM_MESH_OCTREE ? (is_used ? 2 : 1) : mesh->ratios[3 * level + axis];
  }
  return product;
}

/* Adds a cell to the pixels that it covers, or to the one in which it lies. */
static void add(const task* own, int level, const int64_t index[3], double value, double* map) {
  const int64_t width = own->hi[0] - own->lo[0];
  double weight = own->mesh.spacing[2] / (double)ratio(&own->mesh, 2, 0, level);
  int64_t first[2], past[2];
  for (int a = 0; a < 2; ++a) {
    if (level > own->level) {
      const int64_t finer = ratio(&own->mesh, a, own->level, level);
      weight /= (double)finer;
      first[a] = index[a] / finer;
      past[a] = first[a] + 1;
    } else {
      const int64_t covered = ratio(&own->mesh, a, level, own->level);
      first[a] = index[a] * covered;
      past[a] = first[a] + covered;
    }
    if (first[a] < own->lo[a]) first[a] = own->lo[a];
    if (past[a] > own->hi[a]) past[a] = own->hi[a];
  }
  for (int64_t j = first[1]; j < past[1]; ++j) {
    for (int64_t i = first[0]; i < past[0]; ++i) map[(j - own->lo[1]) * width + i - own->lo[0]] += value * weight;
  }
}

/* Reads the leaves of this rank's box and adds them up. Returns their number, or -1 if something failed. */
static int64_t make_map(sidestream_context* context, const char* name, const task* own, double* map) {
  sidestream_cell_choice choice = sidestream_all_leaves();
  sidestream_cells* cells = NULL;
  sidestream_cell_list list = {.struct_size = sizeof list};
  int64_t count = -1;
  choice.level = own->level;
  choice.has_box = 1;
  for (int a = 0; a < 3; ++a) {
    choice.lo[a] = own->lo[a];
    choice.hi[a] = own->hi[a];
  }
  if (sidestream_context_list_cells(context, own->mesh.name, &choice, &cells) != SIDESTREAM_OK) return -1;
  sidestream_cells_list(cells, &list);
  const int components = own->variable.components; /* the first one counts */
  const uint64_t bytes = (uint64_t)list.count * (uint64_t)components * sizeof(double);
  double* values = malloc(bytes + 1);
  if (values && sidestream_cells_read(context, cells, name, values, bytes, NULL) == SIDESTREAM_OK) {
    for (int64_t n = 0; n < list.count; ++n) add(own, list.level[n], list.index + 3 * n, values[n * components], map);
    count = list.count;
  }
  free(values);
  sidestream_cells_free(&cells);
  return count;
}

/* Finds the variable and its mesh, and this rank's rows. Returns 0, or 1 with a sentence on standard error. */
static int prepare(sidestream_context* context, const char* name, int rank, int size, task* own) {
  own->mesh.struct_size = sizeof own->mesh;
  own->variable.struct_size = sizeof own->variable;
  if (sidestream_context_variable(context, name, &own->variable) != SIDESTREAM_OK ||
      sidestream_context_mesh(context, own->variable.mesh, &own->mesh) != SIDESTREAM_OK) {
    fprintf(stderr, "column: %s\n", sidestream_context_message(context));
    return 1;
  }
  if ((own->mesh.kind != SIDESTREAM_MESH_OCTREE && own->mesh.kind != SIDESTREAM_MESH_UNIFORM) ||
      own->variable.type != SIDESTREAM_FLOAT64) {
    fprintf(stderr, "column: '%s' is no float64 in cells of an octree or a uniform mesh\n", name);
    return 1;
  }
  if (own->mesh.kind == SIDESTREAM_MESH_UNIFORM && own->level > own->mesh.steps) own->level = own->mesh.steps;
  for (int a = 0; a < 3; ++a) {
    const int64_t finer = ratio(&own->mesh, a, 0, own->level);
    own->lo[a] = own->mesh.lo[a] * finer;
    own->hi[a] = own->mesh.hi[a] * finer;
  }
  const int64_t rows = own->hi[1] - own->lo[1], begin = own->lo[1];
  own->lo[1] = begin + rows * rank / size;
  own->hi[1] = begin + rows * (rank + 1) / size;
  return 0;
}

/* Every rank writes its rows. */
static int write_map(const char* path, const task* own, const double* map) {
  MPI_File file;
  const int64_t width = own->hi[0] - own->lo[0], rows = own->hi[1] - own->lo[1];
  int64_t first = 0, mine = rows;
  MPI_Exscan(&mine, &first, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
    return 1;
  const int failed = MPI_File_write_at_all(file, first * width * (MPI_Offset)sizeof *map, map, (int)(width * rows),
                                           MPI_DOUBLE, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  return MPI_File_close(&file) != MPI_SUCCESS || failed;
}

static int run(const char* directory, const char* name, int level, const char* path, int rank, int size) {
  sidestream_reader* reader = NULL;
  sidestream_context* context = NULL;
  task own = {.level = level};
  int64_t contexts = 0, counts[2] = {-1, 0};
  int failed = 1;
  if (sidestream_reader_open(MPI_COMM_WORLD, directory, &reader) != SIDESTREAM_OK) {
    if (rank == 0) fprintf(stderr, "column: %s\n", sidestream_reader_message(NULL));
    return 1;
  }
  sidestream_reader_context_count(reader, &contexts);
  if (sidestream_context_open(reader, contexts - 1, &context) != SIDESTREAM_OK) {
    if (rank == 0) fprintf(stderr, "column: %s\n", sidestream_reader_message(reader));
  } else if (prepare(context, name, rank, size, &own) == 0) {
    double* map = calloc((size_t)((own.hi[0] - own.lo[0]) * (own.hi[1] - own.lo[1])) + 1, sizeof *map);
    uint64_t bytes = 0;
    if (own.hi[1] > own.lo[1]) counts[0] = map ? make_map(context, name, &own, map) : -1;
    if (own.hi[1] == own.lo[1]) counts[0] = 0;
    if (counts[0] < 0) fprintf(stderr, "column: rank %d: %s\n", rank, sidestream_context_message(context));
    sidestream_context_bytes_read(context, &bytes);
    counts[1] = (int64_t)bytes;
    int64_t least = counts[0], sums[2];
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Reduce(counts, sums, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    failed = least < 0 || write_map(path, &own, map);
    if (rank == 0 && !failed) printf("cells=%lld bytes=%lld\n", (long long)sums[0], (long long)sums[1]);
    free(map);
  }
  sidestream_context_close(&context);
  sidestream_reader_close(&reader);
  return failed;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int failed = 2;
  if (argc == 5) {
    failed = run(argv[1], argv[2], atoi(argv[3]), argv[4], rank, size);
  } else if (rank == 0) {
    fprintf(stderr, "usage: column DIRECTORY VARIABLE LEVEL FILE\n");
  }
  MPI_Finalize();
  return failed;
}
