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
 * Without sidestream_start, the first publish, get_handle, alloc, commit, clear, signal or end_iteration does its work
 * and is then collective over the clients. So call sidestream_start if some ranks may have nothing to publish while
 * others wait for them.
 *
 * Every function returns SIDESTREAM_OK or an error code; sidestream_message explains it in a sentence. Collective
 * functions return the same on every rank. Nothing here ends the process or prints to standard output. One thread uses
 * a session at a time; several sessions may be open. A rank that is a server serves one session at a time. Sessions
 * whose servers share ranks have to be started and closed one after the other. MPI must be initialised
 * (MPI_THREAD_FUNNELED suffices) and not yet finalised when a session closes.
 *
 * Index boxes are half-open, lo <= index < hi, in (i, j, k) whatever the storage order. Strings are copied.
 */
/* clang-format on */
#ifndef SIDESTREAM_H
#define SIDESTREAM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "sidestream/codes.h"
#include "sidestream/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sidestream_session sidestream_session;
struct sidestream_block; /* see Analyses of the program itself */

/* ---- Opening and closing ------------------------------------------------------------------------------------ */

/* Opens a session. Collective over comm, which is duplicated. Only rank 0 reads `file`. The environment variable
 * SIDESTREAM_CONFIG replaces it; NULL without that variable is an error. On failure *session is NULL on every rank
 * and sidestream_message(NULL) says why. */
int sidestream_open(MPI_Comm comm, const char* file, sidestream_session** session);

/* Opens a session like sidestream_open, with the configuration's text instead of a file; SIDESTREAM_CONFIG still has
 * precedence. */
int sidestream_open_text(MPI_Comm comm, const char* text, sidestream_session** session);

/* Returns 1 if this rank is a server and must call sidestream_serve. Returns 0 otherwise, also with `placement: off`.
 */
int sidestream_is_server(const sidestream_session* session);

/* Runs a server until every client has closed. Meanwhile SIGTERM is ignored in this process: a server ends when its
 * clients do. Returns SIDESTREAM_OK even if analyses failed; the account counts those. */
int sidestream_serve(sidestream_session* session);

/* The communicator of the ranks that run the simulation; owned by the session, valid until close. On a server:
 * MPI_COMM_NULL. */
MPI_Comm sidestream_comm(const sidestream_session* session);

/* Counts of what happened to the iterations. The caller must set `struct_size` to sizeof(sidestream_account). */
typedef struct {
  size_t struct_size;
  int64_t iterations;       /* ended by this client */
  int64_t delivered;        /* arrived whole on every server */
  int64_t refused;          /* dropped everywhere */
  int64_t failed;           /* delivered, but an analysis or a writer failed */
  int64_t unknown;          /* outcome not known: the servers did not answer within drain_limit */
  int64_t absent_blocks;    /* blocks that were declared but not published in iterations in which others published the
                             * variable; of all clients after close, of this client before it */
  uint64_t bytes_published; /* by this client */
  int64_t dropped;          /* refused iterations that the servers had not begun when `drain_limit` was over */
  int64_t spilled;          /* iterations in which blocks of this client found no room and went to a file
                               (`when_full: spill`) */
  uint64_t bytes_spilled;   /* bytes of this client that went there */
} sidestream_account;

/* Waits for the outcome of everything published, frees the session and sets *session to NULL, even when it fails. It
 * waits at most `drain_limit`, then for the analysis that is running. Iterations that have not begun are dropped, and
 * then every rank returns SIDESTREAM_REFUSED. Collective over the communicator of sidestream_open. `account` may be
 * NULL. Before closing, sidestream_account_so_far gives the known counts. A session that is open when MPI_Finalize is
 * called is closed there, with a line on standard error. */
int sidestream_close(sidestream_session** session);
int sidestream_close_with_account(sidestream_session** session, sidestream_account* account);
int sidestream_account_so_far(const sidestream_session* session, sidestream_account* account);

/* The sentence for the last error of the session; with NULL, for the last failed open in this thread. Valid until the
 * next call. Never NULL. */
const char* sidestream_message(const sidestream_session* session);

/* ---- Declaring ---------------------------------------------------------------------------------------------- */

/* Sets $name for the configuration; the same on every client. Before start. */
int sidestream_set_int(sidestream_session* session, const char* name, int64_t value);
int sidestream_set_real(sidestream_session* session, const char* name, double value);

/* Declares a mesh that the file does not declare: nodes at origin + spacing * index, index from 0 to size[a].
 * `dimensions` is 1, 2 or 3; the arrays have that many entries. The same on every client. Before start. */
