/* An analysis in a shared library, written in C: options of its own, a halo, two passes and a table of any length.
 *
 * For each layer of points across an axis, `steepest` finds the greatest difference of a variable between neighbours,
 * and how many points have at least `fraction` of it. Maxima and counts do not depend on the order of the
 * points, so the table has the same bytes in every placement. */
#include <math.h>
#include <sidestream/analysis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *variable, *file;
  int axis;
  double fraction;
  int64_t layers;  /* of the whole mesh */
  double* highest; /* result of pass 0, by layer */
} steepest;

static int create(const sidestream_settings* settings, const sidestream_metadata* metadata, void* user, void** object,
                  char* message) {
  (void)user;
  const char* axis = "z";
  steepest* s = calloc(1, sizeof *s);
  if (s == NULL) return 1;
  *object = s;
  sidestream_setting_text(settings, "variable", 0, &s->variable);
  sidestream_setting_text(settings, "file", 0, &s->file);
  sidestream_setting_text(settings, "axis", 0, &axis);
  sidestream_setting_real(settings, "fraction", 0, &s->fraction);
  s->axis = axis[0] - 'x';
  sidestream_variable_info info = {.struct_size = sizeof info};
  sidestream_variable(metadata, s->variable, &info);
  if (s->axis >= info.dimensions) {
    snprintf(message, SIDESTREAM_MESSAGE_BYTES,
             "found the axis %s and the variable '%s' on a mesh of %d dimensions, expected an axis that it has; "
             "choose another",
             axis, s->variable, (int)info.dimensions);
    free(s);
    return 1;
  }
  s->layers = info.hi[s->axis];
  s->highest = calloc((size_t)s->layers, sizeof(double));
  if (s->highest != NULL) return 0;
  free(s);
  return 1;
}

static void destroy(void* object) {
  steepest* s = object;
  if (s != NULL) free(s->highest);
  free(s);
}

static int choose(void* object, sidestream_selection* selection, int* passes, char* message) {
  (void)message;
  const steepest* s = object;
  *passes = 2;
  return sidestream_select(selection, s->variable, 1);
}

/* The greatest difference between point `at` and its neighbours, in a box extended by one point on every side.
 * Points outside the mesh are NaN, which fmax ignores. */
static double slope(const double* values, const int64_t extent[3], int64_t at) {
  const int64_t step[3] = {1, extent[0], extent[0] * extent[1]};
  double most = 0;
  for (int a = 0; a < 3; ++a) {
    most = fmax(most, fabs(values[at + step[a]] - values[at]));
    most = fmax(most, fabs(values[at] - values[at - step[a]]));
  }
  return most;
}

/* The work of a pass on a point: pass 0 keeps the greatest difference of each layer, pass 1 counts. */
static void take(const steepest* s, int pass, int64_t layer, double found, double* highest, int64_t* points) {
  if (pass == 0) {
    highest[layer] = fmax(highest[layer], found);
  } else if (s->highest[layer] > 0 && found >= s->fraction * s->highest[layer]) {
    ++points[layer];
  }
}

static int take_box(const steepest* s, const sidestream_input* input, int64_t n, const int64_t lo[3],
                    const int64_t hi[3], void* partial) {
  int64_t from[3], to[3], extent[3], p[3], size = 1;
  for (int a = 0; a < 3; ++a) {
    from[a] = lo[a] - 1;
    to[a] = hi[a] + 1;
    extent[a] = to[a] - from[a];
    size *= extent[a];
  }
  double* values = malloc((size_t)size * sizeof(double));
  if (values == NULL || sidestream_block_gather(input, s->variable, n, from, to, 0, values) < 0) {
    free(values);
    return 1;
  }
  for (p[2] = lo[2]; p[2] < hi[2]; ++p[2])
    for (p[1] = lo[1]; p[1] < hi[1]; ++p[1])
      for (p[0] = lo[0]; p[0] < hi[0]; ++p[0]) {
        const int64_t at = (p[0] - from[0]) + extent[0] * ((p[1] - from[1]) + extent[1] * (p[2] - from[2]));
        take(s, sidestream_input_pass(input), p[s->axis], slope(values, extent, at), partial, partial);
      }
  free(values);
  return 0;
}

