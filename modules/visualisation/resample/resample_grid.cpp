#include "visualisation/resample/resample_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/data/tree_walk.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"

namespace sidestream {
namespace {

/// Takes the corners of the grid; by default those of the mesh.
void take_corners(const Settings& settings, const GridOptions& options, const Mesh& mesh, ResampleGrid& grid) {
  const std::vector<double>&low = options.low, &high = options.high;
  const auto expected = static_cast<std::size_t>(grid.dimensions);
  if (low.empty() != high.empty() || (low.empty() && !mesh.axes())) {
    settings.fail(low.empty() ? "low" : "high",
                  fmt::format("where the grid begins and ends has to be given as `low` and `high`{}",
                              mesh.axes() ? ", or neither of them: then it is the mesh's own bounds" : ""));
  }
  for (std::size_t a = 0; a < expected; ++a) {
    if (!low.empty() && (low.size() != expected || high.size() != expected)) {
      settings.fail(low.size() != expected ? "low" : "high",
                    fmt::format("found {} and {} numbers, expected {}, one for each dimension of the mesh", low.size(),
                                high.size(), expected));
    }
    const auto axis = static_cast<int>(a);
    const auto ends =
        low.empty() ? std::pair(mesh.axes()->node(axis, mesh.cells.lo[a]), mesh.axes()->node(axis, mesh.cells.hi[a]))
                    : std::pair(low[a], high[a]);
    grid.low[a] = low.empty() ? std::min(ends.first, ends.second) : ends.first;
    grid.high[a] = low.empty() ? std::max(ends.first, ends.second) : ends.second;
    if (grid.low[a] < grid.high[a] && std::isfinite(grid.high[a] - grid.low[a])) continue;
    settings.fail("high",
                  fmt::format("the grid reaches from {} to {} along {}; expected two finite numbers, the lower one "
                              "first",
                              grid.low[a], grid.high[a], "xyz"[a]));
  }
}

/// Grid with the cells of a level of a mesh: all of them, or those that a region meets.
ResampleGrid grid_of_level(const Settings& settings, const GridOptions& options, const Mesh& mesh) {
  const std::int32_t level = *options.level;
  const auto finest = static_cast<std::int32_t>(mesh.refinement.size());
  if (!options.size.empty()) settings.fail("size", "`level` says how many cells there are; leave out one of both");
  if (mesh.axes() == nullptr || level > finest || (mesh.kind() != MeshKind::uniform && level > 0)) {
    settings.fail("level",
                  fmt::format("mesh '{}' is {} and has no level {} of cells of one size; give the `size` of the "
                              "grid",
                              mesh.name, mesh.geometry ? mesh.geometry->kind() : "none", level));
  }
  ResampleGrid region;
  region.dimensions = mesh.dimensions;
  take_corners(settings, options, mesh, region);
  ResampleGrid grid = region;
  const LevelAxes axes(mesh, level);
  for (int a = 0; a < mesh.dimensions; ++a) {
    const auto n = static_cast<std::size_t>(a);
    Index ends[2];
    for (const auto& [corner, end] : {std::pair{region.low[n], 0}, {region.high[n], 1}}) {
      ends[end] = axes.cell_at(a, corner, axes.cells().lo[n]);
      if (ends[end] >= axes.cells().lo[n]) continue;
      settings.fail(end == 0 ? "low" : "high",
                    fmt::format("{} is outside of mesh '{}' along {}; with `level` the corners "
                                "lie in the mesh",
                                corner, mesh.name, "xyz"[n]));
    }
    // A region that ends exactly at the lower face of a cell does not meet that cell.
    const bool up = axes.node(a, 0) <= axes.node(a, 1);
    Index& upper = ends[up ? 1 : 0];
    if (upper > std::min(ends[0], ends[1]) && axes.node(a, upper) == (up ? region.high[n] : region.low[n])) --upper;
    const Index first = std::min(ends[0], ends[1]), end = std::max(ends[0], ends[1]) + 1;
    grid.size[n] = end - first;
    std::tie(grid.low[n], grid.high[n]) = std::minmax({axes.node(a, first), axes.node(a, end)});
  }
  return grid;
}

}  // namespace

OptionTable<GridOptions> grid_options() {
  return {
      grid_size_option(&GridOptions::size, false),  // `level` may replace it
      option("level", &GridOptions::level,
             "Instead of `size`: the grid has the cells of this refinement level of a uniform mesh or of an octree: "
             "all of them, or those that overlap the region from `low` to `high`.",
             {.minimum = 0, .maximum = 30}),
      place_option("low", &GridOptions::low,
                   "Lower corner of the grid. Default: that of the mesh, if it is uniform, rectilinear or an "
                   "octree.",
                   false),
      place_option("high", &GridOptions::high, "Upper corner of the grid, with the same default.", false)};
}

ResampleGrid read_grid(const Settings& settings, const GridOptions& options, const Mesh& given) {
  const Mesh mesh = given.kind() == MeshKind::octree ? as_levels(given, options.level.value_or(0)) : given;
  if (options.level) return grid_of_level(settings, options, mesh);
  ResampleGrid grid;
  grid.dimensions = mesh.dimensions;
  const std::vector<Index>& size = options.size;
  if (static_cast<int>(size.size()) != mesh.dimensions) {
    settings.fail("size", fmt::format("found {} numbers, expected {}, one for each dimension of the mesh", size.size(),
                                      mesh.dimensions));
  }
  std::copy(size.begin(), size.end(), grid.size.begin());
  take_corners(settings, options, mesh, grid);
  return grid;
}

}  // namespace sidestream
