// The command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mini_app/command_line.hpp"
#include "mini_app/user_error.hpp"

namespace advection {

using mini_app::UserError;

enum class Shape { gaussian, cylinder };
enum class Flow { translation, swirl };
enum class Limiter { central, minmod };

struct Options {
  Shape shape = Shape::gaussian;
  Flow flow = Flow::translation;
  int dimensions = 2;
  int cells = 64;                  ///< of level 0, along each axis
  int levels = 3;                  ///< largest number, including level 0
  int ratio = 2;                   ///< cells of the next level per cell
  int tile = 8;                    ///< patches consist of tiles with this many cells along each axis
  int largest = 32;                ///< largest number of cells along an axis of a patch
  double efficiency = 0.7;         ///< least share of marked tiles in a patch, unless the patch cannot be smaller
  int buffer = 2;                  ///< cells around a marked one that are marked, too
  int regrid = 4;                  ///< steps between changes of the patches
  double refine = 0.02;            ///< change of density over a cell above which it is refined
  double background = 0;           ///< density outside the shape
  double cfl = 0.8;                ///< fraction of the largest stable time step
  double end = 0.5;                ///< time; for a swirl also its period
  std::int64_t steps = 1'000'000;  ///< largest number
  Limiter limiter = Limiter::central;
  int every = 1;           ///< publish every this many steps
  bool ghosts = false;     ///< publish patches with their ghost layers
  std::string sidestream;  ///< configuration; empty: none
  std::string restart;     ///< database with checkpoints to continue from; empty: start from the beginning
  std::string dump;        ///< file of raw cells at the end; empty: none
  bool progress = false, quiet = false;
};

using CommandLine = mini_app::CommandLine<Options>;

/// `arguments` without the program's name. Does not communicate and gives the same on every rank.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace advection
