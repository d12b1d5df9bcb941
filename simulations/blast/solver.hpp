// The gas on the tree: one time step for all leaves, MUSCL-Hancock with HLLC fluxes, refined where it jumps.
#pragma once

#include <memory>
#include <vector>

#include "euler.hpp"
#include "forest.hpp"
#include "options.hpp"

namespace blast {

/// Where a run is: what a checkpoint has to hold besides the leaves.
struct Clock {
  std::int64_t step = 0;
  double time = 0;
};

/// What becomes of a leaf depends on the leaves and the options, bit for bit, not on the ranks that have them: sums run
/// in an order that each leaf's faces give, and over all ranks there is a minimum alone.
class Solver {
 public:
  /// Collective: the start of the problem.
  Solver(MPI_Comm comm, const Options& options);
  /// Collective: goes on with leaves (those of all ranks, one rank after the other, in Morton order) and their
  /// conserved values.
  Solver(MPI_Comm comm, const Options& options, const std::vector<Leaf>& leaves, std::vector<Values> values,
         Clock clock);

  /// Collective: adapts the tree where it is due, then makes one step, not beyond options.end. Throws UserError on all
  /// ranks alike if the gas became impossible.
  void step();
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] const Forest& forest() const { return *forest_; }
  [[nodiscard]] const Gas& gas() const { return gas_; }
  /// Conserved, of each local leaf.
  [[nodiscard]] const std::vector<Values>& values() const { return values_; }

 private:
  // A primitive state with what it changes by over the leaf, along each axis.
  struct Traced {
    Values middle{};
    std::array<Values, 3> slopes{};
  };
  struct Beside {
    Values state;
    double distance;  // between the middles, in sizes of this leaf
  };
  void begin(const Options& options);
  void see();
  [[nodiscard]] Beside beside(std::size_t leaf, std::size_t side) const;
  [[nodiscard]] Traced trace(std::size_t leaf) const;
  void adapt();
  [[nodiscard]] std::vector<Mark> marks() const;
  [[nodiscard]] double jump(std::size_t leaf) const;
  [[nodiscard]] double length() const;
  void halve(Traced& traced, double part) const;
  [[nodiscard]] Values at_face(std::int32_t leaf, const Face& face, bool is_low) const;
  [[nodiscard]] Values through(const Face& face) const;
  void advance(double dt);
  void check() const;

  Options options_;
  Gas gas_;
  Clock clock_;
  std::unique_ptr<Forest> forest_;
  std::vector<Values> values_;
  std::vector<Values> states_;  // primitive, ghosts too
  std::vector<Traced> traced_;  // likewise
  std::vector<Values> fluxes_;  // of each face
};

}  // namespace blast
