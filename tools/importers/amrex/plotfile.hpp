// The Header of an AMReX plotfile.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream::amrex {

/// A level. Lengths and times are in the code's units, which plotfiles do not give.
struct PlotLevel {
  Box domain;                       ///< all cells that the level could have
  std::array<double, 3> spacing{};  ///< 1 on unused axes
  std::int64_t step = 0;
  double time = 0;
  std::size_t boxes = 0;  ///< number of boxes
  std::string data;       ///< path of its values: Level_0/Cell
};

/// A plotfile: `HyperCLaw-V1.1` and variants (`NavierStokes-V1.1`), whose format is the same.
struct Plotfile {
  std::string directory, code;
  std::vector<std::string> variables;
  int dimensions = 3;
  double time = 0;
  std::array<double, 3> low{}, high{};  ///< corners of the domain
  std::vector<PlotLevel> levels;
  std::vector<Index3> ratios;  ///< from level l + 1 to level l
  [[nodiscard]] std::string path(const std::string& name) const { return directory + "/" + name; }
};

/// Reads DIRECTORY/Header. Throws Error(file) if it is damaged, is not a plotfile's, or has other than Cartesian
/// coordinates.
[[nodiscard]] Plotfile read_plotfile(const std::string& directory);

/// Describes folders that are ignored, as neither levels nor particles, in a sentence each.
[[nodiscard]] std::vector<std::string> unread_parts(const Plotfile& plotfile);

}  // namespace sidestream::amrex
