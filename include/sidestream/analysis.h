/* clang-format off */
/* Analyses written in C: everything that a Task in C++ can do, as a table of functions.
 *
 *   static const sidestream_analysis table = {.struct_size = sizeof table, .name = "moments", .create = ..., ...};
 *
 * Registered by a program, on every rank, servers too, before serve/start:
 *
 *   sidestream_register_analysis(session, &table);
 *
 * or by a shared library that the configuration names under `plugins:`:
 *
 *   SIDESTREAM_C_PLUGIN(&table, &another)
 *
 * Then `moments: {...}` under `analyses:` takes its options. For each entry and server one object is made, used by one
 * thread, in the order (iteration, position in the file). Of each pass every server calls `local`; the servers agree
 * that all succeeded; then every server calls `combine`.
 *
 * Every callback returns 0, or not 0 after writing a sentence to `message` (SIDESTREAM_MESSAGE_BYTES bytes, empty
 * before): what was found, what was expected, what to change. Handles are valid during the callback that gets them.
 * Functions of this header return SIDESTREAM_OK, SIDESTREAM_ERROR_USAGE (also for an option that is read as another
 * type), SIDESTREAM_ERROR_SYSTEM (no memory) or SIDESTREAM_ERROR_FILE; a callback may simply return not 0 then, and their own sentence is reported.
 *
 * Structures that may grow begin with their size, so that libraries built with an older header go on working; the others
 * stay as they are.
 */
/* clang-format on */
#ifndef SIDESTREAM_ANALYSIS_H
#define SIDESTREAM_ANALYSIS_H

#include "sidestream/sidestream.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIDESTREAM_MESSAGE_BYTES 512

/* ---- Options: declared once, checked by the parser, listed by `sidestream reference` -------------------------- */

typedef enum {
  SIDESTREAM_OPTION_BOOLEAN = 0,
  SIDESTREAM_OPTION_INTEGER = 1, /* or an expression of parameters, `$nx / 2` */
  SIDESTREAM_OPTION_REAL = 2,    /* likewise */
  SIDESTREAM_OPTION_TEXT = 3,
  SIDESTREAM_OPTION_CHOICE = 4,   /* one of `choices` */
  SIDESTREAM_OPTION_BYTES = 5,    /* an amount of memory, `64 MiB`; read as an integer */
  SIDESTREAM_OPTION_FILE = 6,     /* a file of results, {cycle:06} and the like in its name; read as a text */
  SIDESTREAM_OPTION_VARIABLE = 7, /* the name of a declared variable; read as a text */
  SIDESTREAM_OPTION_MESH = 8
} sidestream_option_type;

typedef struct {
  size_t struct_size;
  const char* name;
  sidestream_option_type type;
  int list;                   /* 1: a list of such values; one value counts as a list of one */
  int required;               /* 1: the file must give it */
  const char* default_value;  /* as it would be written in the file; NULL: none */
  const char* text;           /* one or two sentences for the manual; NULL: none */
  const char* const* choices; /* for SIDESTREAM_OPTION_CHOICE: names, then NULL */
  const double* minimum;      /* inclusive, of every entry of a list; NULL: none */
  const double* maximum;
} sidestream_option;

typedef struct sidestream_settings sidestream_settings;

/* Entries of an option: 1 (not a list), those of the list, or 0 if it has no value. */
int64_t sidestream_setting_count(const sidestream_settings* settings, const char* option);
/* Entry n, from 0. Texts are valid as long as the object that `create` makes. */
int sidestream_setting_boolean(const sidestream_settings* settings, const char* option, int64_t n, int* value);
int sidestream_setting_int(const sidestream_settings* settings, const char* option, int64_t n, int64_t* value);
int sidestream_setting_real(const sidestream_settings* settings, const char* option, int64_t n, double* value);
int sidestream_setting_text(const sidestream_settings* settings, const char* option, int64_t n, const char** value);

/* ---- What exists: the frozen declarations --------------------------------------------------------------------- */

typedef struct sidestream_metadata sidestream_metadata;

typedef struct {
  size_t struct_size;
  sidestream_type type;
  int32_t components;
  int32_t dimensions;   /* of its mesh */
  int64_t lo[3], hi[3]; /* its points on the whole mesh */
} sidestream_variable_info;

int sidestream_variable(const sidestream_metadata* metadata, const char* name, sidestream_variable_info* info);

/* ---- What is needed -------------------------------------------------------------------------------------------- */

