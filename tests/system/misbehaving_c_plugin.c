/* An analysis in C that misbehaves like the one in misbehaving_plugin.cpp, and otherwise has the same result:
 * `misbehave_c: {variable: t, how: crash, at: 1}`. */
#include <sidestream/analysis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  const char *variable, *how;
  int64_t at;
} misbehave;

static int create(const sidestream_settings* settings, const sidestream_metadata* metadata, void* user, void** object,
                  char* message) {
  (void)metadata, (void)user, (void)message;
  misbehave* m = calloc(1, sizeof *m);
  *object = m;
  return m == NULL || sidestream_setting_text(settings, "variable", 0, &m->variable) ||
         sidestream_setting_text(settings, "how", 0, &m->how) || sidestream_setting_int(settings, "at", 0, &m->at);
}

static int choose(void* object, sidestream_selection* selection, int* passes, char* message) {
  (void)passes, (void)message;
  return sidestream_select(selection, ((misbehave*)object)->variable, 0);
}

static int go_wrong(const char* how, char* message) {
  fprintf(stderr, "about to %s in process %d\n", how, (int)getpid());
  if (strcmp(how, "crash") == 0) *(volatile int*)8 = 1;
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "exit") == 0) exit(0);
  while (strcmp(how, "loop") == 0) usleep(1000);
  if (strcmp(how, "refuse") != 0) return 0;
  snprintf(message, SIDESTREAM_MESSAGE_BYTES, "planned failure in C");
  return 1;
}

static int64_t count_above(const sidestream_input* input, const char* variable, int64_t block) {
  int64_t above = 0, lo[3], hi[3];
  for (int64_t box = 0; box < sidestream_block_owned_count(input, variable, block); ++box) {
    sidestream_block_owned(input, variable, block, box, lo, hi);
    const int64_t points = (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]);
    double* values = malloc((size_t)points * sizeof *values);
    if (values == NULL) return -1;
    sidestream_block_gather(input, variable, block, lo, hi, 0, values);
    for (int64_t n = 0; n < points; ++n) above += values[n] > 0;
    free(values);
  }
  return above;
}

static int local(void* object, const sidestream_input* input, sidestream_bytes* partial, char* message) {
  const misbehave* m = object;
  int64_t above = 0;
  int mine = 0;
  for (int64_t n = 0; n < sidestream_input_blocks(input, m->variable); ++n) {
    sidestream_block block = {.struct_size = sizeof block};
    sidestream_input_block(input, m->variable, n, &block);
    mine |= block.block == 0;
    above += count_above(input, m->variable, n);
  }
  if (mine && sidestream_input_index(input) == m->at && go_wrong(m->how, message)) return 1;
  return sidestream_bytes_append(partial, &above, sizeof above);
}

static int combine(void* object, const sidestream_input* input, sidestream_results* results, sidestream_bytes* feedback,
                   char* message) {
  (void)object, (void)feedback, (void)message;
  int64_t above = 0;
  for (int64_t n = 0; n < sidestream_input_partials(input); ++n) {
    above += *(const int64_t*)sidestream_input_partial(input, n, NULL);
  }
  MPI_Allreduce(MPI_IN_PLACE, &above, 1, MPI_INT64_T, MPI_SUM, sidestream_input_servers(input));
  const sidestream_column column = {"above", SIDESTREAM_COLUMN_INT, &above};
  return sidestream_add_table(results, "above.csv", 1, &column, 1);
}

static const sidestream_option options[] = {
    {.struct_size = sizeof(sidestream_option), .name = "variable", .type = SIDESTREAM_OPTION_VARIABLE, .required = 1},
    {.struct_size = sizeof(sidestream_option),
     .name = "how",
     .type = SIDESTREAM_OPTION_TEXT,
     .default_value = "nothing"},
    {.struct_size = sizeof(sidestream_option), .name = "at", .type = SIDESTREAM_OPTION_INTEGER, .default_value = "1"}};
static const sidestream_analysis kind = {.struct_size = sizeof kind,
                                         .name = "misbehave_c",
                                         .text = "For the tests: goes wrong.",
                                         .options = options,
                                         .option_bytes = sizeof *options,
                                         .option_count = 3,
                                         .create = create,
                                         .destroy = free,
                                         .select = choose,
                                         .local = local,
                                         .combine = combine};

SIDESTREAM_C_PLUGIN(&kind)
