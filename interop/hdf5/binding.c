/* Which HDF5 library a call goes on to.
 *
 * A process may have several. A call goes on to the one that the dynamic linker would have chosen for its caller:
 *
 *   caller's address -> its object -> the version of the symbol that it asks for
 *     -> the first such symbol behind this library, else in the object's own dependencies
 *
 * Calls of Sidestream itself are known by their object in the same way. */
#include "binding.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_callers = 1024 };

#define SIDESTREAM_NAME(name) #name,
static const char* const names[functions] = {SIDESTREAM_HDF5_FUNCTIONS(SIDESTREAM_NAME)};

struct known_library {
  struct sidestream_hdf5_library shared;
  void* calls[functions];
  struct known_library* next;
};
/* The library that calls from an address go to; `own`: the caller is Sidestream. */
struct caller {
  const void* address;
  struct known_library* library;
  int own;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known_library* libraries;
static struct caller callers[most_callers];

const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int is_own(const struct link_map* object) {
  const char* name = object->l_name[0] ? base_name(object->l_name) : program_invocation_short_name;
  return strncmp(name, "libsidestream.so", 16) == 0 || strcmp(name, "sidestream") == 0 ||
         strcmp(name, "sidestream-worker") == 0;
}

static const void* address_in(const struct link_map* object, ElfW(Addr) address) {
  return (const void*)(address < object->l_addr ? address + object->l_addr : address);
}

/* The version of a symbol that an object asks for; NULL: none. */
static const char* version_wanted(const struct link_map* object, const char* name) {
  const ElfW(Sym)* symbols = NULL;
  const char* strings = NULL;
  const ElfW(Half)* versions = NULL;
  const char* need = NULL;
  for (const ElfW(Dyn)* entry = object->l_ld; entry && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = address_in(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) strings = address_in(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_VERSYM) versions = address_in(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_VERNEED) need = address_in(object, entry->d_un.d_ptr);
  }
  if (!symbols || !versions || !need || (const char*)symbols >= strings) return NULL;
  const size_t count = (size_t)(strings - (const char*)symbols) / sizeof *symbols; /* linkers put the texts behind */
  size_t n = 1;
  while (n < count && (symbols[n].st_shndx != SHN_UNDEF || strcmp(strings + symbols[n].st_name, name) != 0)) ++n;
  if (n >= count) return NULL;
  for (;;) {
    const ElfW(Verneed)* of_file = (const void*)need;
    const char* at = need + of_file->vn_aux;
    for (int left = of_file->vn_cnt; left > 0; --left) {
      const ElfW(Vernaux)* version = (const void*)at;
      if (version->vna_other == (versions[n] & 0x7fff)) return strings + version->vna_name;
      at += version->vna_next;
    }
    if (of_file->vn_next == 0) return NULL;
    need += of_file->vn_next;
  }
}

static void* look_up(void* where, const char* name, const char* version) {
  return version ? dlvsym(where, name, version) : dlsym(where, name);
}

/* The function that the linker would have bound a call of an object to. */
static void* bound(const struct link_map* object, const char* name) {
  const char* const version = version_wanted(object, name);
  void* found = look_up(RTLD_NEXT, name, version);
  if (!found && object->l_name[0]) {
    void* const handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) found = look_up(handle, name, version); /* the handle keeps the library */
  }
  return found ? found : dlsym(RTLD_NEXT, name);
}

static struct known_library* library_with(void* function) {
  Dl_info info;
  if (!function || !dladdr(function, &info) || !info.dli_fname) return NULL;
  void* const handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return NULL;
  for (struct known_library* one = libraries; one; one = one->next) {
    if (one->shared.handle == handle) return one;
  }
  struct known_library* made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->shared.handle = handle;
  made->shared.file = info.dli_fname;
  made->next = libraries;
  return libraries = made;
}

int has_calls(void) {
  pthread_mutex_lock(&lock);
  const int any = libraries != NULL;
  pthread_mutex_unlock(&lock);
  return any;
}

struct visit visit_from(enum function function, const void* address) {
  struct visit made = {NULL, NULL, 0};
  pthread_mutex_lock(&lock);
  struct caller* const at = &callers[((uintptr_t)address >> 2) % most_callers];
  if (at->address != address) {
    Dl_info info;
    struct link_map* object = NULL;
    if (dladdr1(address, &info, (void**)&object, RTLD_DL_LINKMAP) && object) {
      at->library = library_with(bound(object, names[function]));
      at->own = is_own(object);
      at->address = address;
    }
  }
  if (at->address == address && at->library) {
    struct known_library* const library = at->library;
    if (!library->calls[function]) library->calls[function] = dlsym(library->shared.handle, names[function]);
    made.library = &library->shared;
    made.real = library->calls[function];
    made.own = at->own;
  }
  pthread_mutex_unlock(&lock);
  if (!made.real) fprintf(stderr, "sidestream: found no %s behind libsidestream-hdf5.so\n", names[function]);
  return made;
}