typedef struct sidestream_selection sidestream_selection;

/* Asks for a variable with `halo` points on every side of each block, from neighbouring blocks. `local` gets at least
 * what was asked for. */
int sidestream_select(sidestream_selection* selection, const char* variable, int halo);
/* Only blocks that a plane meets, that have cells in [lo, hi), that are on a refinement level, or in which `component`
 * takes values on both sides of one of `values`. */
int sidestream_select_plane(sidestream_selection* selection, const char* variable, int halo, const double origin[3],
                            const double normal[3]);
int sidestream_select_box(sidestream_selection* selection, const char* variable, int halo, const int64_t lo[3],
                          const int64_t hi[3]);
int sidestream_select_level(sidestream_selection* selection, const char* variable, int halo, int level);
int sidestream_select_values(sidestream_selection* selection, const char* variable, int halo, int component,
                             int64_t count, const double* values);

/* How a structured mesh is divided among the servers, instead of as its blocks were published: cut across `axis`; whole
 * lines along `axis`; or cut across all axes, as near to cubes as it goes. Each server gets one piece, or none where
 * there are more servers than cells to divide: see sidestream_input_entry. */
typedef enum { SIDESTREAM_SLABS = 1, SIDESTREAM_PENCILS = 2, SIDESTREAM_BRICKS = 3 } sidestream_decomposition;

/* `axis`: 0, 1 or 2; of bricks it does not count. */
int sidestream_select_pieces(sidestream_selection* selection, const char* variable, int halo,
                             sidestream_decomposition decomposition, int axis);
/* Of the entry that was asked for last: other than 0 (as it is at first), its halo goes on at the mesh's other end
 * along the axes along which the mesh is periodic. */
int sidestream_select_wrap(sidestream_selection* selection, int wrap);
/* Of the entry that was asked for last: other than 0 (it is 0 at first), arrays of its blocks cover what was published,
 * with what lies around the blocks; without, they may. */
int sidestream_select_ghosts(sidestream_selection* selection, int ghosts);
/* Whether the variable selected last is wanted on blocks too that finer levels cover whole: 1 (the default), or 0 where
 * each place is to count once. They may come all the same. */
int sidestream_select_covered(sidestream_selection* selection, int covered);

/* ---- Bytes of any length: partials and feedback ---------------------------------------------------------------- */

typedef struct sidestream_bytes sidestream_bytes;

/* Sets the length, keeps what is there, zeroes what is new. Returns where they are, until the next call, or NULL if
 * there is no memory. A length of 0 gives a pointer that must not be followed. */
void* sidestream_bytes_resize(sidestream_bytes* bytes, size_t size);
int sidestream_bytes_append(sidestream_bytes* bytes, const void* data, size_t size);

/* ---- What `local` and `combine` get ----------------------------------------------------------------------------
 * sidestream_input_index, _cycle, _time, _blocks and _block of sidestream.h, and what follows. The blocks of `local`
 * stay readable in `combine`; with `forward: partials` others have reduced, and there are none there. */

/* The pass, from 0, and, in `local`, what `combine` of the pass before left as feedback. */
int sidestream_input_pass(const sidestream_input* input);
const void* sidestream_input_feedback(const sidestream_input* input, size_t* size);

/* Where there are blocks: which of how many servers this is; otherwise -1. */
int sidestream_input_server(const sidestream_input* input, int* servers);
/* What the n-th of the selecting calls asked for, n from 0, by itself. All functions that take an input and
 * a variable can be asked with it, for the variable that was asked for and the arrays of its mesh. Of a decomposition
 * there is one block, or none if the server's piece is empty. Its number is -1 - (the server's rank); its array covers
 * the points of the piece, the layer of nodes that the next piece begins with included, and as many round it as the
 * halo is wide, up to the mesh's faces, and beyond where it is periodic. The input that `local` got itself has blocks
 * as published, of variables that were selected so. NULL if there is no such entry. */
const sidestream_input* sidestream_input_entry(const sidestream_input* input, int64_t n);

/* Of block n of a variable (n and the rest as for sidestream_input_block): all points of the block's cells,
 * shared nodes included. */
int sidestream_block_points(const sidestream_input* input, const char* variable, int64_t n, int64_t lo[3],
                            int64_t hi[3]);
/* The points that count as this block's: one box, or several where it shares nodes with others; a shared point is in
 * one block's alone. Loop over these and no others. */
