/* Parts of a grid of 12 x 5 x 6 cells that are no single box: those that a rank writes in one call, or one after the
 * other. */
#ifndef SIDESTREAM_TESTS_HDF5_PARTS_H
#define SIDESTREAM_TESTS_HDF5_PARTS_H

#include <stdint.h>
#include <string.h>

enum { nx = 12, ny = 5, nz = 6, most_parts = nz };

/* [lo, hi) along z, y, x. */
struct part {
  int lo[3], hi[3];
};

/* The parts of a rank, those with the lowest x, y, z first; returns their number.
 *
 *   layers: every second layer or more, so that all ranks' layers are different ones
 *   union, points: two boxes beside each other, the second one in the layers of the next rank
 *   box, reversed: one box */
static int parts_of(const char* how, int rank, int ranks, struct part* parts) {
  const int every = ranks < 2 ? 2 : ranks, next = (rank + 1) % ranks;
  if (strcmp(how, "layers") == 0) {
    int count = 0;
    for (int k = rank; k < nz; k += every) parts[count++] = (struct part){{k, 0, 0}, {k + 1, ny, nx}};
    return count;
  }
  const int first = nz * rank / ranks, last = nz * (rank + 1) / ranks;
  if (strcmp(how, "union") == 0 || strcmp(how, "points") == 0) {
    parts[0] = (struct part){{first, 0, 0}, {last, ny, 5}};
    parts[1] = (struct part){{nz * next / ranks, 1, 6}, {nz * (next + 1) / ranks, ny, nx}};
    return 2;
  }
  parts[0] = (struct part){{first, 0, 0}, {last, ny, nx}};
  return 1;
}

static double part_value(int step, int k, int j, int i) { return 100 * k + 20 * j + i + 1000 * step; }

/* The types of values in memory: double, float, int32, int64, uint8. */
static void store_value(const char* type, void* values, int64_t n, double value) {
  if (strcmp(type, "float") == 0) ((float*)values)[n] = (float)value;
  if (strcmp(type, "double") == 0) ((double*)values)[n] = value;
  if (strcmp(type, "int32") == 0) ((int32_t*)values)[n] = (int32_t)value;
  if (strcmp(type, "int64") == 0) ((int64_t*)values)[n] = (int64_t)value;
  if (strcmp(type, "uint8") == 0) ((uint8_t*)values)[n] = (uint8_t)((int)value % 251);
}

#endif
