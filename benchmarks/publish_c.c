/* Counterpart of publish_python: the same publication from C, timed in C. */
#include <sidestream/sidestream.h>
#include <stdint.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Microseconds of one publication; negative if it was not taken. */
double publish_microseconds(void* session, const char* variable, int64_t block, const void* data);
double publish_microseconds(void* session, const char* variable, int64_t block, const void* data) {
  const double start = now();
  const int code = sidestream_publish(session, variable, block, data);
  return code == SIDESTREAM_OK ? now() - start : -1;
}
