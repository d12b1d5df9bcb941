#include "analysis/halos/amr/level_table.hpp"

namespace sidestream::halos {
namespace {

/// A column for each axis of the mesh; `value_of(halo, axis)`.
template <class ValueOf>
void add_columns(std::vector<Column>& columns, const std::string& name, const char* axes,
                 const std::vector<LevelHalo>& halos, ValueOf value_of, const AmrGrid& levels) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(levels.dimensions()); ++a) {
    std::vector<decltype(value_of(halos.front(), a))> values;
    for (const LevelHalo& halo : halos) values.push_back(value_of(halo, a));
    columns.push_back({name + axes[a], std::move(values)});
  }
}

}  // namespace

std::vector<Column> level_columns(const std::vector<LevelHalo>& halos, const AmrGrid& levels, std::int64_t first) {
  std::vector<std::int64_t> numbers, peak_levels, cells;
  std::vector<double> peaks, masses, volumes;
  for (const LevelHalo& halo : halos) {
    numbers.push_back(first++);
    peak_levels.push_back(halo.peak.cell.level);
    peaks.push_back(halo.peak.value);
    cells.push_back(halo.cells);
    masses.push_back(halo.mass);
    volumes.push_back(halo.volume);
  }
  const auto place = [&](const LevelHalo& halo, std::size_t a, double away, bool back = true) {
    return levels.position(a, halo.peak.cell, away, back);
  };
  std::vector<Column> columns{{"halo", numbers}, {"peak_level", peak_levels}};
  add_columns(
      columns, "peak_", "ijk", halos,
      [&](const LevelHalo& halo, std::size_t a) -> std::int64_t { return levels.in_mesh(halo.peak.cell).index[a]; },
      levels);
  add_columns(
      columns, "peak_", "xyz", halos, [&](const LevelHalo& halo, std::size_t a) { return place(halo, a, 0); }, levels);
  columns.push_back({"peak_value", peaks});
  columns.push_back({"cells", cells});
  columns.push_back({"mass", masses});
  columns.push_back({"volume", volumes});
  add_columns(
      columns, "mass_", "xyz", halos,
      [&](const LevelHalo& halo, std::size_t a) { return place(halo, a, halo.weighted[a]); }, levels);
  add_columns(
      columns, "centre_", "xyz", halos,
      [&](const LevelHalo& halo, std::size_t a) { return place(halo, a, halo.plain[a]); }, levels);
  add_columns(
      columns, "low_", "xyz", halos,
      [&](const LevelHalo& halo, std::size_t a) { return place(halo, a, static_cast<double>(halo.low[a]), false); },
      levels);
  add_columns(
      columns, "high_", "xyz", halos,
      [&](const LevelHalo& halo, std::size_t a) { return place(halo, a, static_cast<double>(halo.high[a]), false); },
      levels);
  return columns;
}

}  // namespace sidestream::halos
