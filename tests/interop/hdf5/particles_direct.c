/* The particles of particles.c, published with Sidestream's own calls:
 *
 *   particles_direct CONFIGURATION [--grows]
 *
 * With `--grows` steps count 0, 1, 2, otherwise 0, 10, 20. */
#include <stdio.h>
#include <string.h>

#include "particles.h"
#include "sidestream/sidestream.h"

static void check(const sidestream_session* s, int code) {
  if (code == SIDESTREAM_OK) return;
  fprintf(stderr, "particles_direct: %s\n", sidestream_message(s));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void publish(sidestream_session* s, int step, int rank, int count) {
  double places[3 * most_particles];
  float masses[most_particles];
  int64_t ids[most_particles];
  for (int n = 0; n < count; ++n) {
    const struct particle one = particle_of(step, rank, n);
    memcpy(places + 3 * n, one.place, sizeof one.place);
    masses[n] = one.mass;
    ids[n] = one.id;
  }
  check(s, sidestream_publish_values(s, "gas_coordinates", rank, SIDESTREAM_FLOAT64, places, 3 * count));
  check(s, sidestream_publish_values(s, "mass", rank, SIDESTREAM_FLOAT32, masses, count));
  check(s, sidestream_publish_values(s, "id", rank, SIDESTREAM_INT64, ids, count));
}

int main(int argc, char** argv) {
  int rank, ranks, scale = 10;
  MPI_Init(&argc, &argv);
  for (int n = 2; n < argc; ++n) {
    if (strcmp(argv[n], "--grows") == 0) scale = 1;
  }
  sidestream_session* s = NULL;
  check(NULL, argc < 2 ? SIDESTREAM_ERROR_USAGE : sidestream_open(MPI_COMM_WORLD, argv[1], &s));
  MPI_Comm_rank(sidestream_comm(s), &rank);
  MPI_Comm_size(sidestream_comm(s), &ranks);
  check(s, sidestream_add_points_mesh(s, "gas", 3, "gas_coordinates"));
  check(s, sidestream_add_variable(s, "gas_coordinates", "gas", SIDESTREAM_FLOAT64, SIDESTREAM_NODE, 3,
                                   SIDESTREAM_COLUMN));
  check(s, sidestream_add_variable(s, "id", "gas", SIDESTREAM_INT64, SIDESTREAM_NODE, 1, SIDESTREAM_COLUMN));
  check(s, sidestream_add_variable(s, "mass", "gas", SIDESTREAM_FLOAT32, SIDESTREAM_NODE, 1, SIDESTREAM_COLUMN));
  for (int step = 0; step < particle_steps; ++step) {
    const int64_t block = rank, count = particles_of(step, rank, ranks);
    check(s, sidestream_replace_block_lists(s, "gas", count > 0 ? 1 : 0, &block, &count, NULL, NULL, NULL, NULL));
    if (step == 0) check(s, sidestream_start(s));
    if (count > 0) publish(s, step, rank, (int)count);
    check(s, sidestream_end_iteration(s, scale * step, 0.25 * step));
  }
  check(NULL, sidestream_close(&s));
  MPI_Finalize();
  return 0;
}
