// Options of the analyses of halos.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "cosmology/halos/finder/box_runs.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/extend/option_table.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

/// A variable in the cells of a uniform mesh of one level.
struct Field {
  std::int32_t variable = -1;
  int component = 0, connectivity = 14;
  std::string name, unit;
  Lattice lattice;
  std::array<double, 3> origin{}, spacing{1, 1, 1};

  /// Length, area or volume of a cell, in the mesh's dimensions.
  [[nodiscard]] double cell_volume() const noexcept;
  /// Length of a cell's shortest side.
  [[nodiscard]] double shortest() const noexcept;
  /// Position of a place `cells` above the middle of a cell, wrapped into a periodic mesh.
  [[nodiscard]] double position(std::size_t axis, Index cell, double cells) const noexcept;

  // Geometry for Distances. Lengths are in cells.
  [[nodiscard]] int dimensions() const noexcept { return lattice.dimensions; }
  [[nodiscard]] Index middle(std::int32_t, std::size_t, Index index) const noexcept { return index; }
  [[nodiscard]] Index difference(std::size_t axis, Index from, Index to) const noexcept {
    return lattice.difference(axis, from, to);
  }
  /// Difference of middles that is no integer; along periodic axes from minus half the mesh.
  [[nodiscard]] double wrapped(std::size_t axis, double cells) const noexcept;
  [[nodiscard]] double in_coordinates(std::size_t axis, double cells) const noexcept { return cells * spacing[axis]; }
};

/// Thresholds as configured: absolute, or in units of the mean.
struct Thresholds {
  double boundary = 0, peak = 0;
  bool of_mean = false;
  Index least_cells = 1;
};

/// Options `variable`, `component` and `connectivity`.
[[nodiscard]] std::vector<Option> field_options();
/// Options `boundary`, `halo`, `units` and `minimum_cells`.
[[nodiscard]] OptionTable<Thresholds> threshold_options();
/// Throws Error(configuration) for meshes and variables that `what` does not support.
[[nodiscard]] Field read_field(const Settings& settings, const Metadata& metadata, const std::string& what);

/// Exact sums over cells with finite values: of value times volume, and of volume. A mean is their quotient.
struct MeanSums {
  ExactSum mass, volume;
  void add(double value, double of) noexcept {
    if (!std::isfinite(value)) return;
    mass.add_product(value, of);
    volume.add(of);
  }
  [[nodiscard]] Bytes to_bytes() const;  ///< a partial result
};

/// MeanSums of cells of volume 1, serialised.
[[nodiscard]] Bytes sum_values(std::span<const BlockView> views, int component);
/// Adds up the partial results of all servers. Collective.
[[nodiscard]] Bytes combine_mean(std::span<const Bytes> partials, Communicator& servers);
/// NaN if there is no finite value.
[[nodiscard]] double mean_of(BytesView combined);

}  // namespace sidestream::halos
