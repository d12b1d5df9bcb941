#include "cosmology/halos/finder/halo_table.hpp"

namespace sidestream::halos {
namespace {

/// Adds a column for each axis of the mesh.
void add_columns(std::vector<Column>& columns, const std::string& name, const char* axes, const Field& field,
                 const std::vector<std::array<double, 3>>& values) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(field.lattice.dimensions); ++a) {
    std::vector<double> column;
    for (const std::array<double, 3>& value : values) column.push_back(value[a]);
    columns.push_back({name + axes[a], std::move(column)});
  }
}
void add_columns(std::vector<Column>& columns, const std::string& name, const char* axes, const Field& field,
                 const std::vector<Index3>& values) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(field.lattice.dimensions); ++a) {
    std::vector<std::int64_t> column;
    for (const Index3& value : values) column.push_back(value[a]);
    columns.push_back({name + axes[a], std::move(column)});
  }
}

}  // namespace

std::vector<Column> halo_columns(const std::vector<Halo>& halos, const Field& field, std::int64_t first) {
  const Lattice& lattice = field.lattice;
  std::vector<std::int64_t> numbers, ids, cells;
  std::vector<double> peaks, masses;
  std::vector<Index3> at, low, high;
  std::vector<std::array<double, 3>> places, weighted, plain;
  for (const Halo& halo : halos) {
    const Index3 peak = lattice.cell_of(halo.peak.id);
    numbers.push_back(first++);
    ids.push_back(halo.peak.id);
    cells.push_back(halo.cells);
    peaks.push_back(halo.peak.value);
    masses.push_back(halo.mass * field.cell_volume());
    Index3& cell = at.emplace_back(peak);
    Index3 &lowest = low.emplace_back(halo.low), &highest = high.emplace_back(halo.high);
    places.emplace_back();
    weighted.emplace_back();
    plain.emplace_back();
    for (std::size_t a = 0; a < 3; ++a) {
      cell[a] += lattice.origin[a];
      lowest[a] += cell[a];
      highest[a] += cell[a];
      places.back()[a] = field.position(a, peak[a], 0);
      weighted.back()[a] = field.position(a, peak[a], halo.weighted[a]);
      plain.back()[a] = field.position(a, peak[a], halo.plain[a]);
    }
  }
  std::vector<Column> columns{{"halo", numbers}, {"peak_index", ids}};
  add_columns(columns, "peak_", "ijk", field, at);
  add_columns(columns, "peak_", "xyz", field, places);
  columns.push_back({"peak_value", peaks});
  columns.push_back({"cells", cells});
  columns.push_back({"mass", masses});
  add_columns(columns, "mass_", "xyz", field, weighted);
  add_columns(columns, "centre_", "xyz", field, plain);
  add_columns(columns, "low_", "ijk", field, low);
  add_columns(columns, "high_", "ijk", field, high);
  return columns;
}

}  // namespace sidestream::halos
