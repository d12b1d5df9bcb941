// The command line.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace blast {

/// Something the user has to change; `what()` is the sentence to print.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Problem { sedov, octant, turbulence, uniform, wave };

struct Options {
  Problem problem = Problem::sedov;
  int least = 3, most = 6;  ///< levels of leaves; 2^level cells along an edge of the cube
  double gamma = 1.4;
  double end = 0.05;               ///< time
  std::int64_t steps = 1'000'000;  ///< at most
  double cfl = 0.8;                ///< of the largest time step that is stable
  double refine = 0.1;             ///< jump of density or pressure, |a - b| / (a + b), above which a leaf is refined
  int regrid = 2;                  ///< steps from one change of the tree to the next
  bool first_order = false;
  double radius = 2.5;  ///< of the ball that the energy of a blast is put in, in cells of level `most`
  double mach = 2;      ///< turbulence: rms speed over sound speed
  std::uint64_t seed = 1;
  int every = 1;           ///< publish every so many steps
  int blocks = 1;          ///< trees that each rank publishes
  std::string sidestream;  ///< configuration; empty: none
  std::string restart;     ///< database with checkpoints to go on from; empty: from the beginning
  std::string dump;        ///< raw leaves at the end; empty: none
  bool progress = false, quiet = false;
  [[nodiscard]] bool blast() const { return problem == Problem::sedov || problem == Problem::octant; }
  /// Its solution is known at all times: the tree stays as it is.
  [[nodiscard]] bool known() const { return problem == Problem::uniform || problem == Problem::wave; }
  [[nodiscard]] bool periodic() const { return problem != Problem::octant; }
};

/// What the command line asks for, or what to print instead of running.
struct CommandLine {
  std::optional<Options> options;
  std::string message;  ///< help, or a sentence about what is wrong
  int status = 0;       ///< of the process if there are no options
};

/// `arguments` without the program's name. Does not communicate and gives the same on every rank.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace blast
