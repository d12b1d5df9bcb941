/* clang-format off */
/* Restarting from a checkpoint that the output `database` has written, on any number of ranks.
 *
 *   sidestream_restart* r;
 *   sidestream_restart_open(comm, "results/restart", NULL, &r)      collective; NULL: the newest undamaged one
 *   sidestream_restart_iteration(r, &index, &cycle, &time)
 *   for each of my blocks
 *     sidestream_restart_read_box(r, "temperature", 0, lo, hi, NULL, NULL, T)
 *   sidestream_restart_close(&r)
 *
 * Needs no session. Opening is collective; then each rank reads the values that it wants, at any time, and nothing
 * else. Functions return SIDESTREAM_OK or an error code; sidestream_restart_message explains it in a sentence. Boxes
 * are half-open, in (i, j, k), in points of the variable.
 */
/* clang-format on */
#ifndef SIDESTREAM_RESTART_H
#define SIDESTREAM_RESTART_H

#include "sidestream/sidestream.h"
#include "sidestream/stored.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sidestream_restart sidestream_restart;

/* Finds the newest checkpoint in the directory of a database that is undamaged in every byte. With `cycle` (may be
 * NULL), finds the newest of that cycle. Collective over comm. Damaged checkpoints are skipped (see _remarks). The
 * ranks share the checking. If there is none, all ranks get the same error, *restart is NULL, and
 * sidestream_restart_message(NULL) says why. */
int sidestream_restart_open(MPI_Comm comm, const char* directory, const int64_t* cycle, sidestream_restart** restart);

/* Frees the checkpoint and sets *restart to NULL. Not collective. NULL is allowed. */
int sidestream_restart_close(sidestream_restart** restart);

/* The sentence of the last error; with NULL that of the last failed open of this thread. Valid until the next call. */
const char* sidestream_restart_message(const sidestream_restart* restart);

/* Remarks on skipped checkpoints, one line each; may be empty. They are the same on all ranks. */
const char* sidestream_restart_remarks(const sidestream_restart* restart);

int sidestream_restart_iteration(sidestream_restart* restart, int64_t* index, int64_t* cycle, double* time);

/* Names, numbered from 0; NULL beyond the last one. Valid until the restart is closed. */
const char* sidestream_restart_mesh_name(const sidestream_restart* restart, int32_t number);
const char* sidestream_restart_variable_name(const sidestream_restart* restart, int32_t number);

/* Describes a variable; see stored.h. */
int sidestream_restart_variable(sidestream_restart* restart, const char* variable,
                                sidestream_stored_variable* description);

/* The blocks of a mesh as they were published, by level and id. */
int sidestream_restart_block_count(sidestream_restart* restart, const char* mesh, int64_t* count);
int sidestream_restart_block(sidestream_restart* restart, const char* mesh, int64_t number,
                             sidestream_stored_block* block);

/* Hides levels finer than `deepest`, for this rank, from now on. Blocks on those levels no longer belong to the
 * mesh. Blocks of octrees then have only the cells of the levels 0 to `deepest`, which come first; `refined` is 0 on
 * the last of these levels. Only the flags of finer levels are read. A number below 0 shows all levels again. Block
 * numbers and lengths that were returned before are no longer valid. Not collective. */
int sidestream_restart_limit_levels(sidestream_restart* restart, int32_t deepest);

/* Reads the points lo to hi of a level into an array of the variable's type and order. The array is contiguous over
 * array_lo to array_hi (NULL: lo to hi). A point that several blocks had comes from the block of lowest id. Fails if a
 * point was in no block. */
int sidestream_restart_read_box(sidestream_restart* restart, const char* variable, int32_t level, const int64_t lo[3],
                                const int64_t hi[3], const int64_t* array_lo, const int64_t* array_hi, void* data);

/* Reads the values of `count` entries of a list from `first` on: count times components elements. The lists of all
 * blocks are concatenated by ascending id. */
int sidestream_restart_read_list(sidestream_restart* restart, const char* variable, int64_t first, int64_t count,
                                 void* data);

/* Reads everything that was published for one block; `bytes` must be its exact size. */
int sidestream_restart_read_block(sidestream_restart* restart, const char* variable, int64_t block, void* data,
                                  uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
