/* A simulation on meshes whose arrays give their positions, and on refinement levels, written with the C interface.
Every value encodes its position; tests/system/test_kinds.py knows the formulas.
 *
 * kinds_program FILE kind=curvilinear|unstructured|points|octree|levels [key=number ...]
 * keys: blocks (of each client), steps, changing (lengths), calls (declare by these; 2: attributes by former names),
 * dimensions, gap (a block that nobody has), forget (to close) */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "one_session.h"

enum { MOST = 4096, NX = 9 };

static int rank, size, blocks_each, steps, changing, calls, dimensions, gap, forget;
static int64_t ny, nz; /* 1 on unused axes */

static double value(int64_t block, int64_t i, int c, int step) {
  return (double)(1000 * block + i + 100000 * c + 1000000 * step);
}

static void publish_reals(const char* name, int64_t block, int64_t count, int components, int step, int is_float) {
  static double reals[MOST];
  static float floats[MOST];
  for (int64_t i = 0; i < count; ++i) {
    for (int c = 0; c < components; ++c) {
      reals[i * components + c] = value(block, i, c, step);
      floats[i * components + c] = (float)reals[i * components + c];
    }
  }
  MUST(sidestream_publish(s, name, block, is_float ? (const void*)floats : (const void*)reals));
}

/* ---- curvilinear ---------------------------------------------------------------------------------------------- */

static void slab(int64_t n, int64_t all, int64_t lo[3], int64_t hi[3]) {
  lo[0] = NX * n / all, hi[0] = NX * (n + 1) / all;
  lo[1] = lo[2] = 0, hi[1] = ny, hi[2] = nz;
}

static void declare_curvilinear(void) {
  const int64_t cells[3] = {NX, ny, nz};
  if (calls) {
    MUST(sidestream_add_curvilinear_mesh(s, "m", dimensions, cells, "pos"));
    MUST(sidestream_add_variable(s, "pos", "m", SIDESTREAM_FLOAT64, SIDESTREAM_CELL, dimensions, SIDESTREAM_COLUMN));
    MUST(sidestream_set_variable_attribute(s, "pos", "time_varying", "false"));
    MUST(sidestream_add_variable(s, "t", "m", SIDESTREAM_FLOAT64, SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN));
    MUST(sidestream_add_variable(s, "n", "m", SIDESTREAM_FLOAT32, SIDESTREAM_NODE, 1, SIDESTREAM_COLUMN));
  }
  const int64_t all = (int64_t)blocks_each * size;
  for (int64_t b = rank; b < all; b += size) {
    int64_t lo[3], hi[3];
    slab(b, all, lo, hi);
    if (all - 1 - b == gap) continue;
    MUST(sidestream_set_block(s, "m", all - 1 - b, lo, hi));
    double bounds[6] = {(double)lo[0], 0, -NX / 8.0, (double)hi[0] + (double)ny, (double)(ny + nz), (double)nz};
    for (int a = dimensions; a < 3; ++a) bounds[a] = bounds[3 + a] = 0;
    MUST(sidestream_set_block_bounds(s, "m", all - 1 - b, bounds));
  }
}

static void publish_curvilinear(int step) {
  static double t[MOST], pos[3 * MOST];
  static float n[MOST];
  const int64_t all = (int64_t)blocks_each * size;
  for (int64_t b = rank; b < all; b += size) {
    int64_t lo[3], hi[3], at = 0;
    slab(b, all, lo, hi);
    if (all - 1 - b == gap) continue;
    for (int64_t k = lo[2]; k < hi[2]; ++k)
      for (int64_t j = lo[1]; j < hi[1]; ++j)
        for (int64_t i = lo[0]; i < hi[0]; ++i) t[at++] = (double)(i + 50 * j + 2500 * k + 250000 * step);
    MUST(sidestream_publish(s, "t", all - 1 - b, t));
    if (hi[0] == lo[0]) continue;
    at = 0;
    for (int64_t k = lo[2]; k < hi[2] + (dimensions > 2); ++k) {
      for (int64_t j = lo[1]; j < hi[1] + (dimensions > 1); ++j) {
        for (int64_t i = lo[0]; i <= hi[0]; ++i, ++at) {
          n[at] = (float)(i + 50 * j + 2500 * k + 250000 * step);
          const double place[3] = {(double)i + 0.25 * (double)j, (double)j + 0.5 * (double)k,
                                   (double)k - 0.125 * (double)i};
          memcpy(&pos[dimensions * at], place, (size_t)dimensions * sizeof(double));
        }
      }
    }
    MUST(sidestream_publish(s, "n", all - 1 - b, n));
    if (step == 0) MUST(sidestream_publish(s, "pos", all - 1 - b, pos));
  }
}

/* ---- unstructured --------------------------------------------------------------------------------------------- */