int sidestream_add_uniform_mesh(sidestream_session* session, const char* name, int dimensions, const int64_t* size,
                                const double* origin, const double* spacing);
/* Declares a mesh as above with listed nodes: coordinates[a] has size[a] + 1 increasing entries, copied. */
int sidestream_add_rectilinear_mesh(sidestream_session* session, const char* name, int dimensions, const int64_t* size,
                                    const double* const* coordinates);
/* Declares a mesh of size[a] cells along each axis whose nodes have arbitrary positions. `coordinates` names the
 * variable, at nodes, with the positions. Blocks are boxes, as on a uniform mesh. */
int sidestream_add_curvilinear_mesh(sidestream_session* session, const char* name, int dimensions, const int64_t* size,
                                    const char* coordinates);
/* Declares a mesh of cells of any of VTK's types in a space of `dimensions` dimensions. The names are the names of its
 * variables (see sidestream_role); polyhedra also need SIDESTREAM_FACES and _FACE_OFFSETS. Blocks are lists:
 * sidestream_set_block_list. */
int sidestream_add_unstructured_mesh(sidestream_session* session, const char* name, int dimensions,
                                     const char* coordinates, const char* connectivity, const char* offsets,
                                     const char* types);
/* Declares a mesh of points only (particles, markers), whose number may change in every iteration. Blocks are lists. */
int sidestream_add_points_mesh(sidestream_session* session, const char* name, int dimensions, const char* coordinates);
/* Declares trees over a box of roots[a] root cells along each axis, of size spacing[a], starting at origin[a]. A block
 * lists the cells of its tree, including parents, level by level. All root cells come first, x fastest. The children of
 * the refined root cells follow in the same order, 2 along each axis, x fastest. The further levels follow in the same
 * way. `refined` names the variable that marks refined cells; SIDESTREAM_OWNED can mark the cells that count in this
 * block. Blocks are lists of cells only; variables lie in cells. */
int sidestream_add_octree_mesh(sidestream_session* session, const char* name, int dimensions, const int64_t* roots,
                               const double* origin, const double* spacing, const char* refined);
/* Declares an unstructured mesh of spectral elements and its variables, which set_spectral_block fills: NAME_place,
 * _corners, _ends, _kinds, _number (point_ids; only if `continuous` is not 0) and _mass. An element is shown as lines,
 * quadrilaterals or hexahedra between its points. NAME_mass is the volume of a point, for weights and integrals: its
 * quadrature weight times the Jacobian. If the mesh is continuous, points at one place count once and have their whole
 * volume; otherwise (discontinuous Galerkin) elements share nothing. */
int sidestream_add_spectral_mesh(sidestream_session* session, const char* name, int dimensions, int continuous);
/* Gives a variable of the mesh a role. The same on every client. Before start. */
int sidestream_set_mesh_array(sidestream_session* session, const char* mesh, sidestream_role role,
                              const char* variable);
/* Change a mesh that was declared by a call or by its blocks (sidestream_set_rectilinear_block; then start finds
 * errors). `periodic` has 3 entries; if one is not 0, the axis continues at its other end. `ratios` has 3 entries for
 * each of `steps` refinement steps: the number of cells of level l + 1 along one cell of level l. `fixed`: its blocks
 * never change after the start. `owned_points`, of a uniform or rectilinear mesh of one level: no two blocks have
 * points in common. The size of a uniform mesh and the boxes of all blocks then count points instead of cells; a
 * rectilinear mesh has a coordinate for each point, and one more on a periodic axis, where it ends. The same on every
 * client. Before start. */
int sidestream_set_periodic(sidestream_session* session, const char* mesh, const int* periodic);
int sidestream_set_refinement(sidestream_session* session, const char* mesh, int steps, const int64_t* ratios);
int sidestream_set_fixed(sidestream_session* session, const char* mesh);
int sidestream_set_owned_points(sidestream_session* session, const char* mesh);
/* Declares a variable that the file does not declare. The same on every client. Before start. */
int sidestream_add_variable(sidestream_session* session, const char* name, const char* mesh, sidestream_type type,
                            sidestream_centering centering, int components, sidestream_order order);
