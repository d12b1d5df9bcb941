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
 * Then `moments: {...}` under `analyses:` takes its options. One object is made for each entry and server. One thread
 * uses it, in the order (iteration, position in the file). In each pass every server calls `local`; the servers agree
 * that all succeeded; then every server calls `combine`.
 *
 * Every callback returns 0, or another number after writing a sentence to `message` (SIDESTREAM_MESSAGE_BYTES bytes,
 * empty before): what was found, what was expected, what to change. Handles are valid during the callback that gets
 * them. Functions of this header return SIDESTREAM_OK, SIDESTREAM_ERROR_USAGE (also for an option that is read as
 * another type), SIDESTREAM_ERROR_SYSTEM (no memory) or SIDESTREAM_ERROR_FILE. After such an error a callback may
 * simply return another number than 0, and the function's own sentence is reported.
 *
 * Structures that may grow begin with their size, so that libraries built with an older header continue to work. The
 * others stay as they are.
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
  int list;                   /* 1: a list of values; one value counts as a list of one */
  int required;               /* 1: the configuration must give a value */
  const char* default_value;  /* the value as written in the file; NULL: none */
  const char* text;           /* one or two sentences for the manual; NULL: none */
  const char* const* choices; /* for SIDESTREAM_OPTION_CHOICE: names, then NULL */
  const double* minimum;      /* inclusive, of every entry of a list; NULL: none */
  const double* maximum;
} sidestream_option;

typedef struct sidestream_settings sidestream_settings;

/* Number of entries of an option: 1 if it is not a list, the length of the list, or 0 if it has no value. */
int64_t sidestream_setting_count(const sidestream_settings* settings, const char* option);
/* Entry n of an option, counted from 0. Texts stay valid as long as the object that `create` makes. */
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
  int32_t dimensions;   /* dimensions of the variable's mesh */
  int64_t lo[3], hi[3]; /* points of the variable on the whole mesh */
} sidestream_variable_info;

int sidestream_variable(const sidestream_metadata* metadata, const char* name, sidestream_variable_info* info);

/* ---- What is needed -------------------------------------------------------------------------------------------- */

typedef struct sidestream_selection sidestream_selection;

/* Asks for a variable with `halo` points on every side of each block, taken from neighbouring blocks. `local` gets at
 * least these values. */
int sidestream_select(sidestream_selection* selection, const char* variable, int halo);
/* Each of these asks for some blocks only: blocks that a plane meets, blocks with cells in [lo, hi), blocks on a
 * refinement level, or blocks in which `component` takes values on both sides of one of `values`. */
int sidestream_select_plane(sidestream_selection* selection, const char* variable, int halo, const double origin[3],
                            const double normal[3]);
int sidestream_select_box(sidestream_selection* selection, const char* variable, int halo, const int64_t lo[3],
                          const int64_t hi[3]);
int sidestream_select_level(sidestream_selection* selection, const char* variable, int halo, int level);
int sidestream_select_values(sidestream_selection* selection, const char* variable, int halo, int component,
                             int64_t count, const double* values);

/* The ways to divide a structured mesh among the servers, instead of using its published blocks. Slabs are cut
 * across `axis`; pencils are whole lines along `axis`; bricks are cut across all axes, as near to cubes as possible.
 * Each server gets one piece, or none if there are more servers than cells to divide: see sidestream_input_entry. */
typedef enum { SIDESTREAM_SLABS = 1, SIDESTREAM_PENCILS = 2, SIDESTREAM_BRICKS = 3 } sidestream_decomposition;

/* Asks for pieces of a decomposition. `axis` is 0, 1 or 2; bricks ignore it. */
int sidestream_select_pieces(sidestream_selection* selection, const char* variable, int halo,
                             sidestream_decomposition decomposition, int axis);
/* Changes the entry requested last. 0 (the default): its halo ends at the mesh's faces. Otherwise the halo
 * continues at the mesh's other end along periodic axes. */
int sidestream_select_wrap(sidestream_selection* selection, int wrap);
/* Changes the entry requested last. 0 (the default): arrays of its blocks may cover ghosts around the blocks.
 * Otherwise they cover everything that was published, including these ghosts. */
