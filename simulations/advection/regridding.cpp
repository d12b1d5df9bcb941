#include "regridding.hpp"

#include <cmath>

namespace advection {

namespace {

// Marks the tiles that overlap a box of cells, including periodic images.
void mark(Marks& tiles, const Geometry& geometry, const Box& cells) {
  const Box all = tiles.box();
  const auto inside = [&](Index n, std::size_t a) { return n - all.size(a) * floor_of(n, all.size(a)); };
  for_each(geometry.tiles_of(cells),
           [&](Index i, Index j, Index k) { tiles.set(inside(i, 0), inside(j, 1), inside(k, 2)); });
}

bool jumps(const Field& density, std::size_t place, int axes, double limit) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(axes); ++a) {
    const auto step = static_cast<std::size_t>(density.stride(a));
    if (std::abs(density[place + step] - density[place - step]) > 2 * limit) return true;
  }
  return false;
}

// Tiles of the next level that the cells of one level need.
Marks marks_of(MPI_Comm comm, const Options& options, const Geometry& geometry, const Level& level, int next) {
  Marks tiles(geometry.tiles(next));
  for (std::size_t p = 0; p < level.patches.size(); ++p) {
    if (!level.own(p)) continue;
    const Field& density = level.density[p];
    for_each(level.patches[p].box, [&](Index i, Index j, Index k) {
      if (!jumps(density, density.place(i, j, k), geometry.axes(), options.refine)) return;
      const Box cell = grown({{i, j, k}, {i + 1, j + 1, k + 1}}, options.buffer, geometry.axes());
      mark(tiles, geometry, refined(cell, geometry.ratio()));
    });
  }
  std::vector<std::uint8_t>& bytes = tiles.bytes();
  MPI_Allreduce(MPI_IN_PLACE, bytes.data(), static_cast<int>(bytes.size()), MPI_UINT8_T, MPI_MAX, comm);
  return tiles;
}

}  // namespace

std::vector<std::vector<Box>> find_boxes(MPI_Comm comm, const Options& options, const Geometry& geometry,
                                         const std::vector<Level>& levels) {
  const int finest = std::min(static_cast<int>(levels.size()), options.levels - 1);
  std::vector<std::vector<Box>> boxes(static_cast<std::size_t>(finest));
  for (int next = finest; next >= 1; --next) {
    const auto l = static_cast<std::size_t>(next);
    Marks tiles = marks_of(comm, options, geometry, levels[l - 1], next);
    if (next < finest) {
      for (const Box& finer : boxes[l]) mark(tiles, geometry, geometry.under(finer));
    }
    for (const Box& found : cluster(tiles, options.efficiency, options.largest / options.tile)) {
      boxes[l - 1].push_back(geometry.cells_of(found));
    }
  }
  while (!boxes.empty() && boxes.back().empty()) boxes.pop_back();
  return boxes;
}

}  // namespace advection
