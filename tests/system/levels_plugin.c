/* An analysis in C for the tests. It adds up ten times the values of a variable of patches_program on all blocks of one
 * refinement level. With `level: -1` it takes the blocks that are not completely covered. */
#include <math.h>
#include <sidestream/analysis.h>
#include <stdlib.h>

typedef struct {
  const char* variable;
  int64_t level;
} levels;

static int create(const sidestream_settings* settings, const sidestream_metadata* metadata, void* user, void** object,
                  char* message) {
  (void)metadata, (void)user, (void)message;
  levels* l = calloc(1, sizeof *l);
  *object = l;
  return l == NULL || sidestream_setting_text(settings, "variable", 0, &l->variable) ||
         sidestream_setting_int(settings, "level", 0, &l->level);
}

static int choose(void* object, sidestream_selection* selection, int* passes, char* message) {
  (void)passes, (void)message;
  const levels* l = object;
  if (l->level >= 0) return sidestream_select_level(selection, l->variable, 0, (int)l->level);
  return sidestream_select(selection, l->variable, 0) || sidestream_select_covered(selection, 0);
}

static void add_block(const sidestream_block* b, const int64_t lo[3], const int64_t hi[3], int64_t found[2]) {
  for (int64_t k = lo[2]; k < hi[2]; ++k) {
    for (int64_t j = lo[1]; j < hi[1]; ++j) {
      for (int64_t i = lo[0]; i < hi[0]; ++i) {
        const double v = ((const double*)b->data)[(i - b->lo[0]) * b->strides[0] + (j - b->lo[1]) * b->strides[1] +
                                                  (k - b->lo[2]) * b->strides[2]];
        ++found[0];
        if (isfinite(v)) found[1] += llround(10 * v);
      }
    }
  }
}

static int local(void* object, const sidestream_input* input, sidestream_bytes* partial, char* message) {
  (void)message;
  const levels* l = object;
  int64_t found[2] = {0, 0};
  for (int64_t n = 0; n < sidestream_input_blocks(input, l->variable); ++n) {
    sidestream_block b = {.struct_size = sizeof b};
    int64_t lo[3], hi[3];
    sidestream_input_block(input, l->variable, n, &b);
    sidestream_block_points(input, l->variable, n, lo, hi); /* includes those that do not count */
    if (l->level < 0 || b.level == l->level) add_block(&b, lo, hi, found);
  }
  return sidestream_bytes_append(partial, found, sizeof found);
}

static int combine(void* object, const sidestream_input* input, sidestream_results* results, sidestream_bytes* feedback,
                   char* message) {
  (void)object, (void)feedback, (void)message;
  int64_t all[2] = {0, 0};
  for (int64_t n = 0; n < sidestream_input_partials(input); ++n) {
    const int64_t* one = sidestream_input_partial(input, n, NULL);
    all[0] += one[0], all[1] += one[1];
  }
  MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT64_T, MPI_SUM, sidestream_input_servers(input));
  const sidestream_column columns[] = {{"cells", SIDESTREAM_COLUMN_INT, &all[0]},
                                       {"sum", SIDESTREAM_COLUMN_INT, &all[1]}};
  return sidestream_add_table(results, "level.csv", 2, columns, 1);
}

static const sidestream_option options[] = {
    {.struct_size = sizeof(sidestream_option), .name = "variable", .type = SIDESTREAM_OPTION_VARIABLE, .required = 1},
    {.struct_size = sizeof(sidestream_option), .name = "level", .type = SIDESTREAM_OPTION_INTEGER, .required = 1}};
static const sidestream_analysis table = {.struct_size = sizeof table,
                                          .name = "on_level",
                                          .text = "For the tests.",
                                          .options = options,
                                          .option_bytes = sizeof *options,
                                          .option_count = 2,
                                          .create = create,
                                          .destroy = free,
                                          .select = choose,
                                          .local = local,
                                          .combine = combine};

SIDESTREAM_C_PLUGIN(&table)
