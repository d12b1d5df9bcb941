// A standing wave computed directly in Sidestream's memory: publishing without a copy.
//
// Usage: mpirun -n RANKS wave [CONFIGURATION]
//
// p(x, t) = cos(pi x) cos(pi y) cos(pi z) cos(2 pi t) on the unit cube, two blocks for every rank.
#include <cmath>
#include <iostream>
#include <sidestream/sidestream.hpp>
#include <string>
#include <vector>

namespace {

using sidestream::Box;
using sidestream::Index;

constexpr double pi = 3.14159265358979323846;
constexpr Index cells = 32;
constexpr int blocks_per_rank = 2, steps = 8;

/// Slab number `block` of `blocks` along k.
Box slab(Index block, Index blocks) {
  return {{0, 0, cells * block / blocks}, {cells, cells, cells * (block + 1) / blocks}};
}

double factor(Index index) { return std::cos(pi * (static_cast<double>(index) + 0.5) / cells); }

/// Fills a contiguous array over `box`, i fastest.
void fill(const Box& box, double time, double* p) {
  const double amplitude = std::cos(2 * pi * time);
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) *p++ = amplitude * factor(i) * factor(j) * factor(k);
    }
  }
}

void simulate(sidestream::Session& session) {
  int rank = 0, size = 0;
  MPI_Comm_rank(session.comm(), &rank);
  MPI_Comm_size(session.comm(), &size);

  session.set("n", cells);
  std::vector<Box> boxes;
  for (Index b = 0; b < blocks_per_rank; ++b) {
    boxes.push_back(slab(rank * blocks_per_rank + b, size * blocks_per_rank));
    session.set_block("cube", rank * blocks_per_rank + b, boxes.back());
  }
  for (int step = 0; step < steps; ++step) {
    const double time = static_cast<double>(step) / steps;
    for (Index b = 0; b < blocks_per_rank; ++b) {
      const Index id = rank * blocks_per_rank + b;
      auto* p = session.alloc<double>("pressure", id, static_cast<std::size_t>(boxes[b].count()));
      if (p == nullptr) break;  // refused (`when_full: skip`): this iteration goes on without analyses
      fill(boxes[b], time, p);
      session.commit("pressure", id);
      session.clear("pressure", id);  // we do not read it again
    }
    session.end_iteration(step, time);
  }
}

int run(const std::string& configuration) {
  try {
    auto session = sidestream::Session::open(MPI_COMM_WORLD, configuration);
    if (session.is_server()) {
      session.serve();
    } else {
      simulate(session);
    }
    const auto account = session.close();
    // Refused iterations are not analysed; the simulation itself is unaffected.
    return account.failed + account.unknown == 0 ? 0 : 1;
  } catch (const sidestream::Error& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    // Failures of opening, starting and serving are the same on every rank.
    if (rank == 0) std::cerr << "wave: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc > 1 ? argv[1] : "run.yaml");
  MPI_Finalize();
  return status;
}
