/* A program that writes HDF5 and knows nothing of Sidestream: fields on a grid of 12 x 5 x 6 cells, split along z.
 *
 *   writer [--serial] [--steps file|index|path|whole] [--collective] [--ghosts] [--planes] [--none-on-0] [--odd WHAT]
 *          [--leave] [--float] [--count N] [--again]
 *
 * `temperature` has one value in a cell, `velocity` three, `mask` small whole numbers; `time` has one number in each
 * step. With `--serial` rank 0 writes everything. `--odd` adds a write that cannot be published. With `--again` each
 * field is zero at first, and then written again in two parts. It prints the number of calls of HDF5 that failed. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { nx = 12, ny = 5, nz = 6 };

static struct {
  const char *steps, *odd;
  int serial, collective, ghosts, planes, none_on_0, leave, single, again, count;
} options = {"file", "", 0, 0, 0, 0, 0, 0, 0, 0, 3};
static int rank, ranks, failures;
static hid_t transfer = H5P_DEFAULT;

static int failed(hid_t result) {
  if (result < 0) ++failures;
  return result < 0;
}

/* The same formula as in direct.c. */
static double value(int step, int k, int j, int i, int c) {
  return 0.5 * i - 0.25 * j + 0.125 * k + 10.0 * step + 100.0 * c + 0.0625 * i * j;
}

static void layers(int* first, int* last) {
  const int writers = options.serial ? 1 : ranks;
  const int skipped = options.none_on_0 && writers > 1;
  const int n = writers - skipped, r = (options.serial ? 0 : rank) - skipped;
  *first = r < 0 ? 0 : nz * r / n;
  *last = r < 0 ? 0 : nz * (r + 1) / n;
}

static hid_t open_file(const char* name, int create) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (!options.serial) H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = create ? H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access) : H5Fopen(name, H5F_ACC_RDWR, access);
  H5Pclose(access);
  return file;
}

/* A dataset of steps x nz x ny x nx (x components); with `stepped`, the first axis grows. */
static hid_t dataset(hid_t place, const char* name, hid_t type, int components, int step, int stepped) {
  const int extra = stepped ? 1 : 0, axes = extra + 3 + (components > 1);
  hsize_t size[5] = {1, nz, ny, nx, (hsize_t)components}, most[5] = {H5S_UNLIMITED, nz, ny, nx, (hsize_t)components};
  if (stepped && step > 0) {
    const hid_t open = H5Dopen2(place, name, H5P_DEFAULT);
    size[0] = (hsize_t)step + 1;
    failed(H5Dset_extent(open, size));
    return open;
  }
  const hid_t space = H5Screate_simple(axes, size + 1 - extra, stepped ? most : NULL);
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  if (stepped) H5Pset_chunk(list, axes, size);
  const hid_t made = H5Dcreate2(place, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  failed(made);
  H5Pclose(list);
  H5Sclose(space);
  return made;
}

/* The layers [first, last) of a dataset, from an array that has a frame of ghosts where wanted. */
static void write_layers(hid_t set, hid_t type, int components, int step, int stepped, int first, int last,
                         const void* values, int frame, int from) {
  const hsize_t c = (hsize_t)components, n = (hsize_t)(last - first), f = (hsize_t)frame;
  const int extra = stepped ? 1 : 0;
  hsize_t start[5] = {(hsize_t)step, (hsize_t)first, 0, 0, 0}, count[5] = {1, n, ny, nx, c};
  hsize_t size[4] = {n + (hsize_t)from + 2 * f, ny + 2 * f, nx + 2 * f, c}, inner[4] = {f + (hsize_t)from, f, f, 0};
  const int axes = 3 + (components > 1);
  const hid_t in_file = H5Dget_space(set), memory = H5Screate_simple(axes, size, NULL);
  if (n > 0) {
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start + 1 - extra, NULL, count + 1 - extra, NULL);
    H5Sselect_hyperslab(memory, H5S_SELECT_SET, inner, NULL, count + 1, NULL);
  } else {
    H5Sselect_none(in_file);
    H5Sselect_none(memory);
  }
  if (n > 0 || options.collective) failed(H5Dwrite(set, type, memory, in_file, transfer, values));
  H5Sclose(memory);
  H5Sclose(in_file);
}

static void write_field(hid_t place, const char* name, int components, int step, int stepped) {
  int first, last;
  layers(&first, &last);
  const int f = options.ghosts ? 2 : 0;
  const int rows = ny + 2 * f, columns = nx + 2 * f, deep = last - first + 2 * f;
  const size_t count = (size_t)deep * (size_t)rows * (size_t)columns * (size_t)components;
  double* const values = malloc((count + 1) * sizeof *values);
  float* const singles = (float*)values;
  size_t at = 0;
  for (int k = 0; k < deep; ++k) {
    for (int j = 0; j < rows; ++j) {
      for (int i = 0; i < columns; ++i) {
        const int ghost = k < f || k >= deep - f || j < f || j >= rows - f || i < f || i >= columns - f;
        for (int c = 0; c < components; ++c, ++at) {
          const double v = ghost ? -1e30 : value(step, first + k - f, j - f, i - f, c);
          if (options.single) {
            singles[at] = (float)v;
          } else {
            values[at] = v;
          }
        }
      }
    }
  }
  const hid_t type = options.single ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  const hid_t set = dataset(place, name, type, components, step, stepped);
  if (options.again) {
    void* const zeros = calloc(count + 1, sizeof *values);
    write_layers(set, type, components, step, stepped, first, last, zeros, f, 0);
    free(zeros);
  }
  if ((options.planes || options.again) && last > first + 1 && !options.collective) {
    write_layers(set, type, components, step, stepped, first, first + 1, values, f, 0);
    write_layers(set, type, components, step, stepped, first + 1, last, values, f, 1);
  } else {
    write_layers(set, type, components, step, stepped, first, last, values, f, 0);
  }
  H5Dclose(set);
  free(values);
}

