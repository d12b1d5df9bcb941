// The gas on the tree: one time step for all leaves, MUSCL-Hancock with HLLC fluxes, refined at jumps.
#pragma once

#include <memory>
#include <vector>

#include "euler.hpp"
#include "forest.hpp"
#include "options.hpp"

namespace blast {

/// State of a run that a checkpoint holds besides the leaves.
struct Clock {
  std::int64_t step = 0;
  double time = 0;
};

/// The evolution of a leaf depends bit for bit only on the leaves and the options, not on their distribution to ranks.
/// Sums run in the order of each leaf's faces, and the only reduction over ranks is a minimum.
class Solver {
 public:
  /// Collective: starts the problem.
  Solver(MPI_Comm comm, const Options& options);
  /// Collective: continues with leaves (in Morton order, rank after rank) and their conserved values.
  Solver(MPI_Comm comm, const Options& options, const std::vector<Leaf>& leaves, std::vector<Values> values,
         Clock clock);

  /// Collective: adapts the tree if due, then makes one step, at most to options.end. Throws UserError on all ranks
  /// alike if the gas became unphysical.
  void step();
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] const Forest& forest() const { return *forest_; }
  [[nodiscard]] const Gas& gas() const { return gas_; }
  /// Conserved, for each local leaf.
  [[nodiscard]] const std::vector<Values>& values() const { return values_; }

 private:
  // A primitive state with its changes over the leaf along each axis.
  struct Traced {
    Values middle{};
    std::array<Values, 3> slopes{};
  };
  struct Beside {
    Values state;
    double distance;  // between the centres, in sizes of this leaf
  };
  // Calls f with each number below `count`, in the threads of this rank. f writes only what belongs to its number.
  template <class F>
  void each(std::size_t count, const F& f) const;
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
  std::vector<Values> states_;  // primitive, including ghosts
  std::vector<Traced> traced_;  // including ghosts
  std::vector<Values> fluxes_;  // of each face
};

}  // namespace blast
