// How the gas is at the start.
#pragma once

#include <cstdint>
#include <vector>

#include "euler.hpp"
#include "forest.hpp"
#include "options.hpp"

namespace blast {

/// Density 1 everywhere at the start. A blast has an energy of 1 (octant: 1/8 of it is here); everything else follows
/// from units of which density, energy and the cube's edge are 1.
class Start {
 public:
  Start(const Options& options);

  /// Primitive, in the middle of the leaf; without a blast's energy.
  [[nodiscard]] Values gas(const Leaf& leaf) const;
  /// Whether the leaf has to be of the finest level: a blast begins here.
  [[nodiscard]] bool finest(const Leaf& leaf) const;
  /// Collective: adds the blast's energy to `conserved`, one for each local leaf, evenly over the leaves that have
  /// their middle in the ball: as much to each volume on every number of ranks.
  void ignite(const Forest& forest, std::vector<Values>& conserved) const;

 private:
  // v += push cos(2 pi (wave x) + phase), push at right angles to wave
  struct Eddy {
    std::array<double, 3> wave, push;
    double phase;
  };
  void make_eddies();
  [[nodiscard]] double distance(const Leaf& leaf) const;
  const Options& options_;
  bool blast_;
  std::vector<Eddy> eddies_;
};

}  // namespace blast
