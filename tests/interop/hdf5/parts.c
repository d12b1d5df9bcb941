/* A program that writes parts of a grid by selections that are no single box, and knows nothing of Sidestream.
 *
 *   parts [--how layers|union|points|box|reversed] [--memory double|float|int32|int64|uint8]
 *         [--stored double|float|int32|big] [--gaps] [--collective]
 *
 * Each of three files has the dataset `temperature`. With `--gaps` memory has two values for each one that is written.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "parts.h"

static const char *how = "union", *memory_type = "double", *stored = "double";
static int rank, ranks, gaps;
static hid_t transfer = H5P_DEFAULT;

static hid_t type_of(const char* name) {
  if (strcmp(name, "float") == 0) return H5T_NATIVE_FLOAT;
  if (strcmp(name, "int32") == 0) return H5T_NATIVE_INT32;
  if (strcmp(name, "int64") == 0) return H5T_NATIVE_INT64;
  if (strcmp(name, "uint8") == 0) return H5T_NATIVE_UINT8;
  return strcmp(name, "big") == 0 ? H5T_IEEE_F64BE : H5T_NATIVE_DOUBLE;
}

static int is_in(const struct part* part, int k, int j, int i) {
  return k >= part->lo[0] && k < part->hi[0] && j >= part->lo[1] && j < part->hi[1] && i >= part->lo[2] &&
         i < part->hi[2];
}

/* The values of some parts in the order of the grid, which is that of a selection; `points` gets their indices. */
static hsize_t fill(const struct part* parts, int count, int step, void* values, hsize_t* points) {
  hsize_t n = 0;
  for (int k = 0; k < nz; ++k) {
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) {
        int in = 0;
        for (int p = 0; p < count; ++p) in = in || is_in(&parts[p], k, j, i);
        if (!in) continue;
        if (gaps) store_value(memory_type, values, (int64_t)(2 * n + 1), 1e6);
        store_value(memory_type, values, (int64_t)(gaps ? 2 * n : n), part_value(step, k, j, i));
        points[3 * n] = (hsize_t)k;
        points[3 * n + 1] = (hsize_t)j;
        points[3 * n + 2] = (hsize_t)i;
        ++n;
      }
    }
  }
  return n;
}

static void turn(void* values, size_t size, hsize_t count) {
  char* const all = values;
  for (hsize_t n = 0; n < count / 2; ++n) {
    for (size_t b = 0; b < size; ++b) {
      const char one = all[n * size + b];
      all[n * size + b] = all[(count - 1 - n) * size + b];
      all[(count - 1 - n) * size + b] = one;
    }
  }
}

/* A space with the values in memory. */
static hid_t memory_space(hsize_t count) {
  const hsize_t size = count * (gaps ? 2 : 1), start = 0, stride = 2;
  const hid_t space = H5Screate_simple(1, &size, NULL);
  if (gaps) H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, NULL);
  if (strcmp(how, "reversed") != 0) return space;
  hsize_t* const places = malloc(count * sizeof *places);
  for (hsize_t n = 0; n < count; ++n) places[n] = count - 1 - n;
  H5Sselect_elements(space, H5S_SELECT_SET, count, places);
  free(places);
  return space;
}

static void select_in(hid_t space, const struct part* parts, int count, hsize_t number, const hsize_t* points) {
  if (strcmp(how, "points") == 0) {
    H5Sselect_elements(space, H5S_SELECT_SET, number, points);
    return;
  }
  if (strcmp(how, "layers") == 0) {
    const hsize_t start[3] = {(hsize_t)rank, 0, 0}, stride[3] = {ranks < 2 ? 2 : (hsize_t)ranks, 1, 1},
                  boxes[3] = {(hsize_t)count, 1, 1}, block[3] = {1, ny, nx};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, boxes, block);
    return;
  }
  H5Sselect_none(space);
  for (int p = 0; p < count; ++p) {
    hsize_t start[3], size[3];
    for (int a = 0; a < 3; ++a) {
      start[a] = (hsize_t)parts[p].lo[a];
      size[a] = (hsize_t)(parts[p].hi[a] - parts[p].lo[a]);
    }
    H5Sselect_hyperslab(space, p == 0 ? H5S_SELECT_SET : H5S_SELECT_OR, start, NULL, size, NULL);
  }
}

static void write_parts(hid_t set, const struct part* parts, int count, int step) {
  const size_t cells = (size_t)nx * ny * nz;
  void* const values = malloc(2 * cells * sizeof(double));
  hsize_t* const points = malloc(3 * cells * sizeof *points);
  const hsize_t number = fill(parts, count, step, values, points);
  const hid_t type = type_of(memory_type), in_file = H5Dget_space(set), memory = memory_space(number);
  if (strcmp(how, "reversed") == 0) turn(values, H5Tget_size(type), number);
  select_in(in_file, parts, count, number, points);
  if (H5Dwrite(set, type, memory, in_file, transfer, values) < 0) MPI_Abort(MPI_COMM_WORLD, 1);
  H5Sclose(memory);
  H5Sclose(in_file);
  free(points);
  free(values);
}

static void write_file(int step) {
  char name[64];
  snprintf(name, sizeof name, "plot_%04d.h5", 10 * step);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t size[3] = {nz, ny, nx};
  const hid_t space = H5Screate_simple(3, size, NULL);
  const hid_t set = H5Dcreate2(file, "temperature", type_of(stored), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  struct part parts[most_parts];
  const int count = parts_of(how, rank, ranks, parts);
  if (strcmp(how, "points") == 0) {
    for (int p = 0; p < count; ++p) write_parts(set, &parts[p], 1, step);
  } else {
    write_parts(set, parts, count, step);
  }
  H5Dclose(set);
  H5Sclose(space);
  H5Pclose(access);
  H5Fclose(file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int n = 1; n < argc; ++n) {
    if (strcmp(argv[n], "--how") == 0)
      how = argv[++n];
    else if (strcmp(argv[n], "--memory") == 0)
      memory_type = argv[++n];
    else if (strcmp(argv[n], "--stored") == 0)
      stored = argv[++n];
    else if (strcmp(argv[n], "--gaps") == 0)
      gaps = 1;
    else if (strcmp(argv[n], "--collective") == 0) {
      transfer = H5Pcreate(H5P_DATASET_XFER);
      H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    }
  }
  for (int step = 0; step < 3; ++step) write_file(step);
  MPI_Finalize();
  return 0;
}