static int64_t cells_of(int64_t b, int step) { return b == 1 ? 0 : 2 + b + (changing ? step % 3 : 0); }
static int64_t points_of(int64_t b, int step) { return b == 1 ? 0 : 4 + 3 * b + (changing ? 2 * (step % 2) : 0); }

/* Cells are in turn a tetrahedron as a polyhedron, a tetrahedron, and a triangle. */
static int64_t corners_of(int64_t cells) { return 4 * cells - cells / 3; }
static int64_t faces_of(int64_t cells) { return 17 * ((cells + 2) / 3); }

/* Declares the largest lengths, because memory is reserved for declarations before the start. */
static void declare_lists(void) {
  for (int64_t b = rank; b < (int64_t)blocks_each * size; b += size) {
    const int64_t cells = cells_of(b, 2), points = points_of(b, 1);
    MUST(sidestream_set_block_list(s, "m", b, points, cells, corners_of(cells), faces_of(cells), NULL));
  }
}

static void declare_unstructured(void) {
  declare_lists();
  if (!calls) return;
  MUST(sidestream_add_unstructured_mesh(s, "m", dimensions, "pos", "links", "ends", "kinds"));
  MUST(sidestream_set_mesh_array(s, "m", SIDESTREAM_FACES, "faces"));
  MUST(sidestream_set_mesh_array(s, "m", SIDESTREAM_FACE_OFFSETS, "face_ends"));
  MUST(sidestream_add_variable(s, "pos", "m", SIDESTREAM_FLOAT32, SIDESTREAM_NODE, dimensions, SIDESTREAM_COLUMN));
  const char* const names[] = {"links", "ends", "faces", "face_ends"};
  for (int n = 0; n < 4; ++n) {
    const int type = n == 1 ? SIDESTREAM_INT32 : SIDESTREAM_INT64;
    MUST(sidestream_add_variable(s, names[n], "m", type, SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN));
  }
  MUST(sidestream_add_variable(s, "kinds", "m", SIDESTREAM_UINT8, SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN));
  for (int n = 0; n < 4 && !changing; ++n)
    MUST(sidestream_set_variable_attribute(s, names[n], "time_varying", "false"));
  if (!changing) MUST(sidestream_set_variable_attribute(s, "kinds", "time_varying", "false"));
  MUST(sidestream_add_variable(s, "t", "m", SIDESTREAM_FLOAT64, SIDESTREAM_CELL, 2, SIDESTREAM_COLUMN));
  MUST(sidestream_add_variable(s, "n", "m", SIDESTREAM_FLOAT32, SIDESTREAM_NODE, 1, SIDESTREAM_COLUMN));
}

static void publish_topology(int64_t b, int64_t cells, int64_t points) {
  static const int faces[4][3] = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
  static int64_t links[MOST], stream[MOST], stream_ends[MOST];
  static int32_t ends[MOST];
  static uint8_t kinds[MOST];
  int64_t corners = 0, entries = 0;
  for (int64_t i = 0; i < cells; ++i) {
    for (int64_t c = 0; c < (i % 3 == 2 ? 3 : 4); ++c) links[corners++] = (b + i + c) % points;
    ends[i] = (int32_t)corners;
    kinds[i] = i % 3 == 0 ? 42 : i % 3 == 1 ? 10 : 5;
    if (i % 3 == 0) stream[entries++] = 4;
    for (int f = 0; f < 4 && i % 3 == 0; ++f) {
      stream[entries++] = 3;
      for (int c = 0; c < 3; ++c) stream[entries++] = (b + i + faces[f][c]) % points;
    }
    stream_ends[i] = i % 3 == 0 ? entries : -1;
  }
  MUST(sidestream_publish(s, "links", b, links));
  MUST(sidestream_publish(s, "ends", b, ends));
  MUST(sidestream_publish(s, "faces", b, stream));
  MUST(sidestream_publish(s, "face_ends", b, stream_ends));
  MUST(sidestream_publish(s, "kinds", b, kinds));
}

static void publish_unstructured(int step) {
  for (int64_t b = rank; b < (int64_t)blocks_each * size; b += size) {
    const int64_t cells = cells_of(b, step), points = points_of(b, step);
    /* Points move in every step. Bounds change, and with `changing` also the lengths. */
    const double low = value(b, 0, 0, step), high = value(b, points, 2, step);
    double bounds[6] = {low, low, low, high, high, high};
    for (int a = dimensions; a < 3; ++a) bounds[a] = bounds[3 + a] = 0;
    MUST(sidestream_set_block_list(s, "m", b, points, cells, corners_of(cells), faces_of(cells),
                                   points ? bounds : NULL));
    publish_reals("pos", b, points, dimensions, step, 1);
    publish_reals("t", b, cells, 2, step, 0);
    publish_reals("n", b, points, 1, step, 1);
    if (step == 0 || changing) publish_topology(b, cells, points);
  }
}

