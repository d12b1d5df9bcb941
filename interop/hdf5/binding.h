/* Which HDF5 library a call goes on to. */
#ifndef SIDESTREAM_INTEROP_HDF5_BINDING_H
#define SIDESTREAM_INTEROP_HDF5_BINDING_H

#include "hooks.h"

/* The functions that are interposed. */
/* clang-format off */
#define SIDESTREAM_HDF5_FUNCTIONS(X)                                                                        \
  X(H5Fcreate) X(H5Fcreate_async) X(H5Fopen) X(H5Fopen_async) X(H5Fclose) X(H5Fclose_async)                 \
  X(H5Dcreate1) X(H5Dcreate2) X(H5Dcreate_async)                                                            \
  X(H5Dwrite) X(H5Dwrite_async) X(H5Dwrite_multi) X(H5Dwrite_multi_async)                                   \
  X(H5Dset_extent) X(H5Dset_extent_async) X(H5Dextend) X(H5Dwrite_chunk) X(H5Olink) X(H5Idec_ref)
/* clang-format on */
#define SIDESTREAM_NUMBER(name) f_##name,
enum function { SIDESTREAM_HDF5_FUNCTIONS(SIDESTREAM_NUMBER) functions };

/* A call on its way to the real function. */
struct visit {
  struct sidestream_hdf5_library* library;
  void* real; /* NULL, with a line on standard error, if there is none */
  int own;    /* the caller is Sidestream */
};

/* Where a call from an address goes. */
struct visit visit_from(enum function function, const void* address);

/* True once a call has come through. */
int has_calls(void);

/* The last part of a path. */
const char* base_name(const char* path);

#endif