/* Sets an attribute of a declared variable: "unit", "label" or "group" to a text, "time_varying" to "true" or
 * "false", "ghosts" to "filled" or "untrusted". Filled means that a published array has the values of other blocks at
 * points that they own (see sidestream_set_allocated), with exactly the bits that they publish. That includes points
 * around a periodic mesh and nodes that both blocks have. Analyses' halos are then read there; otherwise nothing reads
 * ghosts. For values in cells of octrees there are also "parent", "equals", "face", "opposite" and "divergence_free",
 * as in the configuration. Lists have spaces between the entries. */
int sidestream_set_variable_attribute(sidestream_session* session, const char* variable, const char* attribute,
                                      const char* value);

/* Declares a block of this client, or changes it from the current iteration on: the cells [lo, hi) of `mesh` that it
 * owns. Ids are unique over all clients of a mesh. lo and hi have 3 entries; on unused axes [0, 1). May be called
 * before or after start, but not between the publications of one iteration that concern the block. Changing a block
 * drops its arrays that do not vary in time and resets its allocated boxes: call sidestream_set_allocated
 * afterwards. */
int sidestream_set_block(sidestream_session* session, const char* mesh, int64_t block, const int64_t* lo,
                         const int64_t* hi);
/* Declares a block as above on a refinement level, 0 being the coarsest: lo and hi count the cells of that level.
 * Ids are unique over all levels of the mesh. Blocks of one level do not overlap. Cells of a coarser level under them
 * are `covered` and do not count. */
int sidestream_set_block_on_level(sidestream_session* session, const char* mesh, int64_t block, int level,
                                  const int64_t* lo, const int64_t* hi);
/* Declares a block of an unstructured mesh or of points, or changes its lengths from the current iteration on:
 * numbers of points, of cells (for points: the same), of entries of the connectivity and of faces (0 where there are
 * none). `bounds` is NULL or has the bounds of its points (xmin, ymin, zmin, xmax, ymax, zmax). With bounds, only
 * blocks that a plane meets need to move. Arrays that do not vary in time are kept if no length changes. */
int sidestream_set_block_list(sidestream_session* session, const char* mesh, int64_t block, int64_t points,
                              int64_t cells, int64_t corners, int64_t faces, const double* bounds);
/* Sets the bounds of the points of a block from the current iteration on. For curvilinear and unstructured meshes
 * and for points; `bounds` as above. */
int sidestream_set_block_bounds(sidestream_session* session, const char* mesh, int64_t block, const double* bounds);
int sidestream_remove_block(sidestream_session* session, const char* mesh, int64_t block);
/* Declares all blocks of this client on a mesh, from the current iteration on: `count` blocks with these ids, levels
 * (NULL: all on level 0) and boxes; lo and hi have 3 entries for each block. For codes that regrid: blocks that are
 * missing in the list are removed, new and changed ones are declared as by set_block_on_level. Blocks that are the same
 * stay as they are, with their arrays that do not vary in time, allocated boxes and handles. `count` may be 0. Not
 * collective. Call it before start, or between two ends of iterations, before arrays of removed or changed blocks are
 * published. Arrays of unchanged blocks may have been published already. If a block cannot be removed or changed, or an
 * entry of the list is wrong, nothing changes and, after the start, the iteration is refused. */
int sidestream_replace_blocks(sidestream_session* session, const char* mesh, int64_t count, const int64_t* blocks,
                              const int* levels, const int64_t* lo, const int64_t* hi);
/* Does the same for blocks that are lists, with one entry for each block of what set_block_list takes. `cells`,
 * `corners`, `faces`, `bounds` may be NULL: as many cells as points, none, none, not known. `bounds` has 6 entries for
 * each block. */
int sidestream_replace_block_lists(sidestream_session* session, const char* mesh, int64_t count, const int64_t* blocks,
                                   const int64_t* points, const int64_t* cells, const int64_t* corners,
                                   const int64_t* faces, const double* bounds);
/* Declares a block of a rectilinear mesh that no call declares as a whole, and its part of the coordinates. Works like
 * sidestream_set_block; nodes[a] has the increasing positions of the block's hi[a] - lo[a] + 1 nodes along axis a,
 * which are copied. `nodes` has 3 entries, NULL for the axes that the mesh does not use. Call it before start, in which
 * the clients assemble the axes. Cells count from 0 to the highest that a block has, and some block must give every
 * node. If blocks give the same node, their numbers may differ by rounding (1e-6 of the distance to the next node); the
 * lowest number counts. */
int sidestream_set_rectilinear_block(sidestream_session* session, const char* mesh, int64_t block, const int64_t* lo,
                                     const int64_t* hi, const double* const* nodes);

