/* An analysis in C that steers: `c_setter: {}`. It fails if a call that must be refused succeeds or lacks its sentence.
 * */
#include <sidestream/analysis.h>
#include <stdio.h>
#include <string.h>

static int choose(void* object, sidestream_selection* selection, int* passes, char* message) {
  (void)object, (void)passes, (void)message;
  return sidestream_select(selection, "t", 0);
}

/* True if a call was refused with that sentence. Clears the message. */
static int refused(int code, char* message, const char* part) {
  const int as_expected = code == SIDESTREAM_ERROR_USAGE && strstr(message, part) != NULL;
  if (!as_expected) fprintf(stderr, "error: code %d, '%s', expected '%s'\n", code, message, part);
  message[0] = 0;
  return as_expected;
}

static int local(void* object, const sidestream_input* input, sidestream_bytes* partial, char* message) {
  (void)object, (void)partial;
  return !refused(sidestream_steer_int(input, "stop", 1, message), message, "outside of `combine`");
}

static int combine(void* object, const sidestream_input* input, sidestream_results* results, sidestream_bytes* feedback,
                   char* message) {
  (void)object, (void)results, (void)feedback;
  const int64_t now = sidestream_input_index(input);
  if (!refused(sidestream_steer_int(input, "stop1", 1, message), message, "'stop'")) return 1;
  if (!refused(sidestream_steer_int(input, "stop", 7, message), message, "at most 1")) return 1;
  if (!refused(sidestream_steer_int(input, NULL, 7, message), message, "is NULL")) return 1;
  if (sidestream_steer_int(input, "stop", 7, NULL) != SIDESTREAM_ERROR_USAGE) return 1;
  if (now == 7 && sidestream_steer_real(input, "interval", 7.5, message) != SIDESTREAM_OK) return 1;
  if (now >= 12 && sidestream_steer_int(input, "stop", 1, message) != SIDESTREAM_OK) return 1;
  return 0;
}

static const sidestream_analysis analysis = {.struct_size = sizeof(sidestream_analysis),
                                             .name = "c_setter",
                                             .select = choose,
                                             .local = local,
                                             .combine = combine};

SIDESTREAM_C_PLUGIN(&analysis)