int sidestream_select_ghosts(sidestream_selection* selection, int ghosts);
/* Changes the entry requested last. 1 (the default): also asks for blocks that finer levels cover completely. 0: these
 * are not needed, because each place counts once, but they may be delivered. */
int sidestream_select_covered(sidestream_selection* selection, int covered);

/* ---- Bytes of any length: partials and feedback ---------------------------------------------------------------- */

typedef struct sidestream_bytes sidestream_bytes;

/* Sets the length; keeps the present bytes and zeroes new ones. Returns their address, valid until the next call, or
 * NULL if there is no memory. A length of 0 gives a pointer that must not be dereferenced. */
void* sidestream_bytes_resize(sidestream_bytes* bytes, size_t size);
int sidestream_bytes_append(sidestream_bytes* bytes, const void* data, size_t size);

/* ---- What `local` and `combine` get ----------------------------------------------------------------------------
 * sidestream_input_index, _cycle, _time, _blocks and _block of sidestream.h, and what follows. The blocks of `local`
 * stay readable in `combine`; with `forward: partials` others have reduced, and there are none there. */

/* The pass, counted from 0, and the feedback that `combine` of the previous pass returned (in `local`). */
int sidestream_input_pass(const sidestream_input* input);
const void* sidestream_input_feedback(const sidestream_input* input, size_t* size);

/* The number of this server if it has blocks, otherwise -1. `servers` receives the number of servers. */
int sidestream_input_server(const sidestream_input* input, int* servers);
/* The input of only entry n, where n counts the selecting calls from 0. All functions that take an input and a
 * variable accept it, for the requested variable and the arrays of its mesh. For a decomposition there is
 * one block, or none if the server's piece is empty. The block's number is -1 - (the server's rank). Its array
 * covers the points of the piece, including the layer of nodes with which the next piece begins. It also covers the
 * halo around these points, up to the mesh's faces, and beyond them if the mesh is periodic. The input that `local`
 * itself receives has the published blocks of variables that were selected as published. NULL if there is no such
 * entry. */
const sidestream_input* sidestream_input_entry(const sidestream_input* input, int64_t n);

/* All points of the cells of block n of a variable, including shared nodes. The arguments are as for
 * sidestream_input_block. */
int sidestream_block_points(const sidestream_input* input, const char* variable, int64_t n, int64_t lo[3],
                            int64_t hi[3]);
/* The points that count as this block's: one box, or several if it shares nodes with other blocks. A shared point
 * belongs to exactly one block. Loop over these points and no others. */
int64_t sidestream_block_owned_count(const sidestream_input* input, const char* variable, int64_t n);
int sidestream_block_owned(const sidestream_input* input, const char* variable, int64_t n, int64_t box, int64_t lo[3],
                           int64_t hi[3]);
/* Fills `out` with one component as doubles: a contiguous array over the points [lo, hi) with i fastest. Each point
 * comes from the block that owns it, up to the requested halo. A point that is not available (outside the
 * mesh, in a block that was not delivered, beyond the halo) becomes a NaN. Returns the number of such points, or -1 for
 * wrong arguments. */
int64_t sidestream_block_gather(const sidestream_input* input, const char* variable, int64_t n, const int64_t lo[3],
                                const int64_t hi[3], int component, double* out);

/* Boxes in the array of a piece of a decomposition for which no delivered block has values. The array has NaN there,
 * or 0 for integers; these points are not among the owned ones. */
int64_t sidestream_block_absent_count(const sidestream_input* input, const char* variable, int64_t n);
int sidestream_block_absent(const sidestream_input* input, const char* variable, int64_t n, int64_t box, int64_t lo[3],
                            int64_t hi[3]);

/* The partials of this server, in `combine`. There may be any number, including none. With forwarders, several servers'
 * `local` report to one server, and some servers get no report. Their order has no meaning. */
int64_t sidestream_input_partials(const sidestream_input* input);
const void* sidestream_input_partial(const sidestream_input* input, int64_t n, size_t* size);
/* The servers that combine: a communicator for this analysis only. Do not free it. */
MPI_Comm sidestream_input_servers(const sidestream_input* input);

/* Changes a parameter, in `combine`. The configuration declares it under `steering:`; the simulation reads the new
 * value some iterations later, on all of its ranks after the same iteration. Call it with the same arguments on
 * every server; it takes effect if the analysis does not fail. Returns SIDESTREAM_ERROR_USAGE if there is no such
 * parameter or it does not take the value. A sentence is then in `message`, which is the callback's `message` or NULL.
 */
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

