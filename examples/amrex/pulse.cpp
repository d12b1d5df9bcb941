// A pulse on two levels of AMReX, and the lines (marked S) that give them to Sidestream.
//
// Usage: mpirun -n RANKS pulse, with run.yaml in the working directory.
//
// The unit cube has 32 cells along each axis. A pulse moves along x, and a cube of finer cells follows it: a box of the
// finer level is another one in each step, on another rank.
#include <AMReX.H>
#include <AMReX_MultiFab.H>

#include <cmath>
#include <sidestream/amrex.hpp>  // S

using namespace amrex;

constexpr int cells = 32, patch = 16, steps = 8;

Geometry geometry(int level) {
  const Box domain(IntVect(0), IntVect((cells << level) - 1));
  return {domain, RealBox({0, 0, 0}, {1, 1, 1}), 0, {0, 0, 0}};
}

/// Boxes of 16 cells along each axis, from `low` on, `along` of them along each axis.
BoxArray boxes(const IntVect& low, int along) {
  Vector<Box> all;
  for (int n = 0; n < along * along * along; ++n) {
    const IntVect from(low[0] + n % along * 16, low[1] + n / along % along * 16, low[2] + n / along / along * 16);
    all.emplace_back(from, IntVect(from[0] + 15, from[1] + 15, from[2] + 15));
  }
  return {all.data(), static_cast<int>(all.size())};
}

/// One level in one step: its values, with a ghost cell around each box.
MultiFab level(int number, int step) {
  const BoxArray grids = number == 0 ? boxes(IntVect(0), 2) : boxes(IntVect(4 * step, patch, patch), 2);
  Vector<int> ranks;
  for (int n = 0; n < grids.size(); ++n) ranks.push_back((n + step) % ParallelDescriptor::NProcs());
  MultiFab phi(grids, DistributionMapping(ranks), 1, 1);
  const double h = 1.0 / (cells << number), middle = (2.0 * step + 8) / cells;
  for (const int n : phi.IndexArray()) {
    const auto values = phi.array(n);
    LoopOnCpu(grids[n], [&](int i, int j, int k) {
      const double x = h * (i + 0.5) - middle, y = h * (j + 0.5) - 0.5, z = h * (k + 0.5) - 0.5;
      values(i, j, k) = 1 + std::exp(-40 * (x * x + y * y + z * z));
    });
  }
  return phi;
}

void simulate(sidestream::AmrexSession& side) {
  const Vector<Geometry> geometries{geometry(0), geometry(1)};
  const Vector<IntVect> ratios{IntVect(2)};
  for (int step = 0; step < steps; ++step) {
    const MultiFab coarse = level(0, step), fine = level(1, step);
    const Vector<const MultiFab*> phi{&coarse, &fine};
    side.publish(2, phi, {"phi"}, geometries, 0.1 * step, {step, 2 * step}, ratios);  // S: as for a plotfile
  }
}

int main(int argc, char* argv[]) {
  sidestream::AmrexSession side(argc, argv, "run.yaml");  // S: before AMReX, in the same scope
  if (side.is_server()) return side.serve();              // S
  amrex::Initialize(argc, argv, false, side.comm());      // S: the communicator
  simulate(side);
  amrex::Finalize();
}