static void write_time(hid_t place, int step, int stepped) {
  const hsize_t one = 1, size = (hsize_t)step + 1, most = H5S_UNLIMITED, start = (hsize_t)step;
  hid_t set;
  if (stepped && step > 0) {
    set = H5Dopen2(place, "time", H5P_DEFAULT);
    failed(H5Dset_extent(set, &size));
  } else {
    const hid_t space = stepped ? H5Screate_simple(1, &one, &most) : H5Screate(H5S_SCALAR);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (stepped) H5Pset_chunk(list, 1, &one);
    set = H5Dcreate2(place, "time", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Pclose(list);
    H5Sclose(space);
  }
  const double time = 0.25 * step;
  if (rank == 0 && stepped) {
    const hid_t in_file = H5Dget_space(set), memory = H5Screate_simple(1, &one, NULL);
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &start, NULL, &one, NULL);
    failed(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, in_file, H5P_DEFAULT, &time));
    H5Sclose(memory);
    H5Sclose(in_file);
  } else if (rank == 0) {
    failed(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &time));
  }
  H5Dclose(set);
}

static int is_odd(const char* what) { return strcmp(options.odd, what) == 0; }

/* A type of values that are no plain numbers; negative: none. */
static hid_t odd_type(void) {
  const hsize_t two = 2;
  hid_t own = -1;
  if (is_odd("compound")) {
    own = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(own, "a", 0, H5T_NATIVE_FLOAT);
    H5Tinsert(own, "b", 4, H5T_NATIVE_FLOAT);
  }
  if (is_odd("string")) {
    own = H5Tcopy(H5T_C_S1);
    H5Tset_size(own, 8);
  }
  if (is_odd("array")) own = H5Tarray_create2(H5T_NATIVE_FLOAT, 1, &two);
  if (is_odd("enum")) {
    const int one = 1;
    own = H5Tenum_create(H5T_NATIVE_INT);
    H5Tenum_insert(own, "one", &one);
  }
  if (is_odd("opaque")) own = H5Tcreate(H5T_OPAQUE, 8);
  if (is_odd("long-double")) own = H5Tcopy(H5T_NATIVE_LDOUBLE);
  if (is_odd("big-endian")) own = H5Tcopy(H5T_IEEE_F64BE);
  if (is_odd("bits")) {
    own = H5Tcopy(H5T_NATIVE_INT);
    H5Tset_precision(own, 20);
  }
  if (is_odd("half")) {
    own = H5Tcopy(H5T_IEEE_F32LE);
    H5Tset_fields(own, 15, 10, 5, 0, 10);
    H5Tset_precision(own, 16);
    H5Tset_ebias(own, 15);
    H5Tset_size(own, 2);
  }
  return own;
}

static hid_t line(hsize_t count) { return H5Screate_simple(1, &count, NULL); }

/* The selections of a write to `space`, 6 x 5 values. */
static void select_odd(hid_t space, hid_t* in_file, hid_t* memory) {
  const hsize_t points[6] = {0, 0, 2, 3, 5, 4}, start[2] = {0, 0}, stride[2] = {2, 2}, count[2] = {3, 2},
                corner[2] = {5, 4}, single[2] = {1, 1}, gaps[2] = {2, 20}, part[2] = {2, 15};
  if (is_odd("points")) {
    H5Sselect_elements(space, H5S_SELECT_SET, 3, points);
    *memory = line(3);
  } else if (is_odd("stride")) {
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
    *memory = line(6);
  } else if (is_odd("two-boxes")) {
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_OR, corner, NULL, single, NULL);
    *memory = line(7);
  } else if (is_odd("memory-points")) {
    hsize_t each[30];
    for (int n = 0; n < 30; ++n) each[n] = (hsize_t)(n * 2 - (n % 3));
    *memory = line(60);
    H5Sselect_elements(*memory, H5S_SELECT_SET, 30, each);
  } else if (is_odd("irregular")) { /* 30 values as 2 x 15 with a gap, for 6 x 5 */
    *memory = H5Screate_simple(2, gaps, NULL);
    H5Sselect_hyperslab(*memory, H5S_SELECT_SET, start, NULL, part, NULL);
  } else if (is_odd("flat")) {
    *memory = line(30);
  } else if (is_odd("wrong-size")) {
    *memory = line(7);
  } else if (is_odd("nothing")) {
    H5Sselect_none(space);
    *memory = space;
  }
  if (*memory != H5S_ALL) *in_file = space;
  if (is_odd("wrong-space")) *in_file = 12345;
}

