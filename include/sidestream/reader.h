/* clang-format off */
/* Reading databases that the output `database` has written: checkpoints and `post`.
 *
 *   sidestream_reader* r;  sidestream_context* c;  sidestream_cells* cells;
 *   sidestream_reader_open(comm, "results/data", &r)            collective; MPI_COMM_NULL: this process only
 *   sidestream_reader_context_count(r, &n)
 *   sidestream_context_open(r, n - 1, &c)                       collective; the context that was written last
 *   sidestream_context_read_box(c, "temperature", 0, lo, hi, NULL, NULL, values)
 *   sidestream_context_list_cells(c, "tree", &choice, &cells)   cells of octrees or levels: a box, levels, leaves
 *   sidestream_cells_read(c, cells, "density", density)
 *   sidestream_cells_free(&cells); sidestream_context_close(&c); sidestream_reader_close(&r)
 *
 * Needs no session. Opening is collective over the communicator: its first rank reads the list of contexts and the
 * tables of blocks for all. All else is for this rank only, at any time and in any order, and reads no more chunks than
 * have the requested values. With MPI_COMM_NULL nothing is collective and no function of MPI is called: a program without
 * MPI_Init can read, which must still be linked with MPI's library.
 *
 * Functions return SIDESTREAM_OK or an error code; sidestream_reader_message and sidestream_context_message explain it
 * in a sentence. Each byte is verified before it is used: damage is SIDESTREAM_ERROR_FILE of the call that needs the
 * damaged part, and other parts can still be read. Collective calls return the same on all ranks.
 *
 * Arrays that functions fill are the caller's. Texts and lists that functions return belong to the handle that was
 * passed, and are valid until it is closed or freed; messages are valid until the next call. A context may be used
 * after its reader was closed; cells need their context for reading values only. A thread uses a reader with its
 * contexts and cells at a time; different readers may be used at the same time.
 *
 * Boxes are half-open, in (i, j, k), in points of the variable or in cells; an axis that the mesh does not use is [0, 1).
 */
/* clang-format on */
#ifndef SIDESTREAM_READER_H
#define SIDESTREAM_READER_H

#include "sidestream/sidestream.h"
#include "sidestream/stored.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sidestream_reader sidestream_reader;   /* a database */
typedef struct sidestream_context sidestream_context; /* one iteration in it */
typedef struct sidestream_cells sidestream_cells;     /* a list of cells of a refined mesh */

/* ---- Databases ---------------------------------------------------------------------------------------------- */

/* Opens the database in a directory and lists its contexts. Collective over comm, which must exist until the reader is
 * closed. A run may write there at the same time: contexts that it commits later are not listed. On failure *reader is
 * NULL, and sidestream_reader_message(NULL) says why. */
int sidestream_reader_open(MPI_Comm comm, const char* directory, sidestream_reader** reader);

/* Frees the reader and sets *reader to NULL. Not collective. NULL is allowed. Contexts stay open. */
int sidestream_reader_close(sidestream_reader** reader);

/* The sentence of the last error; with NULL that of the last failed open of this thread. */
const char* sidestream_reader_message(const sidestream_reader* reader);

/* Remarks on broken parts of the list of contexts, one line each; may be empty. */
const char* sidestream_reader_remarks(const sidestream_reader* reader);

typedef struct {
  size_t struct_size;
  int64_t slot;  /* its number in the database; `context-SSSSSS.h5` has it */
  int64_t index; /* of the iteration */
  int64_t cycle;
  double time;
  int32_t run;           /* of the session that wrote it; the first has 1 */
  int32_t is_checkpoint; /* 0: kind `post` */
  int64_t blocks;        /* of all meshes */
  uint64_t bytes;        /* of values, before codecs */
  uint64_t stored_bytes; /* of values, in the files */
} sidestream_stored_context;

/* The contexts in the order of writing, numbered from 0. If a run has written an iteration again, both are listed. */
int sidestream_reader_context_count(sidestream_reader* reader, int64_t* count);
int sidestream_reader_context(sidestream_reader* reader, int64_t number, sidestream_stored_context* context);
/* The number of the context of that cycle that was written last. SIDESTREAM_ERROR_FILE if there is none. */
int sidestream_reader_find_cycle(sidestream_reader* reader, int64_t cycle, int64_t* number);

