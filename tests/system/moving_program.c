/* A simulation whose meshes move. It has the same cells as a curvilinear mesh `c` and as an unstructured mesh `u` of
 * hexahedra, each with its own blocks. Coordinates are published in every iteration. tests/system/test_moving.py knows
 * the formulas.
 *
 * moving_program FILE BLOCKS (in all); in odd steps the last block has no cells in `u`, and its neighbour has them */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "one_session.h"

enum { NX = 12, NY = 8, NZ = 6, POINTS = (NX + 1) * (NY + 1) * (NZ + 1), CELLS = NX * NY * NZ, STEPS = 3 };

static int rank, size, blocks;

static void place(int64_t i, int64_t j, int64_t k, int step, double* x) {
  const double u = i / (double)NX, v = j / (double)NY, w = k / (double)NZ;
  x[0] = u + 0.05 * step + 0.03 * sin(5 * v + step);
  x[1] = v + 0.04 * cos(4 * w) * u;
  x[2] = w * (1 + 0.1 * step) + 0.05 * sin(6 * u);
}

static double value(const double* x) { return (x[0] - 0.5) * (x[0] - 0.5) + x[1] * x[1] + x[2] * x[2]; }

static int64_t cut(int64_t block) { return NX * block / blocks; }

static void publish_boxes(int64_t b, int step) {
  static double pos[3 * POINTS], n[POINTS], t[CELLS];
  int64_t at = 0;
  for (int64_t k = 0; k <= NZ; ++k)
    for (int64_t j = 0; j <= NY; ++j)
      for (int64_t i = cut(b); i <= cut(b + 1); ++i, ++at) {
        place(i, j, k, step, &pos[3 * at]);
        n[at] = value(&pos[3 * at]);
      }
  at = 0;
  for (int64_t k = 0; k < NZ; ++k)
    for (int64_t j = 0; j < NY; ++j)
      for (int64_t i = cut(b); i < cut(b + 1); ++i) t[at++] = (double)(i + 100 * j + 10000 * k);
  MUST(sidestream_publish(s, "cpos", b, pos));
  MUST(sidestream_publish(s, "cn", b, n));
  MUST(sidestream_publish(s, "ct", b, t));
}

static void publish_lists(int64_t b, int step) {
  static double pos[3 * POINTS], n[POINTS], t[CELLS];
  static int64_t ids[POINTS], links[8 * CELLS], ends[CELLS], cells[CELLS];
  static uint8_t kinds[CELLS];
  const int moved = blocks > 1 && step % 2 == 1;
  const int64_t lo = cut(b), hi = moved && b == blocks - 1 ? lo : cut(moved && b == blocks - 2 ? blocks : b + 1);
  const int64_t wide = hi - lo, row = wide + 1, plane = row * (NY + 1);
  const int64_t points = wide ? plane * (NZ + 1) : 0, count = wide * NY * NZ;
  MUST(sidestream_set_block_list(s, "u", b, points, count, 8 * count, 0, NULL));
  if (count == 0) return;
  int64_t at = 0;
  for (int64_t k = 0; k <= NZ; ++k)
    for (int64_t j = 0; j <= NY; ++j)
      for (int64_t i = lo; i <= hi; ++i, ++at) {
        place(i, j, k, step, &pos[3 * at]);
        n[at] = value(&pos[3 * at]);
        ids[at] = (k * (NY + 1) + j) * (NX + 1) + i;
      }
  at = 0;
  for (int64_t k = 0; k < NZ; ++k)
    for (int64_t j = 0; j < NY; ++j)
      for (int64_t i = lo; i < hi; ++i, ++at) {
        const int64_t p = k * plane + j * row + (i - lo);
        const int64_t corners[8] = {p,         p + 1,         p + row + 1,         p + row,
                                    p + plane, p + plane + 1, p + plane + row + 1, p + plane + row};
        for (int c = 0; c < 8; ++c) links[8 * at + c] = corners[c];
        ends[at] = 8 * (at + 1);
        kinds[at] = 12;
        cells[at] = (k * NY + j) * NX + i;
        t[at] = (double)(i + 100 * j + 10000 * k);
      }
  MUST(sidestream_publish(s, "upos", b, pos));
  MUST(sidestream_publish(s, "links", b, links));
  MUST(sidestream_publish(s, "ends", b, ends));
  MUST(sidestream_publish(s, "kinds", b, kinds));
  MUST(sidestream_publish(s, "points", b, ids));
  MUST(sidestream_publish(s, "cells", b, cells));
  MUST(sidestream_publish(s, "un", b, n));
  MUST(sidestream_publish(s, "ut", b, t));
}

static int run(int argc, char** argv, MPI_Comm comm) {
  blocks = argc > 2 ? atoi(argv[2]) : 1;
  must(sidestream_open(comm, argv[1], &s), "open");
  if (sidestream_is_server(s)) {
    MUST(sidestream_serve(s));
    MUST(sidestream_close(&s));
    return 0;
  }
  MPI_Comm_rank(sidestream_comm(s), &rank);
  MPI_Comm_size(sidestream_comm(s), &size);
  for (int64_t b = rank; b < blocks; b += size) {
    const int64_t lo[3] = {cut(b), 0, 0}, hi[3] = {cut(b + 1), NY, NZ};
    MUST(sidestream_set_block(s, "c", b, lo, hi));
    /* Memory for the most cells, which the block has in odd steps. */
    const int64_t wide = cut(b == blocks - 2 ? blocks : b + 1) - cut(b);
    const int64_t count = wide * NY * NZ, points = (wide + 1) * (NY + 1) * (NZ + 1);
    MUST(sidestream_set_block_list(s, "u", b, points, count, 8 * count, 0, NULL));
  }
  MUST(sidestream_start(s));
  for (int step = 0; step < STEPS; ++step) {
    for (int64_t b = rank; b < blocks; b += size) {
      publish_boxes(b, step);
      publish_lists(b, step);
    }
    MUST(sidestream_end_iteration(s, step, step));
  }
  close_with_account(rank);
  return 0;
}

int main(int argc, char** argv) { return main_in_turn(argc, argv, run); }
