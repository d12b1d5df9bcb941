// What the analyses of halos read from the configuration.
#pragma once

#include <optional>
#include <string>

#include "analysis/halos/finder/local_components.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream::halos {

/// A variable in the cells of a uniform mesh of one level.
struct Field {
  std::int32_t variable = -1;
  int component = 0, connectivity = 14;
  std::string name, unit;
  Lattice lattice;
  std::array<double, 3> origin{}, spacing{1, 1, 1};

  /// Length, area or volume of a cell, by the axes that the mesh uses.
  [[nodiscard]] double cell_volume() const noexcept;
  /// Length of a cell's shortest side.
  [[nodiscard]] double shortest() const noexcept;
  /// Position of a place that is `cells` above the middle of a cell, brought back into a periodic mesh.
  [[nodiscard]] double position(std::size_t axis, Index cell, double cells) const noexcept;
};

/// Thresholds as the configuration gives them: as they are, or in units of the mean.
struct Thresholds {
  double boundary = 0, peak = 0;
  bool of_mean = false;
  Index least_cells = 1;
};

/// `variable`, `component` and `connectivity`.
[[nodiscard]] std::vector<Option> field_options();
/// `boundary`, `halo`, `units` and `minimum_cells`.
[[nodiscard]] std::vector<Option> threshold_options();
/// Throws Error(configuration) for meshes and variables that `what` cannot take.
[[nodiscard]] Field read_field(const Settings& settings, const Metadata& metadata, const std::string& what);
[[nodiscard]] Thresholds read_thresholds(const Settings& settings);

/// The exact sum of all finite values and their number, as bytes: a partial result, and what `combine_mean` makes of
/// those of all servers.
[[nodiscard]] Bytes sum_values(std::span<const BlockView> views, int component);
/// Collective.
[[nodiscard]] Bytes combine_mean(std::span<const Bytes> partials, Communicator& servers);
/// NaN if there is no finite value.
[[nodiscard]] double mean_of(BytesView combined);

}  // namespace sidestream::halos