/* ---- Contexts ----------------------------------------------------------------------------------------------- */

/* Opens a context: its description and the tables of its blocks, which every rank keeps (some 300 bytes a block), but
 * no values. Collective over the reader's communicator; all ranks give the same number. Errors are sidestream_reader's.
 */
int sidestream_context_open(sidestream_reader* reader, int64_t number, sidestream_context** context);

/* Frees the context and sets *context to NULL. Not collective. NULL is allowed. */
int sidestream_context_close(sidestream_context** context);
const char* sidestream_context_message(const sidestream_context* context);

int sidestream_context_iteration(sidestream_context* context, int64_t* index, int64_t* cycle, double* time);
/* The version and the configuration that wrote it, as text. */
const char* sidestream_context_provenance(const sidestream_context* context);
/* Bytes that this rank has read of the context so far: tables and values, as they are in the files. */
int sidestream_context_bytes_read(sidestream_context* context, uint64_t* bytes);

/* Names, numbered from 0; NULL beyond the last one. */
const char* sidestream_context_mesh_name(const sidestream_context* context, int32_t number);
const char* sidestream_context_variable_name(const sidestream_context* context, int32_t number);

typedef enum {
  SIDESTREAM_MESH_UNKNOWN = -2, /* only its name was declared */
  SIDESTREAM_MESH_UNIFORM = 0,
  SIDESTREAM_MESH_RECTILINEAR = 1,
  SIDESTREAM_MESH_CURVILINEAR = 2,
  SIDESTREAM_MESH_UNSTRUCTURED = 3,
  SIDESTREAM_MESH_POINTS = 4,
  SIDESTREAM_MESH_OCTREE = 5
} sidestream_mesh_kind;

typedef struct {
  size_t struct_size;
  const char* name;
  int32_t kind; /* a sidestream_mesh_kind */
  int32_t dimensions;
  int32_t is_list;        /* its blocks are lists; others are boxes of its cells */
  int64_t lo[3], hi[3];   /* cells of level 0; for octrees 0 to the number of root cells; nothing for other lists */
  double origin[3];       /* uniform meshes and octrees: node i is at origin + spacing * i */
  double spacing[3];      /* between nodes of level 0; of octrees the size of root cells */
  const double* nodes[3]; /* rectilinear meshes: the nodes of each axis, one more than cells; otherwise NULL */
  int32_t periodic[3];
  int32_t steps;          /* of refinement that were declared */
  const int64_t* ratios;  /* 3 for each step: cells of level l + 1 along one cell of level l */
  int32_t levels;         /* that its blocks are on, 0 without blocks; for octrees see sidestream_context_tree */
  const char* arrays[13]; /* by sidestream_role: the variable that has it, or NULL */
  int32_t level_times;    /* entries of `times` */
  const double* times;    /* of each level from 0 on, if they are not the context's */
} sidestream_stored_mesh;
int sidestream_context_mesh(sidestream_context* context, const char* mesh, sidestream_stored_mesh* description);

/* Describes a variable. `length` of it is 0: see sidestream_context_list_length. */
int sidestream_context_variable(sidestream_context* context, const char* variable,
                                sidestream_stored_variable* description);

/* The blocks of a mesh by level and id, numbered from 0. Parts into which a partitioner has cut blocks have ids of
 * their own, below 0. Numbers are valid until the levels are limited. */
int sidestream_context_block_count(sidestream_context* context, const char* mesh, int64_t* count);
int sidestream_context_block(sidestream_context* context, const char* mesh, int64_t number,
                             sidestream_stored_block* block);

/* Hides levels finer than `deepest`, for this rank, from now on. Blocks on those levels no longer belong to the mesh.
 * Blocks of octrees then have only the cells of the levels 0 to `deepest`, which come first; `refined` is 0 on the last
 * of these levels. No values of finer levels are read. A number below 0 shows all levels again. */
int sidestream_context_limit_levels(sidestream_context* context, int32_t deepest);

/* ---- Values ------------------------------------------------------------------------------------------------- */

/* The number of elements (points times components) of a variable on a block; -1 if they were not stored there. */
int sidestream_context_block_length(sidestream_context* context, const char* variable, int64_t number, int64_t* length);