int64_t sidestream_block_owned_count(const sidestream_input* input, const char* variable, int64_t n);
int sidestream_block_owned(const sidestream_input* input, const char* variable, int64_t n, int64_t box, int64_t lo[3],
                           int64_t hi[3]);
/* Fills `out`, a gapless array over the points [lo, hi) with i fastest, with one component as doubles. Each point comes
 * from the block that owns it, up to the halo that was asked for; one that is nowhere to be had (outside the mesh, a
 * block not delivered, beyond the halo) becomes a NaN. Returns the number of these, -1 for wrong arguments. */
int64_t sidestream_block_gather(const sidestream_input* input, const char* variable, int64_t n, const int64_t lo[3],
                                const int64_t hi[3], int component, double* out);

/* Of a piece of a decomposition: boxes of its array in which no block that was delivered has values. NaN, or 0 in whole
 * numbers, stands there; they are not among the owned points. */
int64_t sidestream_block_absent_count(const sidestream_input* input, const char* variable, int64_t n);
int sidestream_block_absent(const sidestream_input* input, const char* variable, int64_t n, int64_t box, int64_t lo[3],
                            int64_t hi[3]);

/* In `combine`: the partials of this server. There may be any number, none too: with forwarders several servers'
 * `local` report to one, and to some nobody does. Their order means nothing. */
int64_t sidestream_input_partials(const sidestream_input* input);
const void* sidestream_input_partial(const sidestream_input* input, int64_t n, size_t* size);
/* The servers that combine, a communicator of this analysis alone; do not free it. */
MPI_Comm sidestream_input_servers(const sidestream_input* input);

/* In `combine`: changes a parameter that the configuration declares under `steering:` and that the simulation reads,
 * some iterations later and on all of its ranks after the same one. With the same arguments on every server; it counts
 * if the analysis does not fail. Returns SIDESTREAM_ERROR_USAGE, and a sentence in `message` (NULL, or that of the
 * callback), if there is no such parameter, or it takes no such value. */
int sidestream_steer_int(const sidestream_input* input, const char* name, int64_t value, char* message);
int sidestream_steer_real(const sidestream_input* input, const char* name, double value, char* message);

/* ---- Results ---------------------------------------------------------------------------------------------------- */

typedef struct sidestream_results sidestream_results;

typedef enum {
  SIDESTREAM_COLUMN_INT = 0,
  SIDESTREAM_COLUMN_REAL = 1,
  SIDESTREAM_COLUMN_TEXT = 2
} sidestream_column_type;

/* One column of a table: `values` are int64_t, double or const char*, as many as the table has rows. */
typedef struct {
  const char* name;
  sidestream_column_type type;
  const void* values;
} sidestream_column;

/* Of these only what rank 0 of the servers adds is kept. `file` is the value of an option of type
 * SIDESTREAM_OPTION_FILE; its ending chooses the format. A table whose name tells no iterations apart grows by these
 * rows. Everything is copied.
 */
int sidestream_add_table(sidestream_results* results, const char* file, int columns, const sidestream_column* column,
                         int64_t rows);
/* Pixels from the top left, row by row; red, green, blue, alpha. */
int sidestream_add_image(sidestream_results* results, const char* file, int width, int height, const uint8_t* rgba);
/* Triangles: `points` has three coordinates for each of point_count, `triangles` three indices for each of
 * triangle_count; `arrays` are values at the points, type SIDESTREAM_COLUMN_REAL, one component each. */
int sidestream_add_surface(sidestream_results* results, const char* file, int64_t point_count, const double* points,
                           int64_t triangle_count, const int64_t* triangles, int arrays,
                           const sidestream_column* array);

typedef struct {
  const char* name;
  sidestream_column_type type; /* which of these counts */
  int64_t whole;
  double real;
  const char* text;
} sidestream_attribute;

/* An array of a data set, with `dimensions` >= 1 axes, the slowest first. */
typedef struct {
  size_t struct_size;
  const char* name;
  sidestream_type type;
  int dimensions;
  const char* const* axes; /* their names */
  const int64_t* extents;  /* of the whole array */
  const int64_t* start;    /* where `values` begin in it; NULL: at 0 */
  const int64_t* size;     /* how far they reach; NULL: `extents` */
  const char* unit;        /* NULL: none */
  const void* values;      /* gapless, the last axis fastest */
  int attributes;
  const sidestream_attribute* attribute;
} sidestream_array;

