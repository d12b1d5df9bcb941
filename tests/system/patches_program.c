/* Patches on refinement levels that appear, vanish, change and go from client to client, written with the C interface.
 * Every value depends on its position; tests/system/patches.py knows the formulas.
 *
 * patches_program FILE [key=number ...]
 * keys: dimensions (2 or 3), first (number of the first step), steps, calls (declare by these), ghosts (publish one
 * layer round each patch, full of numbers that nobody may see), hole (in that step one patch is not published), single
 * (declare and remove blocks one by one instead of giving the whole list) */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "one_session.h"

enum { MOST = 1 << 14, IDS = 12 };

static int rank, size, dimensions, first, steps, calls, ghosts, hole, single;

/* Level 0 has 8 x 8 x 4 cells. A cell of level 0 has 2 cells of level 1 along each axis, and one of these 2 x 2 x 1 of
 * level 2. `in` has a bit for each step with the patch. */
typedef struct {
  unsigned in;
  int64_t id;
  int level;
  int64_t lo[3], hi[3];
} patch;
/* clang-format off */
static const patch patches[] = {
    {0xff, 0, 0, {0, 0, 0}, {4, 8, 4}},
    {0xff, 1, 0, {4, 0, 0}, {8, 8, 4}},
    {0x83, 2, 1, {4, 2, 0}, {8, 10, 8}},
    {0x83, 3, 1, {8, 2, 0}, {12, 10, 6}},
    {0x04, 3, 1, {8, 2, 0}, {14, 12, 6}},   /* has grown, and is the only one above level 0 */
    {0x83, 4, 2, {10, 6, 2}, {16, 12, 6}},
    {0x83, 5, 2, {16, 6, 2}, {20, 12, 6}},
    {0x30, 6, 1, {0, 0, 0}, {8, 16, 8}},    /* covers 0 */
    {0x20, 7, 1, {8, 0, 0}, {16, 8, 8}},    /* with 8 covers 1 */
    {0x20, 8, 1, {8, 8, 0}, {16, 16, 8}},
    {0x10, 9, 2, {4, 4, 0}, {12, 8, 4}},    /* the only one of its level */
    {0x60, 10, 2, {0, 0, 0}, {16, 32, 8}},  /* covers 6, or 0 if 6 has gone */
};
/* clang-format on */
enum { PATCHES = sizeof patches / sizeof patches[0] };

/* The mesh has one cell along each unused axis. */
static int64_t top(const patch* p, int axis) { return axis < dimensions ? p->hi[axis] : 1; }
static int64_t bottom(const patch* p, int axis) { return axis < dimensions ? p->lo[axis] : 0; }
static int is_in(const patch* p, int step) { return (p->in >> step % 8 & 1) != 0; }
/* Patches move to another rank in each step. With many ranks some have no patch. */
static int owner(const patch* p, int step) { return (int)((p->id + step) % (size > 3 ? size - 1 : size)); }

static double value(const int64_t at[3], int level, int step) {
  if (at[0] == 1 && at[1] == 1 && level == 0) return step % 2 ? NAN : INFINITY;
  return 0.1 * (double)(at[0] + 50 * at[1] + 2500 * at[2] + 250000 * level + 1000000 * step);
}

static void declare(void) {
  const int64_t cells[3] = {8, 8, 4}, ratios[6] = {2, 2, dimensions > 2 ? 2 : 1, 2, 2, 1};
  const double origin[3] = {0, 0, 0}, spacing[3] = {1, 1, 1};
  MUST(sidestream_add_uniform_mesh(s, "m", dimensions, cells, origin, spacing));
  MUST(sidestream_set_refinement(s, "m", 2, ratios));
  MUST(sidestream_add_variable(s, "t", "m", SIDESTREAM_FLOAT64, SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN));
  MUST(sidestream_add_variable(s, "n", "m", SIDESTREAM_FLOAT32, SIDESTREAM_NODE, 2, SIDESTREAM_COLUMN));
  MUST(sidestream_add_variable(s, "sometimes", "m", SIDESTREAM_FLOAT64, SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN));
}

/* Publishes cells, with a layer round them if there are ghosts. */
static void publish_cells(const char* name, const patch* p, int step) {
  static double values[MOST];
  int64_t lo[3], hi[3], at[3], n = 0;
  for (int a = 0; a < 3; ++a) {
    const int more = ghosts && a < dimensions;
    lo[a] = bottom(p, a) - more, hi[a] = top(p, a) + more;
  }
  if (ghosts) MUST(sidestream_set_allocated(s, name, p->id, lo, hi));
  for (at[2] = lo[2]; at[2] < hi[2]; ++at[2]) {
    for (at[1] = lo[1]; at[1] < hi[1]; ++at[1]) {
      for (at[0] = lo[0]; at[0] < hi[0]; ++at[0]) {
        int inside = 1;
        for (int a = 0; a < 3; ++a) inside = inside && at[a] >= bottom(p, a) && at[a] < top(p, a);
        values[n++] = inside ? value(at, p->level, step) : -1e30;
      }
    }
  }
  MUST(sidestream_publish(s, name, p->id, values));
}

