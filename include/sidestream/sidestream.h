/* clang-format off */
/* Sidestream for C programs.
 *
 * Order of calls on every rank of the communicator:
 *
 *   sidestream_open(comm, file, &s)                            collective over comm
 *   if (sidestream_is_server(s)) sidestream_serve(s);          returns when all clients have closed
 *   else {
 *     comm = sidestream_comm(s);                               the ranks that run the simulation
 *     sidestream_set_int, _add_uniform_mesh, _set_block ...    declare, in any order
 *     sidestream_start(s);                                     collective; freezes the declarations
 *     for each iteration {
 *       sidestream_publish ...;                                never communicates
 *       sidestream_end_iteration;                              never communicates (`inline`: see there)
 *     }
 *   }
 *   sidestream_close(&s)                                       collective over comm
 *
 * Without sidestream_start, the first publish, alloc, signal or end_iteration does its work and is then collective
 * over the clients: call sidestream_start if some ranks may have nothing to publish while others wait for them.
 *
 * Every function returns SIDESTREAM_OK or an error code; sidestream_message gives the sentence. Collective functions
 * return the same on every rank. Nothing here ends the process or prints to standard output. A session is used by one
 * thread at a time; several sessions may be open. A rank that is a server serves one session at a time: sessions whose
 * servers share ranks have to be started and closed one after the other. MPI must be initialised (MPI_THREAD_FUNNELED
 * suffices) and not yet finalised when a session closes.
 *
 * Index boxes are half-open, lo <= index < hi, in (i, j, k) whatever the storage order. Strings are copied.
 */
/* clang-format on */
#ifndef SIDESTREAM_H
#define SIDESTREAM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "sidestream/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sidestream_session sidestream_session;

enum {
  SIDESTREAM_OK = 0,
  SIDESTREAM_ERROR_USAGE = 1,         /* wrong arguments, or a call at the wrong moment */
  SIDESTREAM_ERROR_CONFIGURATION = 2, /* the configuration is missing, unreadable or wrong */
  SIDESTREAM_ERROR_FULL = 3,          /* no room in the buffer, now or ever, for this iteration */
  SIDESTREAM_ERROR_ANALYSIS = 4,      /* an analysis or writer failed on a server (`on_error: stop`) */
  SIDESTREAM_ERROR_FILE = 5,
  SIDESTREAM_ERROR_SYSTEM = 6,  /* the operating system or MPI refused something */
  SIDESTREAM_REFUSED = 7,       /* this iteration is dropped: no room (`when_full: skip`), or a call in it failed */
  SIDESTREAM_ERROR_INTERNAL = 8 /* a bug in Sidestream */
};

/* Element types; the values are those of sidestream::Type. */
typedef enum {
  SIDESTREAM_INT8 = 0,
  SIDESTREAM_INT16 = 1,
  SIDESTREAM_INT32 = 2,
  SIDESTREAM_INT64 = 3,
  SIDESTREAM_UINT8 = 4,
  SIDESTREAM_UINT16 = 5,
  SIDESTREAM_UINT32 = 6,
  SIDESTREAM_UINT64 = 7,
  SIDESTREAM_FLOAT32 = 8,
  SIDESTREAM_FLOAT64 = 9
} sidestream_type;

typedef enum { SIDESTREAM_CELL = 0, SIDESTREAM_NODE = 1 } sidestream_centering;

/* Which index runs fastest: COLUMN is i (Fortran a(i,j,k), C a[k][j][i]), ROW is k (C a[i][j][k]). */
typedef enum { SIDESTREAM_COLUMN = 0, SIDESTREAM_ROW = 1 } sidestream_order;

/* ---- Opening and closing ------------------------------------------------------------------------------------ */

/* Opens a session. Collective over comm, which is duplicated. `file` is read by rank 0 alone; the environment variable
 * SIDESTREAM_CONFIG replaces it; NULL without that variable is an error. On failure *session is NULL on every rank and
 * sidestream_message(NULL) says why. */
int sidestream_open(MPI_Comm comm, const char* file, sidestream_session** session);

/* As sidestream_open, with the configuration's text instead of a file; SIDESTREAM_CONFIG still wins. */
int sidestream_open_text(MPI_Comm comm, const char* text, sidestream_session** session);

