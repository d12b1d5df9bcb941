/* Blocks of equal size on the leaves of a tree, and the lines (marked S) that give them to Sidestream.
 *
 * Usage: mpirun -n RANKS block_tree [CONFIGURATION]
 *
 * The unit cube has 2 x 2 x 2 blocks of N^3 cells. In each step one of them is replaced by 8 blocks of half its size,
 * also of N^3 cells. The 15 leaves tile the cube: parents have no values. Leaves are distributed along their order, so
 * that blocks change their rank when another one is refined. */
#include <math.h>
#include <mpi.h>
#include <sidestream/sidestream.h> /* S */
#include <stdio.h>

enum { N = 8, ROOTS = 8, CHILDREN = 8, LEAVES = ROOTS - 1 + CHILDREN, STEPS = 8 };

/* A leaf: its level, its lower corner in blocks of that level, and its number, which it keeps for its lifetime. */
typedef struct {
  int level;
  int64_t at[3];
  int64_t id;
} leaf;

/* The leaves in Morton order while root block `refined` has children. */
static void grow(int refined, leaf leaves[LEAVES]) {
  int count = 0;
  for (int root = 0; root < ROOTS; ++root) {
    const int64_t x = root % 2, y = root / 2 % 2, z = root / 4;
    if (root != refined) {
      leaves[count++] = (leaf){0, {x, y, z}, root};
      continue;
    }
    for (int child = 0; child < CHILDREN; ++child)
      leaves[count++] =
          (leaf){1, {2 * x + child % 2, 2 * y + child / 2 % 2, 2 * z + child / 4}, ROOTS + CHILDREN * root + child};
  }
}

static void fill(const leaf* b, double time, double values[N * N * N]) {
  const double size = 0.5 / (1 << b->level), h = size / N;
  for (int k = 0; k < N; ++k)
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < N; ++i) {
        const double x = size * (double)b->at[0] + h * (i + 0.5), y = size * (double)b->at[1] + h * (j + 0.5),
                     z = size * (double)b->at[2] + h * (k + 0.5);
        values[(k * N + j) * N + i] = 1 + 0.5 * sin(6 * x + time) * cos(5 * y) * sin(4 * z);
      }
}

static int mine(int n, int rank, int ranks) { return n >= LEAVES * rank / ranks && n < LEAVES * (rank + 1) / ranks; }

/* S: declares the blocks of this rank. Sidestream removes those that it has no longer. */
static void declare(sidestream_session* s, int rank, int ranks, const leaf* now) {
  int count = 0, levels[LEAVES];
  int64_t ids[LEAVES], lo[LEAVES][3], hi[LEAVES][3];
  for (int n = 0; n < LEAVES; ++n) {
    if (!mine(n, rank, ranks)) continue;
    ids[count] = now[n].id;
    levels[count] = now[n].level;
    for (int a = 0; a < 3; ++a) {
      lo[count][a] = N * now[n].at[a];
      hi[count][a] = lo[count][a] + N;
    }
    ++count;
  }
  sidestream_replace_blocks(s, "blocks", count, ids, levels, lo[0], hi[0]);
}

/* Runs on the ranks that simulate. Returns Sidestream's code. */
static int simulate(sidestream_session* s) {
  int rank, ranks, code = SIDESTREAM_OK;
  MPI_Comm_rank(sidestream_comm(s), &rank); /* S: instead of MPI_COMM_WORLD */
  MPI_Comm_size(sidestream_comm(s), &ranks);
  leaf now[LEAVES];
  for (int step = 0; step < STEPS; ++step) {
    const double time = 0.3 * step;
    grow(step % ROOTS, now);
    declare(s, rank, ranks, now);              /* S */
    if (step == 0) code = sidestream_start(s); /* S: all checks happen here */
    if (SIDESTREAM_FAILED(code)) break;        /* S: a refused iteration is not a failure */
    for (int n = 0; n < LEAVES; ++n) {
      static double values[N * N * N];
      if (!mine(n, rank, ranks)) continue;
      fill(&now[n], time, values);
      sidestream_publish_values(s, "density", now[n].id, SIDESTREAM_FLOAT64, values, N * N * N); /* S */
    }
    code = sidestream_end_iteration(s, step, time); /* S */
  }
  return SIDESTREAM_FAILED(code) ? code : SIDESTREAM_OK;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sidestream_session* s;                                                           /* S */
  int code = sidestream_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "run.yaml", &s); /* S */
  if (!code) code = sidestream_is_server(s) ? sidestream_serve(s) : simulate(s);   /* S */
  /* S: failures of opening, starting and serving are the same on every rank. */
  if (code && rank == 0) fprintf(stderr, "block_tree: %s\n", sidestream_message(s));
  if (s) sidestream_close(&s); /* S */
  MPI_Finalize();
  return code;
}
