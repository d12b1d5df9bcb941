// The command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mini_app/command_line.hpp"
#include "mini_app/user_error.hpp"

namespace blast {

using mini_app::UserError;

enum class Problem { sedov, octant, turbulence, shear, uniform, wave };

struct Options {
  Problem problem = Problem::sedov;
  int least = 3, most = 6;  ///< levels of leaves; 2^level cells along an edge of the cube
  double gamma = 1.4;
  double end = 0.05;               ///< time
  std::int64_t steps = 1'000'000;  ///< largest number
  double cfl = 0.8;                ///< fraction of the largest stable time step
  double refine = 0.1;             ///< jump of density or pressure, |a - b| / (a + b), above which a leaf is refined
  int regrid = 2;                  ///< steps between changes of the tree
  bool first_order = false;
  double radius = 2.5;  ///< radius of the ball that gets a blast's energy, in cells of level `most`
  double mach = 2;      ///< turbulence: rms speed over sound speed
  std::uint64_t seed = 1;
  double width = 0.025;    ///< shear: thickness of the layers between the streams
  int every = 1;           ///< publish every this many steps
  int blocks = 1;          ///< number of trees that each rank publishes
  std::string sidestream;  ///< configuration; empty: none
  std::string restart;     ///< database with checkpoints to continue from; empty: start from the beginning
  std::string dump;        ///< file of raw leaves at the end; empty: none
  int threads = 1;         ///< of each rank; results do not depend on them
  bool progress = false, quiet = false;
  [[nodiscard]] bool blast() const { return problem == Problem::sedov || problem == Problem::octant; }
  /// True if its solution is known at all times, so that the tree stays unchanged.
  [[nodiscard]] bool known() const { return problem == Problem::uniform || problem == Problem::wave; }
  [[nodiscard]] bool periodic() const { return problem != Problem::octant; }
};

using CommandLine = mini_app::CommandLine<Options>;

/// `arguments` without the program's name. Does not communicate and gives the same on every rank.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace blast
