// The command line.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cosmology.hpp"

namespace universe {

/// Something the user has to change; `what()` is the sentence to print.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  int particles = 64;     ///< along each axis
  int cells = 0;          ///< of the grid, along each axis; 0: as many as particles
  double box = 50;        ///< edge of the periodic cube, comoving Mpc/h
  double first = 49;      ///< redshift at which particles are displaced
  double last = 2;        ///< at which the run ends
  int steps = 100;        ///< from the one to the other, equal in ln a
  std::int64_t stop = 0;  ///< step to stop after; 0: the last one
  int order = 2;          ///< of the displacements: 1 Zel'dovich, 2 second order
  std::uint64_t seed = 1;
  std::optional<double> wave;  ///< redshift at which one plane wave crosses itself, instead of a random field
  int wave_axis = 0;           ///< along which it goes
  Cosmology cosmology{};
  double filter = 0;              ///< over which pressure smooths gas, comoving Mpc/h
  double mean_temperature = 1e4;  ///< of gas of mean density, K
  double slope = 1.6;             ///< gamma of its temperature-density relation T = T0 Delta^(gamma - 1)
  double ionisation = 1e-12;      ///< rate at which the background ionises hydrogen atoms, 1/s
  int every = 1;                  ///< publish every so many steps
  std::string sidestream;         ///< configuration; empty: none
  std::string restart;            ///< database with checkpoints to go on from; empty: from the beginning
  std::string dump;               ///< raw particles at the end; empty: none
  std::string spectrum;           ///< table of the spectrum of matter at the end; empty: none
  std::string energies;           ///< CSV of energies and momenta after every step; empty: none
  std::string times;              ///< CSV of this program's own timings; empty: none
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

}  // namespace universe