/* ---- points --------------------------------------------------------------------------------------------------- */

static void declare_points(void) {
  if (!calls) return;
  MUST(sidestream_add_points_mesh(s, "m", dimensions, "pos"));
  MUST(sidestream_set_mesh_array(s, "m", SIDESTREAM_POINT_IDS, "ids"));
  MUST(sidestream_set_mesh_array(s, "m", SIDESTREAM_POINT_GHOSTS, "flags"));
  MUST(sidestream_add_variable(s, "pos", "m", SIDESTREAM_FLOAT32, SIDESTREAM_NODE, dimensions, SIDESTREAM_COLUMN));
  MUST(sidestream_add_variable(s, "ids", "m", SIDESTREAM_INT64, SIDESTREAM_NODE, 1, SIDESTREAM_COLUMN));
  MUST(sidestream_add_variable(s, "flags", "m", SIDESTREAM_UINT8, SIDESTREAM_NODE, 1, SIDESTREAM_COLUMN));
  MUST(sidestream_add_variable(s, "n", "m", SIDESTREAM_FLOAT32, SIDESTREAM_NODE, 1, SIDESTREAM_COLUMN));
}

/* Blocks go to another client every second step. */
static int owner(int64_t b, int step) { return (int)((b + step / 2) % size); }

static void publish_points(int step) {
  static int64_t ids[MOST];
  static uint8_t flags[MOST];
  for (int64_t b = 0; b < (int64_t)blocks_each * size; ++b) {
    const int had = step > 0 && owner(b, step - 1) == rank, has = owner(b, step) == rank;
    if (had && !has) MUST(sidestream_remove_block(s, "m", b));
    if (!has) continue;
    const int64_t count = (11 * b + 7 * step) % 17;
    MUST(sidestream_set_block_list(s, "m", b, count, count, 0, 0, NULL));
    for (int64_t i = 0; i < count; ++i) ids[i] = 100 * b + i, flags[i] = i % 5 == 4;
    publish_reals("pos", b, count, dimensions, step, 1);
    publish_reals("n", b, count, 1, step, 1);
    MUST(sidestream_publish(s, "ids", b, ids));
    MUST(sidestream_publish(s, "flags", b, flags));
  }
}

/* ---- trees ---------------------------------------------------------------------------------------------------- */

/* Marks the cells of block b that are refined in that step, and returns how many cells it has. Block 1 has none. */
static int64_t grow(int64_t b, int step, uint8_t* refined) {
  int64_t first = 0, count = b == 1 ? 0 : 2;
  for (int level = 0; count > 0; ++level) {
    int64_t parents = 0;
    for (int64_t i = first; i < first + count; ++i) {
      refined[i] = level < 3 && (7 * i + b + step) % 5 == 0;
      parents += refined[i];
    }
    first += count;
    count = 8 * parents;
  }
  return first;
}

static void declare_octree(void) {
  if (!calls) return;
  const int64_t roots[3] = {2, 1, 1};
  const double origin[3] = {-1, 0, 0.5}, spacing[3] = {2, 1, 1.5};
  MUST(sidestream_add_octree_mesh(s, "m", 3, roots, origin, spacing, "split"));
  MUST(sidestream_set_mesh_array(s, "m", SIDESTREAM_OWNED, "mine"));
  MUST(sidestream_add_variable(s, "split", "m", SIDESTREAM_UINT8, SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN));
  MUST(sidestream_add_variable(s, "mine", "m", SIDESTREAM_UINT8, SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN));
  MUST(sidestream_add_variable(s, "t", "m", SIDESTREAM_FLOAT64, SIDESTREAM_CELL, 2, SIDESTREAM_COLUMN));
  MUST(sidestream_set_variable_attribute(s, "t", calls == 2 ? "father" : "parent", "mean"));
}

static void publish_octree(int step) {
  static uint8_t refined[MOST], owned[MOST];
  for (int64_t b = rank; b < (int64_t)blocks_each * size; b += size) {
    const int64_t cells = grow(b, step, refined);
    MUST(sidestream_set_block_list(s, "m", b, 0, cells, 0, 0, NULL));
    for (int64_t i = 0; i < cells; ++i) owned[i] = (i + b) % 3 != 0;
    MUST(sidestream_publish(s, "split", b, refined));
    MUST(sidestream_publish(s, "mine", b, owned));
    publish_reals("t", b, cells, 2, step, 0);
  }
}

/* ---- levels --------------------------------------------------------------------------------------------------- */

