// The command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "field.hpp"

namespace oscillators {

enum class Element { float32, float64 };

struct Options {
  std::string input;
  Grid grid{{64, 64, 64}, {1, 1, 1}, false};
  int steps = 10;
  double dt = 0.01;
  std::int64_t blocks = 0;    ///< over all ranks; 0: as many as ranks
  int ghosts = 0;             ///< layers round each block, cut at the domain's boundary
  bool ghosts_filled = true;  ///< from the formula; otherwise NaN, to find readers that trust them
  Element element = Element::float64;
  int compute_repeat = 1;
  std::string sidestream;  ///< configuration; empty: none
  bool in_place = false;
  std::string restart;  ///< database with checkpoints to go on from; empty: from the beginning
  std::string times;    ///< CSV of this program's own timings; empty: none
  std::string dump;     ///< raw values of all steps; empty: none
  int generate = 0;
  bool progress = false;
  bool quiet = false;
};

/// What the command line asks for, or what to print instead of running.
struct CommandLine {
  std::optional<Options> options;
  std::string message;  ///< help, or a sentence about what is wrong
  int status = 0;       ///< of the process if there are no options
};

/// `arguments` without the program's name. Does not communicate and gives the same on every rank.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace oscillators
