/* libsidestream-hdf5.so, for LD_PRELOAD: HDF5's functions that open, write and close, in front of the real ones.
 *
 * Every process that inherits LD_PRELOAD loads this, also the launcher and shells. So it needs nothing but libc: a
 * library of C++ here could replace the one that the program brings. The publisher (and with it Sidestream, MPI and the
 * HDF5 of Sidestream) is a library of its own, which is loaded when a program first opens a file for writing, without
 * making its symbols visible to the program. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

#define VISIBLE __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)
/* Declares `v`, the call on its way, and `real`, the function behind the one that this is in; fails if there is none.
 */
#define REAL(function)                                     \
  const struct visit v = visit_from(f_##function, CALLER); \
  __typeof__(function)* const real = v.real;               \
  if (!real) return -1

typedef struct sidestream_hdf5_write Write;
typedef const struct sidestream_hdf5_hooks Hooks;

static Hooks* hooks;        /* set once, before the first file is open for writing */
static __thread int inside; /* a hook runs in this thread */

/* The hooks that look at a call; NULL: none. */
static Hooks* looking(const struct visit* v) {
  return v->real && !v->own && !inside ? __atomic_load_n(&hooks, __ATOMIC_ACQUIRE) : NULL;
}

/* ---- The publisher -------------------------------------------------------------------------------------------- */

static int is_asked(void) { return getenv("SIDESTREAM_HDF5_MAP") || getenv("SIDESTREAM_HDF5_RECORD"); }

static void load_publisher(void) {
  if (!is_asked()) return;
  if (strncmp(program_invocation_short_name, "sidestream", 10) == 0) return;
  static const char beside[] = "/sidestream/libsidestream-hdf5-publisher.so";
  Dl_info info;
  if (!dladdr((void*)load_publisher, &info)) return;
  const size_t length = (size_t)(base_name(info.dli_fname) - info.dli_fname);
  char* const path = malloc(length + sizeof beside + 1);
  if (!path) return;
  memcpy(path, length ? info.dli_fname : ".", length ? length - 1 : 1);
  strcpy(path + (length ? length - 1 : 1), beside);
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const struct sidestream_hdf5_hooks* (*start)(void) = NULL;
  if (handle) *(void**)&start = dlsym(handle, "sidestream_hdf5_start");
  if (!start) fprintf(stderr, "sidestream: nothing is published: %s\n", dlerror());
  free(path);
  if (!start) return;
  __atomic_store_n(&hooks, start(), __ATOMIC_RELEASE);
}

/* Loads the publisher when the program first opens a file for writing. */
static void prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (inside) return;
  inside = 1;
  pthread_once(&once, load_publisher);
  inside = 0;
}

/* Looks for the text about HDF5's version in what the program itself brings, which comes first. */
static int find_text(struct dl_phdr_info* program, size_t size, void* found) {
  static const char text[] = "HDF5 library version: ";
  (void)size;
  for (int n = 0; n < program->dlpi_phnum; ++n) {
    const ElfW(Phdr)* const part = &program->dlpi_phdr[n];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_R)) continue;
    const void* const begin = (const void*)(program->dlpi_addr + part->p_vaddr);
    if (memmem(begin, part->p_filesz, text, sizeof text - 1)) *(int*)found = 1;
  }
  return 1; /* no library */
}

/* Calls inside a program that is linked statically are never seen. */
__attribute__((destructor)) static void notice_static_program(void) {
  int found = 0;
  if (!is_asked() || has_calls() || dlsym(RTLD_NEXT, "H5open")) return;
  dl_iterate_phdr(find_text, &found);
  if (!found) return;
  fprintf(stderr,
          "sidestream: nothing is published: '%s' has its own HDF5 inside, linked statically, and calls no shared one; "
          "link it to libhdf5.so\n",
          program_invocation_short_name);
}

static void tell_opened(const struct visit* v, int64_t file, int64_t access) {
  Hooks* const look = looking(v);
  if (!look || file < 0) return;
  inside = 1;
  look->opened(v->library, file, access);
  inside = 0;
}

static void* tell_closing(const struct visit* v, int64_t file) {
  Hooks* const look = looking(v);
  if (!look) return NULL;
  inside = 1;
  void* const token = look->closing(v->library, file);
  inside = 0;
  return token;
}

static void tell_closed(void* token, int result) {
  if (!token) return;
  inside = 1;
  hooks->closed(token, result);
  inside = 0;
}

static void tell_extending(const struct visit* v, int64_t dataset, const uint64_t* size) {
  Hooks* const look = looking(v);
  if (!look || !size) return;
  inside = 1;
  look->extending(v->library, dataset, size);
  inside = 0;
}

/* ---- Files ---------------------------------------------------------------------------------------------------- */

enum { read_write = 1 }; /* H5F_ACC_RDWR */

VISIBLE int64_t H5Fcreate(const char* name, unsigned flags, int64_t creation, int64_t access) {
  prepare();
  REAL(H5Fcreate);
  const int64_t file = real(name, flags, creation, access);
  tell_opened(&v, file, access);
  return file;
}

