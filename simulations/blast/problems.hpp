// Initial state of the gas.
#pragma once

#include <cstdint>
#include <vector>

#include "euler.hpp"
#include "forest.hpp"
#include "options.hpp"

namespace blast {

/// The density is 1 everywhere at the start, except in `shear` and `wave`. A blast has an energy of 1 (octant: 1/8 of
/// it is here). Everything else follows from units in which density, energy and the cube's edge are 1.
class Start {
 public:
  Start(const Options& options);

  /// Primitive, in the centre of the leaf; without a blast's energy.
  [[nodiscard]] Values gas(const Leaf& leaf) const;
  /// True if the leaf must be on the finest level, because a blast begins there.
  [[nodiscard]] bool finest(const Leaf& leaf) const;
  /// Collective: adds the blast's energy to `conserved`, which has an entry per local leaf. It is spread evenly over
  /// the volume of leaves with their centre in the ball, independent of the number of ranks.
  void ignite(const Forest& forest, std::vector<Values>& conserved) const;

 private:
  // v += push cos(2 pi (wave x) + phase), with push perpendicular to wave
  struct Eddy {
    std::array<double, 3> wave, push;
    double phase;
  };
  void make_eddies();
  [[nodiscard]] Values streams(const Leaf& leaf) const;
  [[nodiscard]] double distance(const Leaf& leaf) const;
  const Options& options_;
  bool blast_;
  std::vector<Eddy> eddies_;
};

}  // namespace blast