/* Declares a block of a mesh of spectral elements: `elements` of that order along each axis of the mesh, each with its
 * (order + 1)^dimensions Gauss-Lobatto-Legendre points, the first axis fastest. x, y and z have the positions of the
 * points, element by element, and are copied; NULL for axes that the mesh does not have. `numbers` (NULL: counted over
 * the clients and their blocks) is the number of each element, unique in the mesh. The numbers of its points follow
 * from it, so that results do not depend on the distribution of elements. Call it before start, in which the clients
 * find the points that they share: points at the same place, to a hundredth of the smallest distance of points in an
 * element.
 * Values at the points (`centering: node`) are then published as they lie in memory: a copy for each element. */
int sidestream_set_spectral_block(sidestream_session* session, const char* mesh, int64_t block, int order,
                                  int64_t elements, const int64_t* numbers, const double* x, const double* y,
                                  const double* z);

/* Sets the indices [lo, hi) that this variable's arrays cover on this block, ghosts included. They count points of the
 * variable; on each axis on which these are nodes, there is one more than cells. Default: exactly the points of the
 * block's cells. */
int sidestream_set_allocated(sidestream_session* session, const char* variable, int64_t block, const int64_t* lo,
                             const int64_t* hi);

/* Freezes the declarations. Collective over the clients. All checks that need the declarations happen here. */
int sidestream_start(sidestream_session* session);

/* ---- Publishing --------------------------------------------------------------------------------------------- */

/* Copies one block's values (the allocated box, contiguous, in the variable's order). The array may be changed at
 * once. A block is published at most once per iteration. With `when_full: skip` and no room: SIDESTREAM_REFUSED, and
 * the rest of the iteration is dropped. Arrays that do not vary in time are also accepted in a refused iteration and
 * count from then on. With `skip` and no room they are kept and handed over later. If their publication fails,
 * iterations are refused until they have been published again, so that no server sees some clients' new arrays next to
 * others' old ones. */
int sidestream_publish(sidestream_session* session, const char* variable, int64_t block, const void* data);

/* Publishes with a check: `data` has `count` numbers of `type`; each component counts as a number. If the variable has
 * another type, or the allocated box has another number of them, the call returns SIDESTREAM_ERROR_USAGE and refuses
 * the iteration. Nothing is read beyond the array's end. SIDESTREAM_TYPE_OF(data) is the type that a pointer points to.
 */
int sidestream_publish_values(sidestream_session* session, const char* variable, int64_t block, sidestream_type type,
                              const void* data, int64_t count);

/* Looks a variable and block up once, for programs that publish many small blocks. The handle is valid until the
 * block is removed. */
typedef int64_t sidestream_handle;
int sidestream_get_handle(sidestream_session* session, const char* variable, int64_t block, sidestream_handle* handle);
int sidestream_publish_handle(sidestream_session* session, sidestream_handle handle, const void* data);
/* Publishes with a check, as publish_values. */
int sidestream_publish_handle_values(sidestream_session* session, sidestream_handle handle, sidestream_type type,
                                     const void* data, int64_t count);
/* Publishes several variables or blocks in one call, data[n] for handles[n]. All are tried; the first code that is
 * not SIDESTREAM_OK is returned. */
int sidestream_publish_handles(sidestream_session* session, int count, const sidestream_handle* handles,
                               const void* const* data);

/* Publishes from an array with gaps: strides in elements for i, j, k and component. `data` is the element at the
 * lower corner of the allocated box. */
int sidestream_publish_strided(sidestream_session* session, const char* variable, int64_t block, const void* data,
                               const int64_t strides[4]);

/* Publishes a variable of `count` components from one array per component. Each is contiguous in the variable's
 * order and covers the allocated box. Costs more than publish: in the buffer the components of a point are
 * interleaved. */
int sidestream_publish_components(sidestream_session* session, const char* variable, int64_t block, int count,
                                  const void* const* components);

/* Publishes several variables of one block in one call, by name. All are tried; the first code that is not
 * SIDESTREAM_OK is returned, and its sentence kept. In C:
 *   sidestream_publish_block(s, 0, 2, (const char*[]){"density", "energy"}, (const void*[]){rho, e}); */
int sidestream_publish_block(sidestream_session* session, int64_t block, int count, const char* const* variables,
                             const void* const* data);