/* Named arrays in one file. */
int sidestream_add_data(sidestream_results* results, const char* file, int arrays, const sidestream_array* array);

/* How a result that several servers have is written: in one file, or in pieces by all of them. */
typedef enum {
  SIDESTREAM_PIECES_AUTOMATIC = 0, /* in pieces if it is larger than 64 MiB */
  SIDESTREAM_PIECES_NEVER = 1,
  SIDESTREAM_PIECES_ALWAYS = 2
} sidestream_pieces;

/* Of a result of which every server has a part. Collective: all servers call it in `combine`, those with an empty part
 * too, and get the same code. Parts follow each other in the order of ranks; of arrays `start` and `size` say which
 * part is whose, and the parts fill them. */
int sidestream_add_table_part(sidestream_results* results, const char* file, int columns,
                              const sidestream_column* column, int64_t rows, sidestream_pieces pieces);
int sidestream_add_surface_part(sidestream_results* results, const char* file, int64_t point_count,
                                const double* points, int64_t triangle_count, const int64_t* triangles, int arrays,
                                const sidestream_column* array, sidestream_pieces pieces);
int sidestream_add_data_part(sidestream_results* results, const char* file, int arrays, const sidestream_array* array,
                             sidestream_pieces pieces);

/* ---- The table -------------------------------------------------------------------------------------------------- */

typedef struct {
  size_t struct_size;
  const char* name;                 /* in the configuration */
  const char* text;                 /* for the manual; NULL: none */
  const sidestream_option* options; /* besides those of every analysis (every, start, end, on, name) */
  size_t option_bytes;              /* sizeof(sidestream_option) */
  size_t option_count;
  double tolerance; /* 0: results are bitwise equal whatever the placement ("exact"); else the relative
                       difference to expect */
  void* user;       /* passed to create */

  /* Makes the object of one entry of the configuration: *object may be anything, NULL too. Refuses what the
   * declarations of its options cannot. May be NULL. */
  int (*create)(const sidestream_settings* settings, const sidestream_metadata* metadata, void* user, void** object,
                char* message);
  void (*destroy)(void* object); /* may be NULL */
  /* Says what is needed, and with `passes` (1 before) how many passes over the data. */
  int (*select)(void* object, sidestream_selection* selection, int* passes, char* message);
  /* Reduces this server's blocks to bytes; never communicates. A server without blocks calls it too. */
  int (*local)(void* object, const sidestream_input* input, sidestream_bytes* partial, char* message);
  /* Merges partials over the servers; collective. `feedback`: for the next pass, the same on every server. Fails only
   * before its first or after its last communication, or on all servers alike. */
  int (*combine)(void* object, const sidestream_input* input, sidestream_results* results, sidestream_bytes* feedback,
                 char* message);
  /* Other than 0: `combine` takes one partial on each server, that of its own `local`, or reads the blocks that this
   * had. `forward: partials`, where others have reduced, is refused then. */
  int own_partial;
} sidestream_analysis;

int sidestream_register_analysis(sidestream_session* session, const sidestream_analysis* analysis);

/* What a plug-in's entry point returns. */
typedef struct {
  uint64_t magic;   /* SIDESTREAM_C_PLUGIN_MAGIC */
  uint32_t version; /* SIDESTREAM_C_PLUGIN_VERSION; grows when a table built for an older one would not work */
  uint32_t count;
  const sidestream_analysis* const* analyses;
} sidestream_c_plugin_header;

#define SIDESTREAM_C_PLUGIN_MAGIC UINT64_C(0x4e49475550434453) /* "SDCPUGIN" */
#define SIDESTREAM_C_PLUGIN_VERSION 1u

/* Defines the entry point: once in a library, at file scope. */
#define SIDESTREAM_C_PLUGIN(...)                                                                              \
  __attribute__((visibility("default"))) const sidestream_c_plugin_header* sidestream_c_plugin(void);         \
  const sidestream_c_plugin_header* sidestream_c_plugin(void) {                                               \
    static const sidestream_analysis* const analyses[] = {__VA_ARGS__};                                       \
    static const sidestream_c_plugin_header header = {SIDESTREAM_C_PLUGIN_MAGIC, SIDESTREAM_C_PLUGIN_VERSION, \
                                                      sizeof analyses / sizeof *analyses, analyses};          \
    return &header;                                                                                           \
  }

#ifdef __cplusplus
}
#endif
#endif
