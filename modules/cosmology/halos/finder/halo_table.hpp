// The table of halos.
#pragma once

#include <string>
#include <vector>

#include "cosmology/halos/finder/cell_graph.hpp"
#include "sidestream/data/result.hpp"

namespace sidestream::halos {

/// Adds a column for each axis of the mesh; `value_of(row, axis)`.
template <class ValueOf>
void add_columns(std::vector<Column>& columns, const std::string& name, const char* axes, int dimensions,
                 std::size_t rows, ValueOf value_of) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
    std::vector<decltype(value_of(rows, a))> values;
    for (std::size_t n = 0; n < rows; ++n) values.push_back(value_of(n, a));
    columns.push_back({name + axes[a], std::move(values)});
  }
}

/// A row for each of this server's halos; `first`: number of the first halo. The extent of a halo is given by cells, or
/// by faces if cells differ in size.
template <CellGraph Graph>
[[nodiscard]] std::vector<Column> halo_columns(const std::vector<Halo<typename Graph::Id>>& halos, const Graph& graph,
                                               std::int64_t first) {
  std::vector<std::int64_t> numbers, cells;
  std::vector<double> peaks, masses, volumes;
  std::vector<typename Graph::Cell> at;
  for (const auto& halo : halos) {
    numbers.push_back(first++);
    cells.push_back(halo.cells);
    peaks.push_back(halo.peak.value);
    masses.push_back(halo.mass * graph.unit_volume());
    volumes.push_back(halo.volume * graph.unit_volume());
    at.push_back(graph.cell_of(halo.peak.id));
  }
  std::vector<Column> columns{{"halo", numbers}, graph.first_peak_column(halos)};
  const auto add = [&](const std::string& name, const char* axes, auto value_of) {
    add_columns(columns, name, axes, graph.dimensions(), halos.size(), value_of);
  };
  const auto index = [&](std::size_t n, std::size_t a) -> std::int64_t { return graph.in_mesh(at[n])[a]; };
  const auto place = [&](std::size_t n, std::size_t a, double away) { return graph.position(a, at[n], away, true); };
  add("peak_", "ijk", index);
  add("peak_", "xyz", [&](std::size_t n, std::size_t a) { return place(n, a, 0); });
  columns.push_back({"peak_value", peaks});
  columns.push_back({"cells", cells});
  columns.push_back({"mass", masses});
  if constexpr (!Graph::equal_cells) columns.push_back({"volume", volumes});
  add("mass_", "xyz", [&](std::size_t n, std::size_t a) { return place(n, a, halos[n].weighted[a]); });
  add("centre_", "xyz", [&](std::size_t n, std::size_t a) { return place(n, a, halos[n].plain[a]); });
  if constexpr (Graph::equal_cells) {
    add("low_", "ijk", [&](std::size_t n, std::size_t a) { return index(n, a) + halos[n].low[a]; });
    add("high_", "ijk", [&](std::size_t n, std::size_t a) { return index(n, a) + halos[n].high[a]; });
  } else {
    const auto face = [&](std::size_t n, std::size_t a, Index of) {
      return graph.position(a, at[n], static_cast<double>(of), false);
    };
    add("low_", "xyz", [&](std::size_t n, std::size_t a) { return face(n, a, halos[n].low[a]); });
    add("high_", "xyz", [&](std::size_t n, std::size_t a) { return face(n, a, halos[n].high[a]); });
  }
  return columns;
}

}  // namespace sidestream::halos