VISIBLE int64_t H5Fcreate_async(const char* in, const char* of, unsigned line, const char* name, unsigned flags,
                                int64_t creation, int64_t access, int64_t events) {
  prepare();
  REAL(H5Fcreate_async);
  const int64_t file = real(in, of, line, name, flags, creation, access, events);
  tell_opened(&v, file, access);
  return file;
}

VISIBLE int64_t H5Fopen(const char* name, unsigned flags, int64_t access) {
  if (flags & read_write) prepare();
  REAL(H5Fopen);
  const int64_t file = real(name, flags, access);
  if (flags & read_write) tell_opened(&v, file, access);
  return file;
}

VISIBLE int64_t H5Fopen_async(const char* in, const char* of, unsigned line, const char* name, unsigned flags,
                              int64_t access, int64_t events) {
  if (flags & read_write) prepare();
  REAL(H5Fopen_async);
  const int64_t file = real(in, of, line, name, flags, access, events);
  if (flags & read_write) tell_opened(&v, file, access);
  return file;
}

VISIBLE int H5Fclose(int64_t file) {
  REAL(H5Fclose);
  void* const token = tell_closing(&v, file);
  const int result = real(file);
  tell_closed(token, result);
  return result;
}

VISIBLE int H5Fclose_async(const char* in, const char* of, unsigned line, int64_t file, int64_t events) {
  REAL(H5Fclose_async);
  void* const token = tell_closing(&v, file);
  const int result = real(in, of, line, file, events);
  tell_closed(token, result);
  return result;
}

/* Python closes files like this. */
VISIBLE int H5Idec_ref(int64_t thing) {
  REAL(H5Idec_ref);
  void* const token = tell_closing(&v, thing);
  const int left = real(thing);
  tell_closed(token, left == 0 ? 0 : -1);
  return left;
}

/* ---- Datasets ------------------------------------------------------------------------------------------------- */

static int64_t tell_created(const struct visit* v, int64_t dataset) {
  Hooks* const look = looking(v);
  if (!look || dataset < 0) return dataset;
  inside = 1;
  look->created(v->library, dataset);
  inside = 0;
  return dataset;
}

VISIBLE int64_t H5Dcreate1(int64_t place, const char* name, int64_t type, int64_t space, int64_t creation) {
  REAL(H5Dcreate1);
  return tell_created(&v, real(place, name, type, space, creation));
}

VISIBLE int64_t H5Dcreate2(int64_t place, const char* name, int64_t type, int64_t space, int64_t link, int64_t creation,
                           int64_t access) {
  REAL(H5Dcreate2);
  return tell_created(&v, real(place, name, type, space, link, creation, access));
}

VISIBLE int64_t H5Dcreate_async(const char* in, const char* of, unsigned line, int64_t place, const char* name,
                                int64_t type, int64_t space, int64_t link, int64_t creation, int64_t access,
                                int64_t events) {
  REAL(H5Dcreate_async);
  return tell_created(&v, real(in, of, line, place, name, type, space, link, creation, access, events));
}

/* Python gives datasets a name after it has written them. */
VISIBLE int H5Olink(int64_t thing, int64_t place, const char* name, int64_t creation, int64_t access) {
  REAL(H5Olink);
  const int result = real(thing, place, name, creation, access);
  Hooks* const look = looking(&v);
  if (!look || result < 0) return result;
  inside = 1;
  look->linked(v.library, thing);
  inside = 0;
  return result;
}

/* The further arguments of asynchronous functions. */
struct place {
  const char *in, *of;
  unsigned line;
  int64_t events;
};
typedef int (*Perform)(void* real, const Write*, const struct place*);

static int perform_write(void* real, const Write* w, const struct place* place) {
  (void)place;
  int (*call)(int64_t, int64_t, int64_t, int64_t, int64_t, const void*) = real;
  return call(w->datasets[0], w->types[0], w->memory_spaces[0], w->file_spaces[0], w->transfer, w->buffers[0]);
}

static int perform_write_async(void* real, const Write* w, const struct place* p) {
  int (*call)(const char*, const char*, unsigned, int64_t, int64_t, int64_t, int64_t, int64_t, const void*, int64_t) =
      real;
  return call(p->in, p->of, p->line, w->datasets[0], w->types[0], w->memory_spaces[0], w->file_spaces[0], w->transfer,
              w->buffers[0], p->events);
}

static int perform_multi(void* real, const Write* w, const struct place* place) {
  (void)place;
  int (*call)(size_t, const int64_t*, const int64_t*, const int64_t*, const int64_t*, int64_t, const void* const*) =
      real;
  return call(w->count, w->datasets, w->types, w->memory_spaces, w->file_spaces, w->transfer, w->buffers);
}

