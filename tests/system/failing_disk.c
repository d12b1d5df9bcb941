/* A disk with an error. If it is preloaded (LD_PRELOAD), FAILING_DISK_CALL (pwritev or pread) fails with EIO for files
 * in FAILING_DISK_FOLDER, from the process' FAILING_DISK_AFTERth such call on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_in_folder(int file) {
  const char* folder = getenv("FAILING_DISK_FOLDER");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (!folder || length < 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

static int fails(const char* call, int file) {
  static long calls;
  const char *which = getenv("FAILING_DISK_CALL"), *after = getenv("FAILING_DISK_AFTER");
  if (!which || strcmp(which, call) != 0 || !is_in_folder(file)) return 0;
  if (++calls <= (after ? atol(after) : 0)) return 0;
  errno = EIO;
  return 1;
}

ssize_t pwritev(int file, const struct iovec* parts, int count, off_t offset) {
  ssize_t (*real)(int, const struct iovec*, int, off_t);
  *(void**)&real = dlsym(RTLD_NEXT, "pwritev");
  return fails("pwritev", file) ? -1 : real(file, parts, count, offset);
}

ssize_t pread(int file, void* data, size_t bytes, off_t offset) {
  ssize_t (*real)(int, void*, size_t, off_t);
  *(void**)&real = dlsym(RTLD_NEXT, "pread");
  return fails("pread", file) ? -1 : real(file, data, bytes, offset);
}