/* Two levels of finer boxes; the finest one exists only in even steps. */
static const struct {
  int level;
  int64_t lo[3], hi[3];
} boxes[] = {{0, {0, 0, 0}, {4, 8, 4}},   {0, {4, 0, 0}, {8, 8, 4}},    {1, {4, 2, 0}, {8, 10, 8}},
             {1, {8, 2, 0}, {12, 10, 6}}, {2, {10, 6, 2}, {16, 12, 6}}, {2, {16, 6, 2}, {20, 12, 6}}};
enum { BOXES = sizeof boxes / sizeof boxes[0] };

static void declare_levels(void) {
  if (!calls) return;
  const int64_t cells[3] = {8, 8, 4}, ratios[6] = {2, 2, 2, 2, 2, 1};
  const double origin[3] = {0, 0, 0}, spacing[3] = {1, 1, 1};
  const int periodic[3] = {1, 0, 0};
  MUST(sidestream_add_uniform_mesh(s, "m", 3, cells, origin, spacing));
  MUST(sidestream_set_refinement(s, "m", 2, ratios));
  MUST(sidestream_set_periodic(s, "m", periodic));
  MUST(sidestream_add_variable(s, "t", "m", SIDESTREAM_FLOAT64, SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN));
  MUST(sidestream_add_variable(s, "n", "m", SIDESTREAM_FLOAT64, SIDESTREAM_NODE, 1, SIDESTREAM_COLUMN));
}

static void publish_levels(int step) {
  static double values[MOST];
  for (int b = rank; b < BOXES; b += size) {
    const int there = boxes[b].level < 2 || step % 2 == 0;
    if (boxes[b].level == 2 && step > 0 && !there) MUST(sidestream_remove_block(s, "m", b));
    if (!there) continue;
    if (step == 0 || boxes[b].level == 2) {
      MUST(sidestream_set_block_on_level(s, "m", b, boxes[b].level, boxes[b].lo, boxes[b].hi));
    }
    for (int node = 0; node < 2; ++node) {
      int64_t at = 0;
      for (int64_t k = boxes[b].lo[2]; k < boxes[b].hi[2] + node; ++k)
        for (int64_t j = boxes[b].lo[1]; j < boxes[b].hi[1] + node; ++j)
          for (int64_t i = boxes[b].lo[0]; i < boxes[b].hi[0] + node; ++i)
            values[at++] = (double)(i + 50 * j + 2500 * k + 250000 * boxes[b].level + 1000000 * step);
      MUST(sidestream_publish(s, node ? "n" : "t", b, values));
    }
  }
}

static int run(int argc, char** argv, MPI_Comm comm) {
  const char* kind = "";
  blocks_each = 2, steps = 4, changing = 0, calls = 0, dimensions = 3, gap = -1, forget = 0, ny = 5, nz = 4;
  for (int a = 2; a < argc; ++a) {
    if (sscanf(argv[a], "blocks=%d", &blocks_each) || sscanf(argv[a], "steps=%d", &steps) ||
        sscanf(argv[a], "changing=%d", &changing) || sscanf(argv[a], "calls=%d", &calls) ||
        sscanf(argv[a], "dimensions=%d", &dimensions) || sscanf(argv[a], "gap=%d", &gap) ||
        sscanf(argv[a], "forget=%d", &forget)) {
      continue;
    }
    if (strncmp(argv[a], "kind=", 5) == 0) kind = argv[a] + 5;
  }
  if (dimensions < 2) ny = 1;
  if (dimensions < 3) nz = 1;
  must(sidestream_open(comm, argv[1], &s), "open");
  if (sidestream_is_server(s)) {
    MUST(sidestream_serve(s));
    MUST(sidestream_close(&s));
    return 0;
  }
  MPI_Comm_rank(sidestream_comm(s), &rank);
  MPI_Comm_size(sidestream_comm(s), &size);
  if (strcmp(kind, "curvilinear") == 0) declare_curvilinear();
  if (strcmp(kind, "unstructured") == 0) declare_unstructured();
  if (strcmp(kind, "points") == 0) declare_points();
  if (strcmp(kind, "octree") == 0) declare_octree();
  if (strcmp(kind, "levels") == 0) declare_levels();
  MUST(sidestream_start(s));
  for (int step = 0; step < steps; ++step) {
    if (strcmp(kind, "curvilinear") == 0) publish_curvilinear(step);
    if (strcmp(kind, "unstructured") == 0) publish_unstructured(step);
    if (strcmp(kind, "points") == 0) publish_points(step);
    if (strcmp(kind, "octree") == 0) publish_octree(step);
    if (strcmp(kind, "levels") == 0) publish_levels(step);
    MUST(sidestream_end_iteration(s, step, step));
  }
  if (forget) {
    printf("forgets to close\n");
    fflush(stdout);
    return 0;
  }
  close_with_account(rank);
  return 0;
}

int main(int argc, char** argv) { return main_in_turn(argc, argv, run); }
