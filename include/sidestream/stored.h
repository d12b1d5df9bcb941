/* Descriptions of variables and blocks of databases: structures of restart.h and reader.h. The caller sets
 * `struct_size` to the size of the structure before the call, which fills no more than that. Texts and lists in it
 * belong to the handle that was passed to the call, and are valid until the handle is closed. */
#ifndef SIDESTREAM_STORED_H
#define SIDESTREAM_STORED_H

#include <stddef.h>
#include <stdint.h>

#include "sidestream/codes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t struct_size; /* set it to sizeof(sidestream_stored_variable) before the call */
  const char* mesh;
  sidestream_type type;
  int32_t components;
  int32_t centering;    /* a bit for each axis, as in sidestream_centering */
  int32_t row_order;    /* 0: i runs fastest, 1: k */
  int32_t is_list;      /* its values are lists: read_list */
  int64_t lo[3], hi[3]; /* its points on level 0, unless it is a list */
  int64_t length;       /* for a list: its length over all blocks; of a context of reader.h 0, see there */
  int32_t role;         /* a sidestream_role, 0 for values on the mesh; selects the length of a block that its list has
                         */
  const char* unit;     /* empty: none, or not known */
  const char* label;    /* for people; empty: the name */
  const char* group;    /* empty: none */
  const char* codec;    /* its codecs, separated by blanks, `or` between lists; empty: stored unchanged */
  int32_t owned_points; /* 1: no two blocks share points, and boxes of blocks count points (set_owned_points) */
} sidestream_stored_variable;

typedef struct {
  size_t struct_size;
  int64_t id;
  int32_t level, client;
  int64_t lo[3], hi[3]; /* cells, or points that no two blocks share; 0 to n on the first axis for a list of n cells */
  int64_t points, corners, faces; /* lengths of lists */
  int32_t has_bounds;             /* 0: its position in space is unknown */
  double low[3], high[3];         /* bounds of its nodes; for lists those that the simulation gave */
  int64_t ratio[3];               /* cells of its level along one cell of level 0 */
} sidestream_stored_block;

#ifdef __cplusplus
}
#endif

#endif
