/* The boundary between the interposed functions, which every process of a job gets, and the publisher, which only
 * programs get that write mapped files. Numbers of HDF5 (hid_t) have 64 bits since version 1.10. */
#ifndef SIDESTREAM_INTEROP_HDF5_HOOKS_H
#define SIDESTREAM_INTEROP_HDF5_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One HDF5 library of the process. There may be several: each wheel of Python brings its own. */
struct sidestream_hdf5_library {
  void* handle; /* for dlsym */
  const char* file;
  void* publisher; /* the publisher's own data; NULL at first */
};

/* The arguments of H5Dwrite, for `count` datasets. */
struct sidestream_hdf5_write {
  size_t count;
  const int64_t *datasets, *types, *memory_spaces, *file_spaces;
  int64_t transfer; /* the list of properties */
  const void* const* buffers;
};

/* Calls of the publisher. None changes what HDF5 returns to the program, and none throws. */
struct sidestream_hdf5_hooks {
  /* After a file was opened for writing. `access` is the list of properties that it was opened with. */
  void (*opened)(struct sidestream_hdf5_library*, int64_t file, int64_t access);
  /* Before something is closed, and after: with what `closing` returned, if that is not NULL. `result` is negative if
   * it is not closed. */
  void* (*closing)(struct sidestream_hdf5_library*, int64_t thing);
  void (*closed)(void* token, int result);
  /* After a dataset was created, and after one without a name got one. */
  void (*created)(struct sidestream_hdf5_library*, int64_t dataset);
  void (*linked)(struct sidestream_hdf5_library*, int64_t dataset);
  /* Before a write, and after. `skip` has an entry for each dataset; where it becomes 1, HDF5 does not get the call. */
  void* (*writing)(struct sidestream_hdf5_library*, const struct sidestream_hdf5_write*, char* skip);
  void (*written)(void* token, int result);
  /* Before the size of a dataset changes. */
  void (*extending)(struct sidestream_hdf5_library*, int64_t dataset, const uint64_t* size);
  /* Before a write that has no selection, by the function `call`. */
  void (*bypassing)(struct sidestream_hdf5_library*, int64_t dataset, const char* call);
};

/* Makes the publisher, with the settings of the environment. NULL: nothing is to be published or recorded. */
const struct sidestream_hdf5_hooks* sidestream_hdf5_start(void);

#ifdef __cplusplus
}
#endif
#endif