/* Publishes an array as the language of the program describes it, checked against the declarations; for bindings.
 * The elements are of `type`; axis n of `rank` has extents[n] elements, strides[n] apart (in elements; may be
 * negative); `data` is the first element. The axes are those of the mesh (lists: 1) in the order i, j, k, and one
 * for the components. The axis of components has the number `component_axis`, counted from 0; a negative number means
 * the last axis. It may be left out if the variable has one component. Signed and unsigned integers of one size are
 * interchangeable. If the type or an extent differs from the allocated box, the call returns SIDESTREAM_ERROR_USAGE and
 * refuses the iteration. A contiguous array in the variable's order costs what publish costs. */
int sidestream_publish_array(sidestream_session* session, const char* variable, int64_t block, sidestream_type type,
                             const void* data, int rank, const int64_t* extents, const int64_t* strides,
                             int component_axis);

/* Publishes one array per component like publish_components, described as for publish_array; for bindings. All have
 * this type, these extents and these strides, with the axes of the mesh only. components[n] is the first element of
 * component n. */
int sidestream_publish_component_arrays(sidestream_session* session, const char* variable, int64_t block,
                                        sidestream_type type, int count, const void* const* components, int rank,
                                        const int64_t* extents, const int64_t* strides);

/* Publishes without a copy. alloc gives memory for the block's values in this iteration, 64-byte aligned, with
 * undefined contents. The simulation fills it, then commits. After commit the client may read it until clear; the
 * memory is freed after clear and the servers' release. clear also frees memory that was allocated and not committed.
 */
int sidestream_alloc(sidestream_session* session, const char* variable, int64_t block, void** data);
/* Allocates with a check: `count` numbers of `type` are compared with the declaration, see publish_values. */
int sidestream_alloc_values(sidestream_session* session, const char* variable, int64_t block, sidestream_type type,
                            int64_t count, void** data);
int sidestream_commit(sidestream_session* session, const char* variable, int64_t block);
int sidestream_clear(sidestream_session* session, const char* variable, int64_t block);

/* Allocates like alloc and describes the memory; for bindings. Fails if the variable's elements are not of `type`, or
 * its arrays do not have `rank` axes. These are the axes of the mesh and, if there are several components, one for
 * them. Sets block, type, components, lo, hi, strides and data of *array, whose struct_size the caller has set; the
 * rest of it is zero. */
int sidestream_alloc_array(sidestream_session* session, const char* variable, int64_t block, sidestream_type type,
                           int rank, struct sidestream_block* array);

/* Keeps memory of alloc in place, for languages in which an array lives as long as it is referenced. Memory from
 * alloc that is not cleared stays in place, even after the session was closed, until sidestream_release_memory has been
 * called equally often. That may be done after MPI_Finalize; NULL does nothing. */
typedef struct sidestream_memory sidestream_memory;
int sidestream_keep_memory(sidestream_session* session, sidestream_memory** memory);
void sidestream_release_memory(sidestream_memory* memory);

/* The declaration of a variable, by the file or by a call, for bindings: the order of its arrays and their number of
 * axes. The caller sets struct_size. Needs the session to have started, and starts it as publish does. */
typedef struct {
  size_t struct_size;
  sidestream_type type;
  sidestream_centering centering;
  sidestream_order order;
  int32_t components;
  int32_t axes; /* number of axes of its arrays, without the axis of components: that of the mesh, or 1 if blocks are
                 * lists */
} sidestream_description;
int sidestream_describe_variable(sidestream_session* session, const char* variable,
                                 sidestream_description* description);

/* Sets *needed to 0 if nothing that the servers run reads the variable in the open iteration, so that it need not be
 * published; otherwise to 1, also where that cannot be known before. `cycle`, which may be NULL, is the one that
 * end_iteration will get. See Session::is_needed in sidestream.hpp, whose words hold here. */
int sidestream_is_needed(sidestream_session* session, const char* variable, const int64_t* cycle, int* needed);

/* Raises the named event in this iteration: analyses with `on: name` run. Any client may. */
int sidestream_signal(sidestream_session* session, const char* event);

/* The servers that see an event: the server of the client that raises it, also the servers on its node, or all servers.
 */
typedef enum { SIDESTREAM_SCOPE_SERVER = 0, SIDESTREAM_SCOPE_NODE = 1, SIDESTREAM_SCOPE_ALL = 2 } sidestream_scope;

/* Raises an event like sidestream_signal, with `count` values that analyses find among their events: at most 1024
 * bytes; `values` may be NULL if `count` is 0. It never waits for others. All servers have all events in one order.
 * Each event takes effect in the client's iteration or, if that is refused, in the next iteration that is not. */