static void publish_nodes(const patch* p, int step) {
  static float values[2 * MOST];
  int64_t at[3], n = 0;
  for (at[2] = bottom(p, 2); at[2] < top(p, 2) + (dimensions > 2); ++at[2]) {
    for (at[1] = bottom(p, 1); at[1] <= top(p, 1); ++at[1]) {
      for (at[0] = bottom(p, 0); at[0] <= top(p, 0); ++at[0]) {
        values[n++] = (float)(at[0] + 50 * at[1] + 2500 * at[2]);
        values[n++] = (float)(p->level + 10 * step);
      }
    }
  }
  MUST(sidestream_publish(s, "n", p->id, values));
}

/* Removes or changes earlier blocks that differ now, and declares new ones. */
static void change_one_by_one(const patch* const before[IDS], const patch* const now[IDS]) {
  for (int id = 0; id < IDS; ++id) {
    if (before[id] && !now[id]) MUST(sidestream_remove_block(s, "m", id));
    if (now[id] && now[id] != before[id]) {
      int64_t lo[3], hi[3];
      for (int a = 0; a < 3; ++a) lo[a] = bottom(now[id], a), hi[a] = top(now[id], a);
      MUST(sidestream_set_block_on_level(s, "m", id, now[id]->level, lo, hi));
    }
  }
}

static void replace(const patch* const now[IDS]) {
  int levels[IDS] = {0}, count = 0;
  int64_t ids[IDS] = {0}, lo[IDS][3] = {{0}}, hi[IDS][3] = {{0}};
  for (int id = 0; id < IDS; ++id) {
    if (!now[id]) continue;
    ids[count] = id, levels[count] = now[id]->level;
    for (int a = 0; a < 3; ++a) lo[count][a] = bottom(now[id], a), hi[count][a] = top(now[id], a);
    ++count;
  }
  MUST(sidestream_replace_blocks(s, "m", count, ids, levels, lo[0], hi[0]));
}

/* Declares the blocks of the step. */
static void change_blocks(int step, const patch* mine[IDS]) {
  const patch* now[IDS] = {NULL};
  for (int b = 0; b < PATCHES; ++b) {
    if (is_in(&patches[b], step) && owner(&patches[b], step) == rank) now[patches[b].id] = &patches[b];
  }
  if (single) {
    change_one_by_one(mine, now);
  } else {
    replace(now);
  }
  for (int id = 0; id < IDS; ++id) mine[id] = now[id];
}

static int run(int argc, char** argv, MPI_Comm comm) {
  const patch* mine[IDS] = {NULL};
  dimensions = 3, first = 0, steps = 8, calls = 0, ghosts = 0, hole = -1, single = 0;
  for (int a = 2; a < argc; ++a) {
    if (sscanf(argv[a], "dimensions=%d", &dimensions) || sscanf(argv[a], "first=%d", &first) ||
        sscanf(argv[a], "steps=%d", &steps) || sscanf(argv[a], "calls=%d", &calls) ||
        sscanf(argv[a], "ghosts=%d", &ghosts) || sscanf(argv[a], "hole=%d", &hole) ||
        sscanf(argv[a], "single=%d", &single))
      continue;
    printf("error: unknown argument %s\n", argv[a]);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MUST(sidestream_open(comm, argc > 1 ? argv[1] : NULL, &s));
  if (sidestream_is_server(s)) {
    MUST(sidestream_serve(s));
  } else {
    MPI_Comm_rank(sidestream_comm(s), &rank);
    MPI_Comm_size(sidestream_comm(s), &size);
    if (calls) declare();
    change_blocks(first, mine);
    MUST(sidestream_start(s));
    for (int step = first; step < first + steps; ++step) {
      change_blocks(step, mine);
      for (int id = 0; id < IDS; ++id) {
        if (!mine[id] || (step == hole && id == 3)) continue;
        publish_cells("t", mine[id], step);
        publish_nodes(mine[id], step);
        if (step % 2 == 0) publish_cells("sometimes", mine[id], step);
      }
      MUST(sidestream_end_iteration(s, step, 0.5 * step));
    }
  }
  close_with_account(-1);
  return 0;
}

int main(int argc, char** argv) { return main_in_turn(argc, argv, run); }