/* These add a result. Only the result of rank 0 of the servers is kept. `file` is the value of an option of type
 * SIDESTREAM_OPTION_FILE; its ending chooses the format. A table whose file name does not depend on the iteration grows
 * by these rows. Everything is copied.
 */
int sidestream_add_table(sidestream_results* results, const char* file, int columns, const sidestream_column* column,
                         int64_t rows);
/* Adds pixels row by row from the top left. Each pixel has red, green, blue and alpha. */
int sidestream_add_image(sidestream_results* results, const char* file, int width, int height, const uint8_t* rgba);
/* Adds triangles. `points` has three coordinates for each of point_count; `triangles` has three indices for each of
 * triangle_count. `arrays` are values at the points, each of type SIDESTREAM_COLUMN_REAL with one component. */
int sidestream_add_surface(sidestream_results* results, const char* file, int64_t point_count, const double* points,
                           int64_t triangle_count, const int64_t* triangles, int arrays,
                           const sidestream_column* array);

typedef struct {
  const char* name;
  sidestream_column_type type; /* says which of the following members is used */
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
  const int64_t* extents;  /* the extents of the whole array */
  const int64_t* start;    /* beginning of `values` in the array; NULL: at 0 */
  const int64_t* size;     /* extents of `values`; NULL: `extents` */
  const char* unit;        /* NULL: none */
  const void* values;      /* contiguous, the last axis fastest */
  int attributes;
  const sidestream_attribute* attribute;
} sidestream_array;

/* Adds named arrays in one file. */
int sidestream_add_data(sidestream_results* results, const char* file, int arrays, const sidestream_array* array);

/* The form of a result with parts on several servers: one file, or pieces that all servers write. */
typedef enum {
  SIDESTREAM_PIECES_AUTOMATIC = 0, /* in pieces if it is larger than 64 MiB */
  SIDESTREAM_PIECES_NEVER = 1,
  SIDESTREAM_PIECES_ALWAYS = 2
} sidestream_pieces;

/* These add a result of which every server has a part. Collective: all servers call them in `combine`, also with an
 * empty part, and get the same code. Parts are concatenated in the order of ranks. For arrays, `start` and `size`
 * place each part in the whole; together the parts must fill it. */
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
  const sidestream_option* options; /* in addition to those of every analysis (every, start, end, on, name) */
  size_t option_bytes;              /* sizeof(sidestream_option) */
  size_t option_count;
  double tolerance; /* 0: results are bitwise equal whatever the placement ("exact"); else the relative
                       difference to expect */
  void* user;       /* passed to create */

  /* Makes the object for one entry of the configuration; *object may be anything, also NULL. Refuses values that the
   * declarations of the options cannot exclude. May be NULL. */
  int (*create)(const sidestream_settings* settings, const sidestream_metadata* metadata, void* user, void** object,
                char* message);
  void (*destroy)(void* object); /* may be NULL */
  /* Declares the data that are needed. Sets `passes`, which is 1 before, to the number of passes over the data. */
  int (*select)(void* object, sidestream_selection* selection, int* passes, char* message);
  /* Reduces this server's blocks to bytes; never communicates. Servers without blocks call it too. */
  int (*local)(void* object, const sidestream_input* input, sidestream_bytes* partial, char* message);
  /* Merges partials over the servers; collective. `feedback` is for the next pass and must be the same on every server.
   * May fail only before its first or after its last communication, or on all servers. */
  int (*combine)(void* object, const sidestream_input* input, sidestream_results* results, sidestream_bytes* feedback,
                 char* message);
  /* Not 0: `combine` needs exactly one partial on each server, made by that server's `local`, or it reads that server's
   * blocks. `forward: partials`, with which other servers reduce, is then refused. */
  int own_partial;
} sidestream_analysis;

int sidestream_register_analysis(sidestream_session* session, const sidestream_analysis* analysis);

/* Returned by a plug-in's entry point. */
typedef struct {
  uint64_t magic;   /* SIDESTREAM_C_PLUGIN_MAGIC */
  uint32_t version; /* SIDESTREAM_C_PLUGIN_VERSION; grows when a table built for an older one would no longer work */
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
