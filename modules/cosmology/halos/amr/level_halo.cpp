#include "cosmology/halos/amr/level_halo.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sidestream/kit/reduce/exact_sum_forms.hpp"

namespace sidestream::halos {
namespace {

/// Adds factor * sum. The 200 leading bits of a sum suffice, and do not depend on the order in which it was added.
void add_times(ExactSum& total, const ExactSum& sum, double factor) noexcept {
  for (const double part : sum.expansion()) {
    if (std::isfinite(part)) total.add_product(part, factor);
  }
}

}  // namespace

void LevelPlanes::add(const AmrGrid& levels, const LevelCell& cell, double value) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(levels.dimensions()); ++a) {
    Plane& plane = planes_[a][{cell.level, cell.index[a]}];
    ++plane.cells;
    plane.mass.add_product(value, levels.volume(cell.level));
  }
}

void LevelPlanes::write(ByteWriter& out) const {
  std::vector<std::uint32_t> words;
  for (const auto& planes : planes_) {
    out.put(planes.size());
    for (const auto& [place, plane] : planes) {
      words.clear();
      pack(plane.mass, words);
      out.put(place.first);
      out.put(place.second);
      out.put(plane.cells);
      out.put(words);
    }
  }
}

void LevelPlanes::read(ByteReader& in) {
  std::vector<std::uint32_t> words;
  for (auto& planes : planes_) {
    const auto count = in.get<std::size_t>();
    for (std::size_t n = 0; n < count; ++n) {
      const auto level = in.get<std::int32_t>();
      Plane& plane = planes[{level, in.get<Index>()}];
      plane.cells += in.get<Index>();
      in.get(words);
      static_cast<void>(add_packed(words.data(), words.size(), plane.mass));
    }
  }
}

LevelHalo LevelPlanes::finish(const AmrGrid& levels, const LevelPeak& peak, Index cells) const {
  LevelHalo halo;
  halo.peak = peak;
  halo.cells = cells;
  ExactSum mass, volume;
  for (const auto& [place, plane] : planes_[0]) {
    mass.add(plane.mass);
    volume.add_product(static_cast<double>(plane.cells), levels.volume(place.first));
  }
  const double whole = mass.value(), space = volume.value();
  halo.mass = whole * levels.unit_volume();
  halo.volume = space * levels.unit_volume();
  for (std::size_t a = 0; a < static_cast<std::size_t>(levels.dimensions()); ++a) {
    const Index from = levels.middle(peak.cell.level, a, peak.cell.index[a]);
    const Index width = levels.length(peak.cell.level, a) / 2;
    ExactSum weighted, plain;
    halo.low[a] = -width;
    halo.high[a] = width;
    for (const auto& [place, plane] : planes_[a]) {
      const Index away = levels.difference(a, from, levels.middle(place.first, a, place.second));
      const Index half = levels.length(place.first, a) / 2;
      halo.low[a] = std::min(halo.low[a], away - half);
      halo.high[a] = std::max(halo.high[a], away + half);
      add_times(weighted, plane.mass, static_cast<double>(away));
      ExactSum space_here;
      space_here.add_product(static_cast<double>(plane.cells), levels.volume(place.first));
      add_times(plain, space_here, static_cast<double>(away));
    }
    halo.plain[a] = plain.value() / space;
    halo.weighted[a] =
        std::isfinite(whole) && whole != 0 ? weighted.value() / whole : std::numeric_limits<double>::quiet_NaN();
  }
  return halo;
}

namespace {

/// Adds a column for each axis of the mesh; `value_of(halo, axis)`.
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
