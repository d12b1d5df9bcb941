/* Model of a disk that several processes share, for benchmarks. Preloaded (LD_PRELOAD), it makes writes at a
 * position (pwrite) of 64 KiB and more take as long as on a disk of SLOW_DISK_RATE bytes per second, one after the
 * other, and SLOW_DISK_SWITCH seconds more if the last write was another process'. The disk's state is in a file
 * that all map, SLOW_DISK_STATE. Results only hold for such a disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct disk {
  int lock;
  int owner;      /* process that wrote last */
  double free_at; /* time when the disk has finished all writes */
  int64_t writes, switches;
  double seconds; /* total time of all processes in their writes */
};

static struct disk* the_disk;

static double clock_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct disk* disk(void) {
  const char* path = getenv("SLOW_DISK_STATE");
  if (the_disk || !path) return the_disk;
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(struct disk)) != 0) return NULL;
  void* memory = mmap(NULL, sizeof(struct disk), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return the_disk = memory == MAP_FAILED ? NULL : memory;
}

static void take_time(size_t bytes) {
  const size_t large = 64 << 10;
  struct disk* d = disk();
  if (!d || bytes < large) return;
  const char* rate = getenv("SLOW_DISK_RATE");
  const char* change = getenv("SLOW_DISK_SWITCH");
  const double seconds = (double)bytes / (rate ? atof(rate) : 1e8);
  while (__atomic_exchange_n(&d->lock, 1, __ATOMIC_ACQUIRE)) usleep(10);
  const int other = d->owner != getpid();
  const double entered = clock_now();
  double begin = entered;
  if (d->free_at > begin) begin = d->free_at;
  d->free_at = begin + seconds + (other && change ? atof(change) : 0);
  d->writes += 1;
  d->switches += other;
  d->owner = getpid();
  d->seconds += d->free_at - entered;
  const double until = d->free_at;
  __atomic_store_n(&d->lock, 0, __ATOMIC_RELEASE);
  double left;
  while ((left = until - clock_now()) > 0) usleep((useconds_t)(left * 1e6) + 1);
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
  static ssize_t (*real)(int, const void*, size_t, off64_t);
  if (!real) real = (ssize_t(*)(int, const void*, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  take_time(count);
  return real(file, bytes, count, at);
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) { return pwrite64(file, bytes, count, at); }