/* 1 if this rank is a server and must call sidestream_serve; 0 otherwise, also with `placement: off`. */
int sidestream_is_server(const sidestream_session* session);

/* Runs a server until every client has closed. SIGTERM is ignored in this process meanwhile: a server ends when its
 * clients do. Returns SIDESTREAM_OK also if analyses failed; those are in the account. */
int sidestream_serve(sidestream_session* session);

/* The communicator of the ranks that run the simulation; owned by the session, valid until close. On a server:
 * MPI_COMM_NULL. */
MPI_Comm sidestream_comm(const sidestream_session* session);

/* What became of the iterations. `struct_size` must be set to sizeof(sidestream_account) by the caller. */
typedef struct {
  size_t struct_size;
  int64_t iterations;       /* ended by this client */
  int64_t delivered;        /* arrived whole on every server */
  int64_t refused;          /* dropped everywhere */
  int64_t failed;           /* delivered, but an analysis or a writer failed */
  int64_t unknown;          /* outcome not known: the servers did not answer within drain_limit */
  int64_t absent_blocks;    /* declared and not published in iterations in which others published the variable: after
                               close of all clients, before it of this client's variables */
  uint64_t bytes_published; /* by this client */
} sidestream_account;

/* Waits for the outcome of everything published (at most `drain_limit`, then for the one analysis that is running; what
 * has not begun is dropped), frees the session and sets *session to NULL, also when it fails. Collective over the
 * communicator of sidestream_open. `account` may be NULL. Before it, sidestream_account_so_far gives what is known. */
int sidestream_close(sidestream_session** session);
int sidestream_close_with_account(sidestream_session** session, sidestream_account* account);
int sidestream_account_so_far(const sidestream_session* session, sidestream_account* account);

/* The sentence for the last error of the session, or with NULL for the last failed open in this thread. Valid until the
 * next call. Never NULL. */
const char* sidestream_message(const sidestream_session* session);

/* ---- Declaring ---------------------------------------------------------------------------------------------- */

/* Sets $name for the configuration; the same on every client. Before start. */
int sidestream_set_int(sidestream_session* session, const char* name, int64_t value);
int sidestream_set_real(sidestream_session* session, const char* name, double value);

/* Declares a mesh that the file does not: nodes at origin + spacing * index, index from 0 to size[a]. `dimensions` is
 * 1, 2 or 3, the arrays have that many entries. The same on every client. Before start. */
int sidestream_add_uniform_mesh(sidestream_session* session, const char* name, int dimensions, const int64_t* size,
                                const double* origin, const double* spacing);
/* As above with nodes listed: coordinates[a] has size[a] + 1 increasing entries, copied. */
int sidestream_add_rectilinear_mesh(sidestream_session* session, const char* name, int dimensions, const int64_t* size,
                                    const double* const* coordinates);
/* Declares a variable that the file does not. The same on every client. Before start. */
int sidestream_add_variable(sidestream_session* session, const char* name, const char* mesh, sidestream_type type,
                            sidestream_centering centering, int components, sidestream_order order);
/* Sets an attribute of a declared variable: "unit", "label" or "group" to a text, "time_varying" to "true" or "false".
 */
int sidestream_set_variable_attribute(sidestream_session* session, const char* variable, const char* attribute,
                                      const char* value);

/* Declares a block of this client or changes it from the current iteration on: the cells [lo, hi) of `mesh` it owns.
 * Ids are unique over all clients of a mesh. lo and hi have 3 entries; on unused axes [0, 1). May be called before or
 * after start, but not between the publications of one iteration that concern the block. Changing a block drops its
 * arrays that do not vary in time and resets its allocated boxes: call sidestream_set_allocated after it. */
int sidestream_set_block(sidestream_session* session, const char* mesh, int64_t block, const int64_t* lo,
                         const int64_t* hi);
int sidestream_remove_block(sidestream_session* session, const char* mesh, int64_t block);

/* The indices [lo, hi) that this variable's arrays cover on this block, ghosts included, in points of the variable (for
 * node-centred variables one more than cells). Default: exactly the points of the block's cells. */
