// The command line.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace advection {

/// Something the user has to change; `what()` is the sentence to print.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Shape { gaussian, cylinder };
enum class Flow { translation, swirl };
enum class Limiter { central, minmod };

struct Options {
  Shape shape = Shape::gaussian;
  Flow flow = Flow::translation;
  int dimensions = 2;
  int cells = 64;                  ///< of level 0, along each axis
  int levels = 3;                  ///< at most, level 0 included
  int ratio = 2;                   ///< cells of the next level along one
  int tile = 8;                    ///< patches are made of tiles of so many cells along each axis
  int largest = 32;                ///< cells along an axis of a patch, at most
  double efficiency = 0.7;         ///< a patch has so many of its tiles marked, at least, if it need not be larger
  int buffer = 2;                  ///< cells round a marked one that are marked too
  int regrid = 4;                  ///< steps from one change of the patches to the next
  double refine = 0.02;            ///< change of density over a cell above which it is refined
  double background = 0;           ///< density where the shape is not
  double cfl = 0.8;                ///< of the largest time step that is stable
  double end = 0.5;                ///< time; that of a swirl is its period
  std::int64_t steps = 1'000'000;  ///< at most
  Limiter limiter = Limiter::central;
  int every = 1;           ///< publish every so many steps
  bool ghosts = false;     ///< publish patches with what is round them
  std::string sidestream;  ///< configuration; empty: none
  std::string restart;     ///< database with checkpoints to go on from; empty: from the beginning
  std::string dump;        ///< raw cells at the end; empty: none
  bool progress = false, quiet = false;
};

/// What the command line asks for, or what to print instead of running.
struct CommandLine {
  std::optional<Options> options;
  std::string message;  ///< help, or a sentence about what is wrong
  int status = 0;       ///< of the process if there are no options
};

/// `arguments` without the program's name. Does not communicate and gives the same on every rank.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace advection