/* Both kinds of partials have eight bytes per layer: doubles in pass 0, counts in pass 1. */
static int local(void* object, const sidestream_input* input, sidestream_bytes* partial, char* message) {
  steepest* s = object;
  size_t size = 0;
  const void* feedback = sidestream_input_feedback(input, &size);
  if (sidestream_input_pass(input) == 1) memcpy(s->highest, feedback, size);
  void* layers = sidestream_bytes_resize(partial, (size_t)s->layers * 8);
  int failed = layers == NULL;
  const int64_t blocks = sidestream_input_blocks(input, s->variable);
  for (int64_t n = 0; n < blocks && !failed; ++n) {
    const int64_t boxes = sidestream_block_owned_count(input, s->variable, n);
    for (int64_t b = 0; b < boxes && !failed; ++b) {
      int64_t lo[3], hi[3];
      failed = sidestream_block_owned(input, s->variable, n, b, lo, hi) || take_box(s, input, n, lo, hi, layers);
    }
  }
  if (failed)
    snprintf(message, SIDESTREAM_MESSAGE_BYTES, "no memory for a block of '%s'; use more servers", s->variable);
  return failed;
}

/* Merges any number of partials, also none, over the servers. */
static void merge_reals(const sidestream_input* input, double* all, int64_t count) {
  memset(all, 0, (size_t)count * sizeof *all);
  for (int64_t n = 0; n < sidestream_input_partials(input); ++n) {
    const double* part = sidestream_input_partial(input, n, NULL);
    for (int64_t k = 0; k < count; ++k) all[k] = fmax(all[k], part[k]);
  }
  MPI_Allreduce(MPI_IN_PLACE, all, (int)count, MPI_DOUBLE, MPI_MAX, sidestream_input_servers(input));
}

static void merge_counts(const sidestream_input* input, int64_t* all, int64_t count) {
  memset(all, 0, (size_t)count * sizeof *all);
  for (int64_t n = 0; n < sidestream_input_partials(input); ++n) {
    const int64_t* part = sidestream_input_partial(input, n, NULL);
    for (int64_t k = 0; k < count; ++k) all[k] += part[k];
  }
  MPI_Allreduce(MPI_IN_PLACE, all, (int)count, MPI_INT64_T, MPI_SUM, sidestream_input_servers(input));
}

static int add_rows(const steepest* s, sidestream_results* results, const int64_t* points) {
  int64_t* layer = malloc((size_t)s->layers * sizeof *layer);
  if (layer == NULL) return 1;
  for (int64_t k = 0; k < s->layers; ++k) layer[k] = k;
  const sidestream_column columns[] = {{"layer", SIDESTREAM_COLUMN_INT, layer},
                                       {"steepest", SIDESTREAM_COLUMN_REAL, s->highest},
                                       {"points", SIDESTREAM_COLUMN_INT, points}};
  const int code = sidestream_add_table(results, s->file, 3, columns, s->layers);
  free(layer);
  return code;
}

static int combine(void* object, const sidestream_input* input, sidestream_results* results, sidestream_bytes* feedback,
                   char* message) {
  steepest* s = object;
  (void)message; /* a refusal by a function of Sidestream is reported with its own message */
  if (sidestream_input_pass(input) == 0) {
    merge_reals(input, s->highest, s->layers);
    return sidestream_bytes_append(feedback, s->highest, (size_t)s->layers * sizeof *s->highest);
  }
  int64_t* points = calloc((size_t)s->layers, sizeof *points);
  if (points == NULL) return 1;
  merge_counts(input, points, s->layers);
  const int code = add_rows(s, results, points);
  free(points);
  return code;
}

static const char* const axes[] = {"x", "y", "z", NULL};
static const double zero = 0, one = 1;
static const sidestream_option options[] = {{.struct_size = sizeof(sidestream_option),
                                             .name = "variable",
                                             .type = SIDESTREAM_OPTION_VARIABLE,
                                             .required = 1,
                                             .text = "The variable, its first component."},
                                            {.struct_size = sizeof(sidestream_option),
                                             .name = "axis",
                                             .type = SIDESTREAM_OPTION_CHOICE,
                                             .choices = axes,
                                             .default_value = "z",
                                             .text = "The axis across which the layers lie."},
                                            {.struct_size = sizeof(sidestream_option),
                                             .name = "fraction",
                                             .type = SIDESTREAM_OPTION_REAL,
                                             .minimum = &zero,
                                             .maximum = &one,
                                             .default_value = "0.5",
                                             .text = "Points with at least this part of the greatest count."},
                                            {.struct_size = sizeof(sidestream_option),
                                             .name = "file",
                                             .type = SIDESTREAM_OPTION_FILE,
                                             .default_value = "steepest.csv",
                                             .text = "The table, one row for each layer."}};
static const sidestream_analysis steepest_analysis = {
    .struct_size = sizeof(sidestream_analysis),
    .name = "steepest",
    .text = "The greatest difference between neighbours in each layer of a mesh, and how many points come near it.",
    .options = options,
    .option_bytes = sizeof *options,
    .option_count = sizeof options / sizeof *options,
    .create = create,
    .destroy = destroy,
    .select = choose,
    .local = local,
    .combine = combine};

SIDESTREAM_C_PLUGIN(&steepest_analysis)
