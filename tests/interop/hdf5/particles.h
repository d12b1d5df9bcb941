/* Particles whose number differs by rank and step. */
#ifndef SIDESTREAM_TESTS_HDF5_PARTICLES_H
#define SIDESTREAM_TESTS_HDF5_PARTICLES_H

#include <stdint.h>

enum { particle_steps = 4, most_particles = 64 };

/* The particles of a rank: where there are several, some have none in some steps, also in the first one. */
static int particles_of(int step, int rank, int ranks) {
  if (ranks > 1 && (step + rank) % 3 == 1) return 0;
  return 4 + 3 * rank + 2 * step;
}

struct particle {
  double place[3];
  float mass;
  int64_t id;
};

static struct particle particle_of(int step, int rank, int n) {
  const double at = n + 16 * rank;
  const struct particle made = {
      {0.25 * at, 0.5 * at - step, 2 + 0.125 * step}, (float)(1 + 0.5 * n + step), (int64_t)1000 * rank + n};
  return made;
}

#endif
