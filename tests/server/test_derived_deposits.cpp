// Particles on the cells of a mesh, compared with a loop over all cells for each particle. Particles and regions are on
// any servers.
#include "server/derived/derived_deposits.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <random>

#include "base/mpi/communicator.hpp"
#include "support/fake_particles.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

struct Star {
  std::array<double, 3> x{};
  double weight = 1;
  bool flagged = false;
};

struct World {
  Metadata metadata;
  std::vector<Star> stars;

  World(const Box& cells, int dimensions, const std::array<double, 3>& spacing, std::array<bool, 3> periodic,
        unsigned seed, std::size_t count, bool edges = true) {
    const std::array<double, 3> origin{0.5, -2, 1};
    Mesh grid{0, "grid", cells, dimensions, std::make_shared<UniformGeometry>(origin, spacing)};
    grid.periodic = periodic;
    metadata.meshes.push_back(grid);
    testing::add_particles(metadata, "stars", dimensions,
                           {{"place", Type::float64, dimensions, Role::coordinates}, {"weight", Type::float64, 2}});
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> part(-0.3, 1.3), exponent(-8, 8);
    for (std::size_t n = 0; n < count; ++n) {
      Star star;
      for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
        const int axis = static_cast<int>(a);
        const double u = static_cast<double>(cells.lo[a]) + part(random) * static_cast<double>(cells.extent(axis));
        star.x[a] = origin[a] + spacing[a] * (n % 5 == 0 && edges ? std::floor(u)
                                              : n % 5 == 1        ? std::floor(u) + 0.5
                                                                  : u);
      }
      if (n % 41 == 7) star.x[0] = std::numeric_limits<double>::quiet_NaN();
      star.weight = std::pow(10, exponent(random)) * (n % 3 == 0 ? -1 : 1);
      star.flagged = n % 13 == 4;
      stars.push_back(star);
    }
  }
  [[nodiscard]] const Mesh& grid() const { return metadata.meshes[0]; }
};

/// The deposit in each cell of the mesh, i fastest, found by looking at all cells and all periodic images of each star.
std::vector<long double> expected(const World& world, const Deposit& deposit, std::vector<long double>& scale) {
  const Mesh& mesh = world.grid();
  const auto& uniform = dynamic_cast<const UniformGeometry&>(*mesh.geometry);
  const int order = static_cast<int>(deposit.method);
  std::vector<long double> sums(static_cast<std::size_t>(mesh.cells.count()), 0);
  scale = sums;
  double volume = 1;
  for (int a = 0; a < mesh.dimensions; ++a) volume *= std::fabs(uniform.spacing()[static_cast<std::size_t>(a)]);
  for (const Star& star : world.stars) {
    if (star.flagged) continue;
    std::array<std::vector<long double>, 3> parts;
    bool inside = true;
    for (int a = 0; a < 3; ++a) {
      const auto axis = static_cast<std::size_t>(a);
      const Index n = mesh.cells.extent(a);
      parts[axis].assign(static_cast<std::size_t>(n), a < mesh.dimensions ? 0 : 1);
      if (a >= mesh.dimensions) continue;
      const long double u =
          (static_cast<long double>(star.x[axis]) - uniform.origin()[axis]) / uniform.spacing()[axis] -
          static_cast<long double>(mesh.cells.lo[axis]);
      inside = inside && std::isfinite(u) && (mesh.periodic[axis] || (u >= 0 && u <= static_cast<long double>(n)));
      if (!inside) break;
      for (Index cell = static_cast<Index>(std::floor(u)) - 3; cell < static_cast<Index>(std::floor(u)) + 4; ++cell) {
        const long double away = std::fabs(static_cast<long double>(cell) + 0.5L - u);
        const long double part = order == 1    ? (cell == static_cast<Index>(std::floor(u)) ? 1 : 0)
                                 : order == 2  ? std::max(0.0L, 1 - away)
                                 : away < 0.5L ? 0.75L - away * away
                                               : 0.5L * std::pow(std::max(0.0L, 1.5L - away), 2);
        const Index at = mesh.periodic[axis] ? (cell % n + n) % n : std::clamp<Index>(cell, 0, n - 1);
        parts[axis][static_cast<std::size_t>(at)] += part;
      }
    }
    if (!inside) continue;
    const double weight = deposit.weight < 0 ? 1 : star.weight;
    std::size_t n = 0;
    for (const long double z : parts[2]) {
      for (const long double y : parts[1]) {
        for (const long double x : parts[0]) {
          sums[n] += weight * x * y * z / volume;
          scale[n++] += std::fabs(weight) / volume;
        }
      }
    }
  }
  return sums;
}

/// Views of some of the stars, as two blocks.
struct Mine {
  std::deque<std::vector<double>> memory;
  std::deque<std::vector<std::uint8_t>> flags;
  Views views;

  Mine(const World& world, int server, int servers) {
    views.blocks.resize(world.metadata.variables.size());
    for (int block = 0; block < 2; ++block) {
      std::vector<double> places, weights;
      std::vector<std::uint8_t> flagged;
      for (std::size_t n = 0; n < world.stars.size(); ++n) {
        if (static_cast<int>(n * 7 % static_cast<std::size_t>(2 * servers)) != 2 * server + block) continue;
        const Star& star = world.stars[n];
        places.insert(places.end(), star.x.begin(), star.x.begin() + world.grid().dimensions);
        weights.insert(weights.end(), {-1.0, star.weight});
        flagged.push_back(star.flagged ? 1 : 0);
      }
      const Box list = list_box(static_cast<Index>(flagged.size()));
      const void* const of_flags = flags.emplace_back(std::move(flagged)).data();
      const auto add = [&](std::size_t variable, std::vector<double> values, int components) {
        BlockView& view = views.blocks[variable].emplace_back();
        view.block.id = 2 * server + block;
        view.block.space = IndexSpace::list;
        view.points = list;
        view.owned = {list};
        view.array = {
            memory.emplace_back(std::move(values)).data(),  Type::float64, MemorySpace::host, list, components,
            packed_strides(list, components, Order::column)};
        view.ghosts = {of_flags, Type::uint8, MemorySpace::host, list, 1, packed_strides(list, 1, Order::column)};
      };
      add(0, std::move(places), world.grid().dimensions);
      add(1, std::move(weights), 2);
    }
  }
};

