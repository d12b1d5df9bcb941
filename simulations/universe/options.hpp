// The command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cosmology.hpp"
#include "mini_app/command_line.hpp"
#include "mini_app/user_error.hpp"

namespace universe {

using mini_app::UserError;

struct Options {
  int particles = 64;     ///< along each axis
  int cells = 0;          ///< of the grid, along each axis; 0: as many as particles
  double box = 50;        ///< edge of the periodic cube, comoving Mpc/h
  double first = 49;      ///< redshift of the initial displacements
  double last = 2;        ///< redshift at the end
  int steps = 100;        ///< number of steps between them, equal in ln a
  std::int64_t stop = 0;  ///< step to stop after; 0: the last one
  int order = 2;          ///< order of the displacements: 1 Zel'dovich, 2 second order
  std::uint64_t seed = 1;
  std::optional<double> wave;  ///< redshift at which a single plane wave crosses itself, instead of a random field
  int wave_axis = 0;           ///< its direction
  Cosmology cosmology{};
  double filter = 0;              ///< smoothing length of gas by pressure, comoving Mpc/h
  double mean_temperature = 1e4;  ///< temperature of gas at mean density, K
  double slope = 1.6;             ///< gamma of its temperature-density relation T = T0 Delta^(gamma - 1)
  double ionisation = 1e-12;      ///< rate at which the background ionises hydrogen atoms, 1/s
  int every = 1;                  ///< publish every this many steps
  std::string sidestream;         ///< configuration; empty: none
  std::string restart;            ///< database with checkpoints to continue from; empty: start from the beginning
  std::string dump;               ///< file of raw particles at the end; empty: none
  std::string spectrum;           ///< file of the matter spectrum at the end; empty: none
  std::string energies;           ///< CSV file of energies and momenta after every step; empty: none
  std::string times;              ///< CSV file of this program's own timings; empty: none
  bool progress = false, quiet = false;
};

using CommandLine = mini_app::CommandLine<Options>;

/// `arguments` without the program's name. Does not communicate and gives the same on every rank.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace universe
