// A plotfile of AMReX: what its Header says.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream::amrex {

/// Lengths and times are the code's: plotfiles do not say their units.
struct PlotLevel {
  Box domain;                       ///< all cells that the level could have
  std::array<double, 3> spacing{};  ///< 1 on axes that are not used
  std::int64_t step = 0;
  double time = 0;
  std::size_t boxes = 0;  ///< how many there are
  std::string data;       ///< where its values are: Level_0/Cell
};

/// `HyperCLaw-V1.1` and its like (`NavierStokes-V1.1`): the format is the same whatever the code calls itself.
struct Plotfile {
  std::string directory, code;
  std::vector<std::string> variables;
  int dimensions = 3;
  double time = 0;
  std::array<double, 3> low{}, high{};  ///< of the domain
  std::vector<PlotLevel> levels;
  std::vector<Index3> ratios;  ///< of level l + 1 to level l
  [[nodiscard]] std::string path(const std::string& name) const { return directory + "/" + name; }
};

/// Reads DIRECTORY/Header. Throws Error(file): what is there besides is damaged, or none of a plotfile, or in
/// coordinates other than Cartesian ones.
[[nodiscard]] Plotfile read_plotfile(const std::string& directory);

/// A sentence for each thing in the directory that is not read: folders that are neither levels nor particles.
[[nodiscard]] std::vector<std::string> unread_parts(const Plotfile& plotfile);

}  // namespace sidestream::amrex
