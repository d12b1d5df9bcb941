/* An analysis in C for the tests. It asks for a variable of mesh_program at nodes, in pencils and also in the blocks
 * that were published, and adds up complete lines. */
#include <sidestream/analysis.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  const char* variable;
  int64_t axis;
} lines;

static int create(const sidestream_settings* settings, const sidestream_metadata* metadata, void* user, void** object,
                  char* message) {
  (void)metadata, (void)user, (void)message;
  lines* l = calloc(1, sizeof *l);
  *object = l;
  return l == NULL || sidestream_setting_text(settings, "variable", 0, &l->variable) ||
         sidestream_setting_int(settings, "axis", 0, &l->axis);
}

static int choose(void* object, sidestream_selection* selection, int* passes, char* message) {
  (void)passes, (void)message;
  const lines* l = object;
  return sidestream_select(selection, l->variable, 0) || sidestream_select_ghosts(selection, 1) ||
         sidestream_select_pieces(selection, l->variable, 1, SIDESTREAM_PENCILS, (int)l->axis) ||
         sidestream_select_wrap(selection, 0);
}

static int is_absent(const sidestream_input* pencil, const char* variable, const int64_t p[3]) {
  for (int64_t b = 0; b < sidestream_block_absent_count(pencil, variable, 0); ++b) {
    int64_t lo[3], hi[3];
    int inside = sidestream_block_absent(pencil, variable, 0, b, lo, hi) == SIDESTREAM_OK;
    for (int a = 0; a < 3; ++a) inside = inside && p[a] >= lo[a] && p[a] < hi[a];
    if (inside) return 1;
  }
  return 0;
}

/* Adds the first component along the line through the point, unless a point of the line is absent. */
static void add_line(const sidestream_input* pencil, const lines* l, const sidestream_block* b, int64_t p[3],
                     const int64_t end[3], int64_t found[2]) {
  int64_t sum = 0;
  for (p[l->axis] = 0; p[l->axis] < end[l->axis]; ++p[l->axis]) {
    if (is_absent(pencil, l->variable, p)) return;
    int64_t at = 0;
    for (int a = 0; a < 3; ++a) at += (p[a] - b->lo[a]) * b->strides[a];
    sum += (int64_t)((const double*)b->data)[at];
  }
  ++found[0];
  found[1] += sum;
}

/* Adds the pencil's own lines, which no other pencil counts. */
static int add_lines(const lines* l, const sidestream_input* input, int64_t found[2], char* message) {
  const sidestream_input* pencil = sidestream_input_entry(input, 1);
  int64_t lo[3], hi[3];
  int servers = 0;
  const int server = sidestream_input_server(input, &servers);
  if (pencil == NULL || sidestream_input_entry(input, 2) != NULL || server < 0 || server >= servers ||
      sidestream_input_blocks(input, l->variable) !=
          sidestream_input_blocks(sidestream_input_entry(input, 0), l->variable)) {
    snprintf(message, SIDESTREAM_MESSAGE_BYTES, "what was selected is not there");
    return 1;
  }
  if (sidestream_input_blocks(pencil, l->variable) == 1) {
    sidestream_block b = {.struct_size = sizeof b};
    sidestream_input_block(pencil, l->variable, 0, &b);
    sidestream_block_points(pencil, l->variable, 0, lo, hi);
    if (b.block != -1 - server || b.type != SIDESTREAM_FLOAT64) {
      snprintf(message, SIDESTREAM_MESSAGE_BYTES, "the pencil is block %lld", (long long)b.block);
      return 1;
    }
    /* Two neighbours share the nodes between them. The upper one counts them, by `owned`. */
    int64_t own[3] = {hi[0], hi[1], hi[2]}, box_lo[3], box_hi[3], most[3] = {0, 0, 0};
    for (int64_t n = 0; n < sidestream_block_owned_count(pencil, l->variable, 0); ++n) {
      sidestream_block_owned(pencil, l->variable, 0, n, box_lo, box_hi);
      for (int a = 0; a < 3; ++a) most[a] = box_hi[a] > most[a] ? box_hi[a] : most[a];
    }
    const int u = (int)(l->axis + 1) % 3, v = (int)(l->axis + 2) % 3;
    for (int a = 0; a < 3; ++a) own[a] = a == l->axis || most[a] > own[a] ? own[a] : most[a];
    int64_t p[3];
    for (p[u] = lo[u]; p[u] < own[u]; ++p[u]) {
      for (p[v] = lo[v]; p[v] < own[v]; ++p[v]) add_line(pencil, l, &b, p, hi, found);
    }
  }
  return 0;
}

static int local(void* object, const sidestream_input* input, sidestream_bytes* partial, char* message) {
  int64_t found[2] = {0, 0};
  return add_lines(object, input, found, message) || sidestream_bytes_append(partial, found, sizeof found);
}

/* Checks that `combine` sees the blocks of `local`, unless other processes have reduced them. */
static int look_again(const lines* l, const sidestream_input* input, char* message) {
  int64_t again[2] = {0, 0};
  if (sidestream_input_server(input, NULL) < 0) return 0;
  if (add_lines(l, input, again, message)) return 1;
  const int64_t* one = sidestream_input_partial(input, 0, NULL);
  if (sidestream_input_partials(input) == 1 && one[0] == again[0] && one[1] == again[1]) return 0;
  snprintf(message, SIDESTREAM_MESSAGE_BYTES, "combine does not see the blocks of local");
  return 1;
}

static int combine(void* object, const sidestream_input* input, sidestream_results* results, sidestream_bytes* feedback,
                   char* message) {
  (void)feedback;
  if (look_again(object, input, message)) return 1;
  int64_t all[2] = {0, 0}, servers = 0;
  int size = 0;
  for (int64_t n = 0; n < sidestream_input_partials(input); ++n) {
    const int64_t* one = sidestream_input_partial(input, n, NULL);
    all[0] += one[0], all[1] += one[1];
  }
  MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT64_T, MPI_SUM, sidestream_input_servers(input));
  MPI_Comm_size(sidestream_input_servers(input), &size);
  servers = size;
  const sidestream_column columns[] = {{"lines", SIDESTREAM_COLUMN_INT, &all[0]},
                                       {"sum", SIDESTREAM_COLUMN_INT, &all[1]},
                                       {"servers", SIDESTREAM_COLUMN_INT, &servers}};
  return sidestream_add_table(results, "lines.csv", 3, columns, 1);
}

static const sidestream_option options[] = {
    {.struct_size = sizeof(sidestream_option), .name = "variable", .type = SIDESTREAM_OPTION_VARIABLE, .required = 1},
    {.struct_size = sizeof(sidestream_option), .name = "axis", .type = SIDESTREAM_OPTION_INTEGER, .required = 1}};
static const sidestream_analysis table = {.struct_size = sizeof table,
                                          .name = "lines",
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
