#include "levels.hpp"

#include <numeric>

namespace advection {

namespace {

// Interleaves the bits of a tile's indices: tiles close in this order are close in space.
std::uint64_t morton(const Index3& tile) {
  std::uint64_t code = 0;
  for (unsigned bit = 0; bit < 21; ++bit) {
    for (unsigned a = 0; a < 3; ++a) code |= (static_cast<std::uint64_t>(tile[a]) >> bit & 1u) << (3 * bit + a);
  }
  return code;
}

}  // namespace

Index Geometry::cells(int level) const {
  Index count = cells_;
  for (int l = 0; l < level; ++l) count *= ratio_;
  return count;
}

Box Geometry::domain(int level) const {
  const Index n = cells(level);
  return {{0, 0, 0}, {n, n, axes() == 3 ? n : 1}};
}

Index3 Geometry::ratio() const { return {ratio_, ratio_, axes() == 3 ? ratio_ : 1}; }

Place Geometry::centre(int level, Index i, Index j, Index k) const {
  const double h = spacing(level);
  return {(i + 0.5) * h, (j + 0.5) * h, axes() == 3 ? (k + 0.5) * h : 0};
}

Box Geometry::tiles(int level) const { return tiles_of(domain(level)); }

Box Geometry::cells_of(Box tiles) const { return refined(tiles, {tile_, tile_, axes() == 3 ? tile_ : 1}); }

Box Geometry::tiles_of(Box cells) const { return coarsened(cells, {tile_, tile_, axes() == 3 ? tile_ : 1}); }

std::vector<Patch> deal(const Geometry& geometry, int level, const std::vector<Box>& boxes, int ranks) {
  std::int64_t below = 0;  // tiles of coarser levels
  for (int l = 0; l < level; ++l) below += geometry.tiles(l).count();
  const Box tiles = geometry.tiles(level);
  std::vector<Patch> patches;
  for (const Box& box : boxes) {
    const Index3 at = geometry.tiles_of(box).lo;
    const std::int64_t number = at[0] + std::int64_t{tiles.size(0)} * (at[1] + std::int64_t{tiles.size(1)} * at[2]);
    patches.push_back({box, 0, below + number});
  }
  std::sort(patches.begin(), patches.end(), [](const Patch& a, const Patch& b) { return a.id < b.id; });
  std::vector<std::size_t> order(patches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto code = [&](std::size_t p) { return morton(geometry.tiles_of(patches[p].box).lo); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return code(a) < code(b); });
  std::int64_t all = 0, before = 0;
  for (const Patch& patch : patches) all += patch.box.count();
  for (const std::size_t p : order) {
    const std::int64_t count = patches[p].box.count();
    const auto share = static_cast<int>((2 * before + count) * ranks / (2 * all));
    patches[p].owner = (share + level) % ranks;
    before += count;
  }
  return patches;
}

std::vector<Owned> Level::boxes() const {
  std::vector<Owned> all;
  for (const Patch& patch : patches) all.push_back({patch.box, patch.owner});
  return all;
}

std::int64_t Level::cells() const {
  std::int64_t count = 0;
  for (const Patch& patch : patches) count += patch.box.count();
  return count;
}

Level make_level(std::vector<Patch> patches, const Geometry& geometry, int rank) {
  Level level;
  level.patches = std::move(patches);
  level.density.resize(level.patches.size());
  level.speeds.resize(level.patches.size());
  for (std::size_t p = 0; p < level.patches.size(); ++p) {
    if (level.patches[p].owner != rank) continue;
    level.density[p] = Field(grown(level.patches[p].box, ghost_layers, geometry.axes()));
  }
  return level;
}

void set_speeds(Level& level, int number, const Geometry& geometry, const Problem& problem) {
  const Index n = geometry.cells(number);
  const double h = geometry.spacing(number);
  // Bitwise equal at both ends of the domain.
  const auto node = [&](Index index) { return ((index % n + n) % n) * h; };
  for (std::size_t p = 0; p < level.patches.size(); ++p) {
    if (!level.own(p)) continue;
    for (std::size_t a = 0; a < static_cast<std::size_t>(geometry.axes()); ++a) {
      Field& speed = level.speeds[p][a] = Field(faces_of(grown(level.patches[p].box, 1, geometry.axes()), a));
      for_each(speed.box(), [&](Index i, Index j, Index k) {
        const Place low{node(i), node(j), node(k)};
        Place high{low[0] + h, low[1] + h, low[2] + h};
        high[a] = low[a];
        speed.at(i, j, k) = problem.through(low, high, a);
      });
    }
  }
}

void set_exact(Level& level, int number, const Geometry& geometry, const Problem& problem) {
  for (std::size_t p = 0; p < level.patches.size(); ++p) {
    if (!level.own(p)) continue;
    for_each(level.patches[p].box, [&](Index i, Index j, Index k) {
      level.density[p].at(i, j, k) = problem.exact(geometry.centre(number, i, j, k), 0);
    });
  }
}

std::vector<const Field*> sources(const std::vector<Field>& fields) {
  std::vector<const Field*> all;
  for (const Field& field : fields) all.push_back(&field);
  return all;
}

std::vector<Field*> targets(std::vector<Field>& fields) {
  std::vector<Field*> all;
  for (Field& field : fields) all.push_back(&field);
  return all;
}

}  // namespace advection