/* Writes the dataset `odd` by rank 0. All writes work without Sidestream, but those named `wrong` and `no-buffer`. */
static void write_odd(hid_t place) {
  if (!*options.odd) return;
  const hsize_t size[2] = {6, 5}, five[5] = {2, 1, 3, 1, 5}, start[2] = {0, 0};
  double numbers[60] = {0};
  for (int n = 0; n < 60; ++n) numbers[n] = n;
  const hid_t own = odd_type(), in_memory = own >= 0 ? own : H5T_NATIVE_DOUBLE;
  const hid_t stored = is_odd("stored-big-endian") ? H5T_IEEE_F64BE : is_odd("stored-int") ? H5T_STD_I32LE : in_memory;
  const hid_t space = is_odd("scalar")      ? H5Screate(H5S_SCALAR)
                      : is_odd("null")      ? H5Screate(H5S_NULL)
                      : is_odd("five-axes") ? H5Screate_simple(5, five, NULL)
                                            : H5Screate_simple(2, size, NULL);
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  if (is_odd("chunk")) H5Pset_chunk(list, 2, size);
  const hid_t set = H5Dcreate2(place, "odd", stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
  hid_t in_file = H5S_ALL, memory = H5S_ALL;
  select_odd(space, &in_file, &memory);
  if (rank == 0 && is_odd("chunk")) {
    failed(H5Dwrite_chunk(set, H5P_DEFAULT, 0, start, 30 * sizeof(double), numbers));
  } else if (rank == 0) {
    const hid_t type = is_odd("wrong-type") ? 77777 : in_memory, to = is_odd("wrong-dataset") ? 999999 : set;
    for (int n = 0; n < (is_odd("twice") ? 2 : 1); ++n) {
      failed(H5Dwrite(to, type, memory, in_file, H5P_DEFAULT, is_odd("no-buffer") ? NULL : numbers));
    }
  }
  if (memory != H5S_ALL && memory != space) H5Sclose(memory);
  if (own >= 0) H5Tclose(own);
  H5Pclose(list);
  H5Sclose(space);
  H5Dclose(set);
}

static void write_step(hid_t place, int step) {
  const int stepped = strcmp(options.steps, "index") == 0;
  write_time(place, step, stepped);
  write_field(place, "temperature", 1, step, stepped);
  write_field(place, "velocity", 3, step, stepped);
  if (step == 0) write_odd(place);
}

static void run(void) {
  char name[64] = "plot.h5";
  hid_t file = -1;
  for (int step = 0; step < options.count; ++step) {
    const int each = strcmp(options.steps, "file") == 0;
    if (each) snprintf(name, sizeof name, "plot_%04d.h5", 10 * step);
    if (each || step == 0) file = open_file(name, 1);
    hid_t place = file;
    if (strcmp(options.steps, "path") == 0) {
      char group[64];
      snprintf(group, sizeof group, "step%d", 10 * step);
      place = H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    }
    write_step(place, step);
    if (place != file) H5Gclose(place);
    if (strcmp(options.steps, "whole") == 0) { /* the same file again */
      failed(H5Fclose(file));
      if (step + 1 < options.count) file = open_file(name, 0);
      if (step + 1 < options.count) {
        H5Ldelete(file, "temperature", H5P_DEFAULT);
        H5Ldelete(file, "velocity", H5P_DEFAULT);
        H5Ldelete(file, "time", H5P_DEFAULT);
      }
    } else if (each && !(options.leave && step + 1 == options.count)) {
      failed(H5Fclose(file));
    }
  }
  if (strcmp(options.steps, "file") != 0 && strcmp(options.steps, "whole") != 0 && !options.leave) {
    failed(H5Fclose(file));
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int n = 1; n < argc; ++n) {
    if (strcmp(argv[n], "--serial") == 0) options.serial = 1;
    if (strcmp(argv[n], "--collective") == 0) options.collective = 1;
    if (strcmp(argv[n], "--ghosts") == 0) options.ghosts = 1;
    if (strcmp(argv[n], "--planes") == 0) options.planes = 1;
    if (strcmp(argv[n], "--none-on-0") == 0) options.none_on_0 = 1;
    if (strcmp(argv[n], "--leave") == 0) options.leave = 1;
    if (strcmp(argv[n], "--float") == 0) options.single = 1;
    if (strcmp(argv[n], "--again") == 0) options.again = 1;
    if (strcmp(argv[n], "--steps") == 0)
      options.steps = argv[++n];
    else if (strcmp(argv[n], "--odd") == 0)
      options.odd = argv[++n];
    else if (strcmp(argv[n], "--count") == 0)
      options.count = atoi(argv[++n]);
  }
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  if (options.collective && !options.serial) {
    transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  }
  if (!options.serial || rank == 0) run();
  if (failures > 0) printf("rank %d: %d calls failed\n", rank, failures);
  MPI_Finalize();
  return 0;
}