int sidestream_set_allocated(sidestream_session* session, const char* variable, int64_t block, const int64_t* lo,
                             const int64_t* hi);

/* Freezes the declarations. Collective over the clients. All checks that need them happen here. */
int sidestream_start(sidestream_session* session);

/* ---- Publishing --------------------------------------------------------------------------------------------- */

/* Copies one block's values (the allocated box, gapless, in the variable's order). The array may be changed at once. A
 * block is published at most once per iteration. With `when_full: skip` and no room: SIDESTREAM_REFUSED, and the rest
 * of the iteration is dropped. */
int sidestream_publish(sidestream_session* session, const char* variable, int64_t block, const void* data);

/* As publish, from an array with gaps: strides in elements for i, j, k and component. `data` is the element at the
 * lower corner of the allocated box. */
int sidestream_publish_strided(sidestream_session* session, const char* variable, int64_t block, const void* data,
                               const int64_t strides[4]);

/* Publishing without a copy: memory for the block's values in this iteration, 64-byte aligned, contents undefined. The
 * simulation fills it, then commits. After commit the client may read it until clear; the memory is freed after clear
 * and the servers' release. Memory that was allocated and not committed is given back by clear. */
int sidestream_alloc(sidestream_session* session, const char* variable, int64_t block, void** data);
int sidestream_commit(sidestream_session* session, const char* variable, int64_t block);
int sidestream_clear(sidestream_session* session, const char* variable, int64_t block);

/* Raises the named event in this iteration: analyses with `on: name` run. Any client may. */
int sidestream_signal(sidestream_session* session, const char* event);

/* Ends the iteration: every client calls it for every iteration, published or not. It does not communicate with other
 * clients; with `inline` the servers are the same ranks and run the analyses here, so that it is collective. Returns
 * SIDESTREAM_REFUSED if this client refused the iteration, SIDESTREAM_ERROR_ANALYSIS once if a server failed since the
 * last call and `on_error: stop`. */
int sidestream_end_iteration(sidestream_session* session, int64_t cycle, double time);

/* ---- Analyses of the program itself ------------------------------------------------------------------------- */

/* One block of one variable on a server, valid during the callback. Boxes in points of the variable. */
typedef struct {
  size_t struct_size;
  int64_t block;
  int32_t level;
  int32_t client;
  sidestream_type type;
  int32_t components;
  int64_t owned_lo[3], owned_hi[3]; /* the points of the block's cells that count as this block's, if `owned_is_box` */
  int32_t owned_is_box;             /* 0: shared nodes make the owned points no box; lo and hi bound them */
  int64_t lo[3], hi[3];             /* what the array covers */
  int64_t strides[4];               /* in elements: i, j, k, component */
  const void* data;
} sidestream_block;

typedef struct sidestream_input sidestream_input;

/* Iteration, cycle, time; number of blocks of the analysis' variable; one of them, n from 0. */
int64_t sidestream_input_index(const sidestream_input* input);
int64_t sidestream_input_cycle(const sidestream_input* input);
double sidestream_input_time(const sidestream_input* input);
int64_t sidestream_input_blocks(const sidestream_input* input, const char* variable);
int sidestream_input_block(const sidestream_input* input, const char* variable, int64_t n, sidestream_block* block);

/* A function of the program as an analysis, used in the configuration as `name: {variables: [...]}`. `local` runs on
 * every server and must not communicate: it writes at most `partial_bytes` bytes to `partial` (zeroed before). Then
 * `combine` (may be NULL) runs on every server, collective over servers; it gets this server's partial. Both return 0
 * or non-zero after writing a sentence to `message` (512 bytes). Registered on every rank, servers too, before
 * serve/start. */
typedef struct {
  size_t struct_size;
  const char* name;
  size_t partial_bytes;
  int (*local)(const sidestream_input* input, void* partial, char* message, void* user);
  int (*combine)(const sidestream_input* input, void* partial, MPI_Comm servers, char* message, void* user);
  void* user;
} sidestream_function;

int sidestream_register_function(sidestream_session* session, const sidestream_function* function);

#ifdef __cplusplus
}
#endif
#endif
