/* A program that writes particles and knows nothing of Sidestream.
 *
 *   particles [--how lists|columns|compound|packed] [--grows] [--reopen] [--collective]
 *
 * lists: the datasets x, y, z, mass, id; columns: position has all of x, y, z; compound, packed: the dataset gas has
 * members, in memory as a structure with gaps or without. `mass` and `id` have other types in the file than in memory.
 * With `--grows` each step adds its particles to the datasets of one file, which `--reopen` closes in between;
 * otherwise each step writes a file. */
#include <hdf5.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "particles.h"

/* A structure without gaps: no member lies where its type wants to. */
struct __attribute__((packed)) packed {
  char kind;
  int64_t id;
  double place[3];
  float mass;
};
/* In other order than in the file, with a member that is no number. */
struct loose {
  char name[4];
  float mass;
  int64_t id;
  double place[3];
};

static const char* how = "lists";
static int rank, ranks, grows, reopen, step;
static hid_t file = -1, transfer = H5P_DEFAULT;
static hsize_t before, total, first, count; /* in the file; in all of this step; this rank's */

static void check(int64_t result) {
  if (result < 0) MPI_Abort(MPI_COMM_WORLD, 1);
}

static int is(const char* what) { return strcmp(how, what) == 0; }

/* The dataset with room for this step's values. */
static hid_t dataset(const char* name, hid_t type, hsize_t columns) {
  const int axes = columns > 1 ? 2 : 1;
  const hsize_t none[2] = {0, columns}, most[2] = {H5S_UNLIMITED, columns}, chunk[2] = {8, columns},
                size[2] = {before + total, columns};
  hid_t set;
  if (step == 0 || !grows) {
    const hid_t space = H5Screate_simple(axes, grows ? none : size, grows ? most : NULL);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (grows) H5Pset_chunk(list, axes, chunk);
    check(set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT));
    H5Pclose(list);
    H5Sclose(space);
  } else {
    check(set = H5Dopen2(file, name, H5P_DEFAULT));
  }
  if (grows) check(H5Dset_extent(set, size));
  return set;
}

static void write_rows(const char* name, hid_t stored, hid_t type, hsize_t columns, const void* values) {
  const int axes = columns > 1 ? 2 : 1;
  const hsize_t start[2] = {before + first, 0}, size[2] = {count, columns};
  const hid_t set = dataset(name, stored, columns);
  const hid_t in_file = H5Dget_space(set), memory = H5Screate_simple(axes, size, NULL);
  if (count > 0) {
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, size, NULL);
  } else {
    H5Sselect_none(in_file);
    H5Sselect_none(memory);
  }
  if (count > 0 || transfer != H5P_DEFAULT) check(H5Dwrite(set, type, memory, in_file, transfer, values));
  H5Sclose(memory);
  H5Sclose(in_file);
  H5Dclose(set);
}

static void write_lists(void) {
  double places[3 * most_particles], one[most_particles];
  float masses[most_particles];
  int64_t ids[most_particles];
  for (hsize_t n = 0; n < count; ++n) {
    const struct particle p = particle_of(step, rank, (int)n);
    memcpy(places + 3 * n, p.place, sizeof p.place);
    masses[n] = p.mass;
    ids[n] = p.id;
  }
  for (int a = 0; a < 3 && is("lists"); ++a) {
    const char name[2] = {(char)('x' + a), 0};
    for (hsize_t n = 0; n < count; ++n) one[n] = places[3 * n + (hsize_t)a];
    write_rows(name, H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, 1, one);
  }
  if (is("columns")) write_rows("position", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, 3, places);
  write_rows("mass", H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, 1, masses);
  write_rows("id", H5T_STD_I64BE, H5T_NATIVE_INT64, 1, ids);
}

static void insert(hid_t type, size_t mass, size_t id, size_t place) {
  static const char* const names[3] = {"x", "y", "z"};
  H5Tinsert(type, "mass", mass, H5T_NATIVE_FLOAT);
  H5Tinsert(type, "id", id, H5T_NATIVE_INT64);
  const hid_t inner = H5Tcreate(H5T_COMPOUND, 3 * sizeof(double));
  for (size_t a = 0; a < 3; ++a) H5Tinsert(inner, names[a], a * sizeof(double), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "at", place, inner);
  H5Tclose(inner);
}