/* Reads a variable on block `number` of its mesh, in the order of the variable, components interleaved. `bytes`
 * must be the exact size. Coordinates, connectivity and flags are variables, too. Cells of octrees are level by level;
 * see sidestream_context_tree. */
int sidestream_context_read_block(sidestream_context* context, const char* variable, int64_t number, void* data,
                                  uint64_t bytes);

/* Reads the points lo to hi of a level into an array of the variable's type and order. The array is contiguous over
 * array_lo to array_hi (NULL: lo to hi). A point that several blocks have comes from the block of lowest id. Fails if a
 * point is in no block. */
int sidestream_context_read_box(sidestream_context* context, const char* variable, int32_t level, const int64_t lo[3],
                                const int64_t hi[3], const int64_t* array_lo, const int64_t* array_hi, void* data);

/* The length of a list over all blocks in entries (points or cells, whose components do not count), and the values of
 * `count` entries from `first` on: count times components elements. The lists of all blocks are concatenated by
 * ascending id. */
int sidestream_context_list_length(sidestream_context* context, const char* variable, int64_t* length);
int sidestream_context_read_list(sidestream_context* context, const char* variable, int64_t first, int64_t count,
                                 void* data);

/* ---- Octrees and refinement levels -------------------------------------------------------------------------- */

typedef struct {
  size_t struct_size;
  int32_t levels;
  const int64_t* starts; /* levels + 1: the first cell of each level, and last the number of cells */
  const uint8_t* refined;
  const uint8_t* owned; /* 1 for cells that count in this block */
} sidestream_stored_tree;
/* The structure of a block of an octree: the arrays have an entry for each cell, in the order of
 * sidestream_add_octree_mesh. They are valid until the next call of this function on the context. */
int sidestream_context_tree(sidestream_context* context, const char* mesh, int64_t number,
                            sidestream_stored_tree* tree);

/* Selection of the cells to list. */
typedef struct {
  size_t struct_size;
  int32_t level;        /* the level that lo and hi count cells of */
  int32_t has_box;      /* 0: the whole mesh */
  int64_t lo[3], hi[3]; /* cells that meet this box are listed, on whatever level */
  int32_t coarsest;     /* cells of coarser levels are left out */
  int32_t deepest;      /* finer levels do not count: cells of this one are leaves; less than 0: all levels count */
  int32_t all;          /* 0: leaves, which cover each place once, on its finest level; 1: parents, too, and leaves that
                         * count in no block */
} sidestream_cell_choice;

/* A structure for sidestream_context_list_cells: all leaves of the mesh. */
sidestream_cell_choice sidestream_all_leaves(void);

/* Lists cells of an octree or of a mesh whose blocks are boxes, each cell once. A cell of trees that several blocks
 * list comes from a block that has refined it, otherwise from one that owns it, otherwise from the block of lowest id.
 * Cells of other meshes come from the block of lowest id. Cells are sorted by level; cells of trees then by Morton key,
 * others by block with i fastest. Reads the flags of trees whose bounds meet the box. The list takes some 50 bytes a
 * cell. On failure *cells is NULL. */
int sidestream_context_list_cells(sidestream_context* context, const char* mesh, const sidestream_cell_choice* choice,
                                  sidestream_cells** cells);
int sidestream_cells_free(sidestream_cells** cells);

typedef struct {
  size_t struct_size;
  int64_t count;
  const int32_t* level;   /* of each cell */
  const int64_t* index;   /* (i, j, k) of each cell, on its level */
  const uint8_t* refined; /* 1: finer cells lie in it */
  const int64_t* owner;   /* the id of the block that it counts in; of octrees -1: none */
} sidestream_cell_list;
/* The cells, in lists that belong to `cells`. */
int sidestream_cells_list(const sidestream_cells* cells, sidestream_cell_list* list);

/* Reads a variable's values in the cells into `data`, in the order of the list, components interleaved; `bytes`
 * must be the exact size. Cells of blocks without the variable become NaN, or 0 for integers; `missing` (may be
 * NULL) is their number. `context` is that of the cells. */
int sidestream_cells_read(sidestream_context* context, const sidestream_cells* cells, const char* variable, void* data,
                          uint64_t bytes, int64_t* missing);

#ifdef __cplusplus
}
#endif

#endif
