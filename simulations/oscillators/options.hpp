// The command line.
#pragma once

#include <string>
#include <vector>

#include "field.hpp"
#include "mini_app/command_line.hpp"

namespace oscillators {

enum class Element { float32, float64 };

struct Options {
  std::string input;
  Grid grid{{64, 64, 64}, {1, 1, 1}, false};
  int steps = 10;
  double dt = 0.01;
  std::int64_t blocks = 0;    ///< total over all ranks; 0: one per rank
  int ghosts = 0;             ///< layers around each block, cut at the domain's boundary
  bool ghosts_filled = true;  ///< filled from the formula; otherwise NaN, to find readers that trust them
  Element element = Element::float64;
  int compute_repeat = 1;
  std::string sidestream;  ///< configuration; empty: none
  bool in_place = false;
  std::string restart;  ///< database with checkpoints to continue from; empty: start from the beginning
  std::string times;    ///< CSV file of this program's own timings; empty: none
  std::string dump;     ///< file of raw values of all steps; empty: none
  int generate = 0;
  bool progress = false;
  bool quiet = false;
};

using CommandLine = mini_app::CommandLine<Options>;

/// `arguments` without the program's name. Does not communicate and gives the same on every rank.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace oscillators