void check(const World& world, const Deposit& deposit) {
  MpiCommunicator together(testing::test_ranks()), self(MPI_COMM_SELF);
  const Mesh& mesh = world.grid();
  const Mine all(world, 0, 1), mine(world, together.rank(), together.size());
  const std::vector<Box> whole{mesh.cells};
  const std::vector<double> one = deposited(deposit, world.metadata, mesh, all.views, whole, self)[0].components[0];
  std::vector<long double> scale;
  const std::vector<long double> twin = expected(world, deposit, scale);
  REQUIRE(one.size() == twin.size());
  for (std::size_t n = 0; n < one.size(); ++n) {
    CHECK(std::fabs(one[n] - static_cast<double>(twin[n])) <= 1e-13 * static_cast<double>(scale[n]));
  }
  // Each server wants another region; some want nothing, and some regions reach beyond the ends.
  std::mt19937 random(static_cast<unsigned>(together.rank()) + 5);
  std::vector<Box> regions;
  for (int r = 0; r < together.rank() % 3 + (together.size() == 1 ? 3 : 0); ++r) {
    Box region = mesh.cells;
    for (int a = 0; a < mesh.dimensions; ++a) {
      const auto axis = static_cast<std::size_t>(a);
      const Index n = mesh.cells.extent(a);
      region.lo[axis] += static_cast<Index>(random() % static_cast<unsigned>(n));
      region.hi[axis] = region.lo[axis] + 1 + static_cast<Index>(random() % static_cast<unsigned>(n));
      if (mesh.periodic[axis]) region.lo[axis] -= 2 * n + 1;
      region.hi[axis] = mesh.periodic[axis] ? region.hi[axis] : std::min(region.hi[axis], mesh.cells.hi[axis]);
    }
    regions.push_back(region);
  }
  regions.push_back({});
  const std::vector<DerivedField> some = deposited(deposit, world.metadata, mesh, mine.views, regions, together);
  REQUIRE(some.size() == regions.size());
  for (const DerivedField& field : some) {
    std::size_t different = 0;
    const Box& box = field.box;
    for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
      for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
        for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
          Index3 p{i, j, k};
          for (std::size_t a = 0; a < 3; ++a) {
            const Index n = mesh.cells.extent(static_cast<int>(a));
            p[a] = ((p[a] - mesh.cells.lo[a]) % n + n) % n;
          }
          const double value =
              one[static_cast<std::size_t>(p[0] + mesh.cells.extent(0) * (p[1] + mesh.cells.extent(1) * p[2]))];
          different += field.components[0][field.offset({i, j, k})] == value ? 0 : 1;
        }
      }
    }
    CHECK(different == 0);
  }
}

}  // namespace

TEST_CASE("densities of particles, however they and the regions are divided") {
  for (const auto& [cells, dimensions] : {std::pair{Box{{2, -3, 5}, {9, 3, 10}}, 3},
                                          {Box{{0, 0, 0}, {11, 7, 1}}, 2},
                                          {Box{{-4, 0, 0}, {9, 1, 1}}, 1},
                                          {Box{{0, 0, 0}, {1, 1, 1}}, 3},
                                          {Box{{0, 0, 0}, {2, 1, 3}}, 3}}) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      const std::array<bool, 3> periodic{(seed & 1) != 0, dimensions > 1 && (seed & 2) != 0,
                                         dimensions > 2 && seed == 3};
      for (const Assignment method : {Assignment::nearest, Assignment::cloud, Assignment::triangle}) {
        // Halfway between two cells, rounding decides which is the nearest.
        const World world(cells, dimensions, {0.5, seed == 2 ? -0.25 : 0.25, 2}, periodic, seed, seed == 1 ? 3 : 300,
                          method != Assignment::nearest);
        check(world, seed % 2 == 0 ? Deposit{1, -1, 0, method} : Deposit{1, 1, 1, method});
      }
    }
  }
}

TEST_CASE("no particle, and one that is no number") {
  MpiCommunicator together(testing::test_ranks());
  World world({{0, 0, 0}, {4, 3, 2}}, 3, {1, 1, 1}, {true, true, true}, 0, 0);
  const std::vector<Box> whole{world.grid().cells};
  const Mine nobody(world, together.rank(), together.size());
  const auto nothing = deposited({1, 1, 1}, world.metadata, world.grid(), nobody.views, whole, together);
  for (const double value : nothing[0].components[0]) {
    CHECK(value == 0);
  }
  world.stars.push_back({{2, -0.5, 2}, std::numeric_limits<double>::quiet_NaN()});
  world.stars.push_back({{2, -0.5, 2}, 1});
  const Mine both(world, together.rank(), together.size());
  const auto found =
      deposited({1, 1, 1, Assignment::nearest}, world.metadata, world.grid(), both.views, whole, together);
  const std::vector<double>& values = found[0].components[0];
  CHECK(std::isnan(values[1 + 4 * (1 + 3 * 1)]));
  CHECK(std::accumulate(values.begin(), values.end(), 0, [](int n, double v) { return n + (std::isnan(v) ? 1 : 0); }) ==
        1);
}