static void write_compound(void) {
  struct packed packed[most_particles];
  struct loose loose[most_particles];
  memset(packed, 0, sizeof packed);
  memset(loose, 0, sizeof loose);
  for (hsize_t n = 0; n < count; ++n) {
    const struct particle p = particle_of(step, rank, (int)n);
    packed[n].mass = loose[n].mass = p.mass;
    packed[n].id = loose[n].id = p.id;
    memcpy(packed[n].place, p.place, sizeof p.place);
    memcpy(loose[n].place, p.place, sizeof p.place);
  }
  hid_t type = H5Tcreate(H5T_COMPOUND, is("packed") ? sizeof packed[0] : sizeof loose[0]);
  if (is("packed")) {
    insert(type, offsetof(struct packed, mass), offsetof(struct packed, id), offsetof(struct packed, place));
    H5Tinsert(type, "kind", offsetof(struct packed, kind), H5T_NATIVE_CHAR);
  } else {
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 4);
    H5Tinsert(type, "name", offsetof(struct loose, name), text);
    H5Tclose(text);
    insert(type, offsetof(struct loose, mass), offsetof(struct loose, id), offsetof(struct loose, place));
  }
  const hid_t stored = H5Tcopy(type);
  H5Tpack(stored);
  write_rows("gas", stored, type, 1, is("packed") ? (const void*)packed : (const void*)loose);
  H5Tclose(stored);
  H5Tclose(type);
}

static void write_time(void) {
  const hsize_t one = 1, size = (hsize_t)step + 1, most = H5S_UNLIMITED, at = (hsize_t)step;
  const double time = 0.25 * step;
  hid_t set, space = grows ? H5Screate_simple(1, &one, &most) : H5Screate(H5S_SCALAR),
             list = H5Pcreate(H5P_DATASET_CREATE);
  if (grows) H5Pset_chunk(list, 1, &one);
  set = step == 0 || !grows ? H5Dcreate2(file, "time", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT)
                            : H5Dopen2(file, "time", H5P_DEFAULT);
  check(set);
  H5Sclose(space);
  if (grows && step > 0) check(H5Dset_extent(set, &size));
  space = H5Dget_space(set);
  if (grows) H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
  const hid_t memory = grows ? H5Screate_simple(1, &one, NULL) : H5Screate(H5S_SCALAR);
  if (rank == 0) check(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &time));
  H5Sclose(memory);
  H5Sclose(space);
  H5Pclose(list);
  H5Dclose(set);
}

static void open_file(void) {
  char name[64] = "plot.h5";
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  if (!grows) snprintf(name, sizeof name, "plot_%04d.h5", 10 * step);
  if (step == 0 || !grows) check(file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access));
  if (step > 0 && reopen) check(file = H5Fopen(name, H5F_ACC_RDWR, access));
  H5Pclose(access);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int n = 1; n < argc; ++n) {
    if (strcmp(argv[n], "--how") == 0) how = argv[++n];
    if (strcmp(argv[n], "--grows") == 0) grows = 1;
    if (strcmp(argv[n], "--reopen") == 0) reopen = 1;
    if (strcmp(argv[n], "--collective") == 0) {
      transfer = H5Pcreate(H5P_DATASET_XFER);
      H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    }
  }
  for (step = 0; step < particle_steps; ++step) {
    first = total = 0;
    for (int r = 0; r < ranks; ++r) {
      if (r < rank) first += (hsize_t)particles_of(step, r, ranks);
      total += (hsize_t)particles_of(step, r, ranks);
    }
    count = (hsize_t)particles_of(step, rank, ranks);
    open_file();
    write_time();
    if (is("lists") || is("columns")) {
      write_lists();
    } else {
      write_compound();
    }
    if (grows) before += total;
    if (!grows || reopen || step + 1 == particle_steps) check(H5Fclose(file));
  }
  MPI_Finalize();
  return 0;
}
