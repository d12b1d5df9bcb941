/* Which HDF5 library a call goes on to. */
#ifndef SIDESTREAM_INTEROP_HDF5_BINDING_H
#define SIDESTREAM_INTEROP_HDF5_BINDING_H

#include "hooks.h"

/* The functions that are interposed. */
enum function {
  f_create,
  f_create_async,
  f_open,
  f_open_async,
  f_close,
  f_close_async,
  f_create_dataset1,
  f_create_dataset,
  f_create_dataset_async,
  f_write,
  f_write_async,
  f_write_multi,
  f_write_multi_async,
  f_set_extent,
  f_set_extent_async,
  f_extend,
  f_write_chunk,
  f_link,
  f_release,
  functions
};

/* A call on its way to the real function. */
struct visit {
  struct sidestream_hdf5_library* library;
  void* real; /* NULL, with a line on standard error, if there is none */
  int own;    /* the caller is Sidestream */
};

/* Where a call from an address goes. */
struct visit visit_from(enum function function, const void* address);

/* The last part of a path. */
const char* base_name(const char* path);

#endif
