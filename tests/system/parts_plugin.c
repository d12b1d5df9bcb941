/* An analysis in C whose results are spread over all servers: each has a part of a table, a surface and an array.
 *
 * `parts: {pieces: 0|1|2, rows: N}`: see sidestream_pieces. tests/system/test_pieces.py knows the formulas. */
#include <sidestream/analysis.h>
#include <stdlib.h>

typedef struct {
  const char *table, *surface, *data;
  int64_t pieces, rows;
} parts;

static int create(const sidestream_settings* settings, const sidestream_metadata* metadata, void* user, void** object,
                  char* message) {
  (void)user, (void)metadata, (void)message;
  parts* p = calloc(1, sizeof *p);
  if (p == NULL) return 1;
  *object = p;
  return sidestream_setting_text(settings, "table", 0, &p->table) ||
         sidestream_setting_text(settings, "surface", 0, &p->surface) ||
         sidestream_setting_text(settings, "data", 0, &p->data) ||
         sidestream_setting_int(settings, "pieces", 0, &p->pieces) ||
         sidestream_setting_int(settings, "rows", 0, &p->rows);
}

static int choose(void* object, sidestream_selection* selection, int* passes, char* message) {
  (void)object, (void)passes, (void)message;
  return sidestream_select(selection, "t", 0);
}

static int local(void* object, const sidestream_input* input, sidestream_bytes* partial, char* message) {
  (void)object, (void)input, (void)partial, (void)message;
  return 0;
}

static int add_table(const parts* p, sidestream_results* results, int64_t first, int64_t count) {
  int64_t* number = malloc((size_t)(count + 1) * sizeof *number);
  double* half = malloc((size_t)(count + 1) * sizeof *half);
  const char** text = malloc((size_t)(count + 1) * sizeof *text);
  int code = number == NULL || half == NULL || text == NULL;
  for (int64_t n = 0; n < count && !code; ++n) {
    number[n] = first + n, half[n] = 0.5 * (double)(first + n), text[n] = (first + n) % 2 ? "odd" : "even";
  }
  const sidestream_column columns[] = {{"number", SIDESTREAM_COLUMN_INT, number},
                                       {"half", SIDESTREAM_COLUMN_REAL, half},
                                       {"text", SIDESTREAM_COLUMN_TEXT, text}};
  if (!code) code = sidestream_add_table_part(results, p->table, 3, columns, count, (sidestream_pieces)p->pieces);
  free(number), free(half), free(text);
  return code;
}

/* A triangle for each row. */
static int add_surface(const parts* p, sidestream_results* results, int64_t first, int64_t count) {
  double* points = malloc((size_t)(9 * count + 1) * sizeof *points);
  double* row = malloc((size_t)(3 * count + 1) * sizeof *row);
  int64_t* triangles = malloc((size_t)(3 * count + 1) * sizeof *triangles);
  int code = points == NULL || row == NULL || triangles == NULL;
  for (int64_t n = 0; n < 3 * count && !code; ++n) {
    const double x = (double)(first + n / 3);
    points[3 * n] = x + (n % 3 == 1), points[3 * n + 1] = n % 3 == 2, points[3 * n + 2] = 0.25 * x;
    row[n] = x;
    triangles[n] = n;
  }
  const sidestream_column array = {"row", SIDESTREAM_COLUMN_REAL, row};
  if (!code) {
    code = sidestream_add_surface_part(results, p->surface, 3 * count, points, count, triangles, 1, &array,
                                       (sidestream_pieces)p->pieces);
  }
  free(points), free(row), free(triangles);
  return code;
}

static int add_data(const parts* p, sidestream_results* results, int64_t first, int64_t count) {
  float* values = malloc((size_t)(2 * count + 1) * sizeof *values);
  if (values == NULL) return 1;
  for (int64_t n = 0; n < 2 * count; ++n) values[n] = (float)(2 * first + n);
  static const char* const axes[] = {"row", "side"};
  const int64_t extents[] = {p->rows, 2}, start[] = {first, 0}, size[] = {count, 2};
  const sidestream_attribute attributes[] = {{"version", SIDESTREAM_COLUMN_INT, 3, 0, NULL},
                                             {"scale", SIDESTREAM_COLUMN_REAL, 0, 0.125, NULL},
                                             {"source", SIDESTREAM_COLUMN_TEXT, 0, 0, "a test"}};
  const sidestream_array array = {.struct_size = sizeof array,
                                  .name = "rows",
                                  .type = SIDESTREAM_FLOAT32,
                                  .dimensions = 2,
                                  .axes = axes,
                                  .extents = extents,
                                  .start = start,
                                  .size = size,
                                  .unit = "K",
                                  .values = values,
                                  .attributes = 3,
                                  .attribute = attributes};
  const int code = sidestream_add_data_part(results, p->data, 1, &array, (sidestream_pieces)p->pieces);
  free(values);
  return code;
}

static int combine(void* object, const sidestream_input* input, sidestream_results* results, sidestream_bytes* feedback,
                   char* message) {
  (void)feedback, (void)message;
  const parts* p = object;
  int rank, size;
  MPI_Comm_rank(sidestream_input_servers(input), &rank);
  MPI_Comm_size(sidestream_input_servers(input), &size);
  const int64_t first = p->rows * rank / size, count = p->rows * (rank + 1) / size - first;
  int code = add_table(p, results, first, count);
  if (!code) code = add_surface(p, results, first, count);
  if (!code) code = add_data(p, results, first, count);
  return code;
}

#define FILE_OPTION(option) \
  { .struct_size = sizeof(sidestream_option), .name = option, .type = SIDESTREAM_OPTION_FILE, .required = 1 }
#define NUMBER_OPTION(option) \
  { .struct_size = sizeof(sidestream_option), .name = option, .type = SIDESTREAM_OPTION_INTEGER, .required = 1 }
static const sidestream_option options[] = {FILE_OPTION("table"), FILE_OPTION("surface"), FILE_OPTION("data"),
                                            NUMBER_OPTION("pieces"), NUMBER_OPTION("rows")};
static const sidestream_analysis analysis = {.struct_size = sizeof(sidestream_analysis),
                                             .name = "parts",
                                             .options = options,
                                             .option_bytes = sizeof *options,
                                             .option_count = sizeof options / sizeof *options,
                                             .create = create,
                                             .destroy = free,
                                             .select = choose,
                                             .local = local,
                                             .combine = combine};

SIDESTREAM_C_PLUGIN(&analysis)