int sidestream_signal_values(sidestream_session* session, const char* event, sidestream_scope scope,
                             sidestream_type type, const void* values, int64_t count);
/* Reaches a barrier that is named by an event; the call does not wait. The event is raised on all servers, in the
 * iteration in which the last client reached the barrier. A client may reach it again before the others have; that
 * counts for the next time.
 */
int sidestream_signal_barrier(sidestream_session* session, const char* event);

/* The value of a parameter that the configuration declares under `steering:`. A person (`sidestream set`) or an
 * analysis may change it while the program runs. It is the value at the last end_iteration. It is the same on every
 * client that has ended equally many iterations, so that ranks may base common decisions on it. Before the first
 * end_iteration it is the default. The type is that of the declaration. Does not communicate. Needs a started session:
 * call it after sidestream_start or, without that, after the first end_iteration. */
int sidestream_get_int(sidestream_session* session, const char* name, int64_t* value);
int sidestream_get_real(sidestream_session* session, const char* name, double* value);

/* Returns 1 if the run was told to end (section `ending:` of the configuration) and the last end_iteration ended its
 * last iteration: leave the loop and close. Returns 0 otherwise, also before start, on a server, and with `placement:
 * off`. It is the same on every client that has ended equally many iterations. Does not communicate. Once it is 1, it
 * stays 1. */
int sidestream_should_end(const sidestream_session* session);

/* Ends the iteration. Every client calls it for every iteration, published or not, with the same cycle; the time of
 * the first client counts. It does not communicate with other clients, except with `inline`. Then the servers are the
 * same ranks and run the analyses in this call, which is collective. Returns SIDESTREAM_REFUSED if this client refused
 * the iteration. Returns SIDESTREAM_ERROR_ANALYSIS once if a server failed since the last call and `on_error: stop`;
 * the iteration has ended then as well. Clients may learn of the failure in different iterations. A simulation whose
 * ranks communicate must agree on it before it leaves its loop. */
int sidestream_end_iteration(sidestream_session* session, int64_t cycle, double time);

/* ---- Analyses of the program itself ------------------------------------------------------------------------- */

/* One block of one variable on a server, valid during the callback. Boxes in points of the variable. */
typedef struct sidestream_block {
  size_t struct_size;
  int64_t block;
  int32_t level;
  int32_t client;
  sidestream_type type;
  int32_t components;
  int64_t owned_lo[3], owned_hi[3]; /* the points of the block's cells that count as this block's; see `owned_is_box` */
  int32_t owned_is_box;             /* 0: shared nodes make the owned points not a box; owned_lo and owned_hi bound them
                                     */
  int64_t lo[3], hi[3];             /* the indices that the array covers */
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

/* Events with values, and barriers, that this server sees in this iteration. All servers have them in the same
 * order. */
typedef struct {
  size_t struct_size;
  const char* name;
  int32_t client; /* the client that raised it; -1: all, at a barrier */
  sidestream_scope scope;
  int64_t raised; /* the client's iteration, which is earlier than this one if it was refused */
  sidestream_type type;
  int64_t count; /* number of values */
  const void* values;
} sidestream_event;
int64_t sidestream_input_events(const sidestream_input* input);
int sidestream_input_event(const sidestream_input* input, int64_t n, sidestream_event* event);

/* A function of the program as an analysis, used in the configuration as `name: {variables: [...]}`. `local` runs on
 * every server and must not communicate. It writes at most `partial_bytes` bytes to `partial`, which is zeroed before.
 * Then `combine` (may be NULL) runs on every server, collective over servers. It gets this server's partial and can
 * read the same blocks, unless other servers have reduced (`forward: partials`). Both return 0, or non-zero after
 * writing a sentence to `message` (512 bytes). Register it on every rank, servers too, before serve/start. `merge` adds
 * the partial `other` to `partial`, in any order. With `forward: partials`, a server gets the merged partials of
 * several forwarders. If it has no forwarders, it gets the partial of `local` for no blocks. Without `merge` (NULL),
 * that placement is refused at the start if there is a `combine`. */
typedef struct {
  size_t struct_size;
  const char* name;
  size_t partial_bytes;
  int (*local)(const sidestream_input* input, void* partial, char* message, void* user);
  int (*combine)(const sidestream_input* input, void* partial, MPI_Comm servers, char* message, void* user);
  void* user;
  int (*merge)(void* partial, const void* other, char* message, void* user);
} sidestream_function;

int sidestream_register_function(sidestream_session* session, const sidestream_function* function);

#ifdef __cplusplus
}
#endif
#endif