static int perform_multi_async(void* real, const Write* w, const struct place* p) {
  int (*call)(const char*, const char*, unsigned, size_t, const int64_t*, const int64_t*, const int64_t*,
              const int64_t*, int64_t, const void* const*, int64_t) = real;
  return call(p->in, p->of, p->line, w->count, w->datasets, w->types, w->memory_spaces, w->file_spaces, w->transfer,
              w->buffers, p->events);
}

/* Performs a write of several datasets without those that are to be skipped. */
static int perform_rest(void* real, const Write* w, const char* skip, Perform perform, const struct place* place) {
  int64_t* const numbers = malloc(w->count * 4 * sizeof *numbers);
  const void** const buffers = malloc(w->count * sizeof *buffers);
  int result = -1;
  if (numbers && buffers) {
    Write rest = {0, numbers, numbers + w->count, numbers + 2 * w->count, numbers + 3 * w->count, w->transfer, buffers};
    for (size_t n = 0; n < w->count; ++n) {
      if (skip[n]) continue;
      numbers[rest.count] = w->datasets[n];
      numbers[w->count + rest.count] = w->types[n];
      numbers[2 * w->count + rest.count] = w->memory_spaces[n];
      numbers[3 * w->count + rest.count] = w->file_spaces[n];
      buffers[rest.count++] = w->buffers[n];
    }
    result = rest.count ? perform(real, &rest, place) : 0;
  }
  free(buffers);
  free(numbers);
  return result;
}

static int pass(const struct visit* v, const Write* w, Perform perform, const struct place* place) {
  char one[16] = {0};
  Hooks* const look = looking(v);
  if (!v->real) return -1;
  char* const skip = !look || w->count <= sizeof one ? one : calloc(w->count, 1);
  if (!look || !skip) return perform(v->real, w, place);
  inside = 1;
  void* const token = look->writing(v->library, w, skip);
  inside = 0;
  const int some = memchr(skip, 1, w->count) != NULL;
  const int result = some ? perform_rest(v->real, w, skip, perform, place) : perform(v->real, w, place);
  if (token) {
    inside = 1;
    look->written(token, result);
    inside = 0;
  }
  if (skip != one) free(skip);
  return result;
}

VISIBLE int H5Dwrite(int64_t dataset, int64_t type, int64_t memory, int64_t file, int64_t transfer,
                     const void* buffer) {
  const struct visit v = visit_from(f_H5Dwrite, CALLER);
  const Write w = {1, &dataset, &type, &memory, &file, transfer, &buffer};
  return pass(&v, &w, perform_write, NULL);
}

VISIBLE int H5Dwrite_async(const char* in, const char* of, unsigned line, int64_t dataset, int64_t type, int64_t memory,
                           int64_t file, int64_t transfer, const void* buffer, int64_t events) {
  const struct visit v = visit_from(f_H5Dwrite_async, CALLER);
  const Write w = {1, &dataset, &type, &memory, &file, transfer, &buffer};
  const struct place place = {in, of, line, events};
  return pass(&v, &w, perform_write_async, &place);
}

VISIBLE int H5Dwrite_multi(size_t count, const int64_t* datasets, const int64_t* types, const int64_t* memories,
                           const int64_t* files, int64_t transfer, const void* const* buffers) {
  const struct visit v = visit_from(f_H5Dwrite_multi, CALLER);
  const Write w = {count, datasets, types, memories, files, transfer, buffers};
  return pass(&v, &w, perform_multi, NULL);
}

VISIBLE int H5Dwrite_multi_async(const char* in, const char* of, unsigned line, size_t count, const int64_t* datasets,
                                 const int64_t* types, const int64_t* memories, const int64_t* files, int64_t transfer,
                                 const void* const* buffers, int64_t events) {
  const struct visit v = visit_from(f_H5Dwrite_multi_async, CALLER);
  const Write w = {count, datasets, types, memories, files, transfer, buffers};
  const struct place place = {in, of, line, events};
  return pass(&v, &w, perform_multi_async, &place);
}

VISIBLE int H5Dset_extent(int64_t dataset, const uint64_t* size) {
  REAL(H5Dset_extent);
  tell_extending(&v, dataset, size);
  return real(dataset, size);
}

VISIBLE int H5Dset_extent_async(const char* in, const char* of, unsigned line, int64_t dataset, const uint64_t* size,
                                int64_t events) {
  REAL(H5Dset_extent_async);
  tell_extending(&v, dataset, size);
  return real(in, of, line, dataset, size, events);
}

VISIBLE int H5Dextend(int64_t dataset, const uint64_t* size) {
  REAL(H5Dextend);
  tell_extending(&v, dataset, size);
  return real(dataset, size);
}

VISIBLE int H5Dwrite_chunk(int64_t dataset, int64_t transfer, uint32_t filters, const uint64_t* offset, size_t size,
                           const void* buffer) {
  REAL(H5Dwrite_chunk);
  Hooks* const look = looking(&v);
  if (look) {
    inside = 1;
    look->bypassing(v.library, dataset, "H5Dwrite_chunk");
    inside = 0;
  }
  return real(dataset, transfer, filters, offset, size, buffer);
}
