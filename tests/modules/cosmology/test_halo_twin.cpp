// Halos, as `halos` and `merge_tree` find them, compared with a simple search on small random meshes. Cases have any
// connectivity, periodicity, type, order, threshold and division, with plateaus, ties, NaN, infinities and single
// cells.
#include <cmath>
#include <limits>
#include <random>

#include "modules/cosmology/halo_checks.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// A random case, the same on all servers.
struct Case {
  Index3 size{1, 1, 1};
  int dimensions = 1;
  std::array<bool, 3> along{};
  int connectivity = 6;
  FakeField field;
  double boundary = 0, peak = 0;
  std::size_t least = 1, blocks = 1;

  explicit Case(unsigned seed) {
    std::mt19937 random(seed);
    const auto up_to = [&](unsigned n) { return static_cast<int>(random() % n); };
    dimensions = 1 + up_to(3);
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
      size[a] = dimensions == 1 ? 1 + up_to(30) : 1 + up_to(7);
      along[a] = up_to(2) == 0;
    }
    connectivity = std::array{6, 14, 18, 26}[static_cast<std::size_t>(up_to(4))];
    field.name = "a";
    field.type = std::array{Type::float64, Type::float32, Type::int16}[static_cast<std::size_t>(up_to(3))];
    field.order = up_to(2) == 0 ? Order::row : Order::column;
    const int values = 2 + up_to(6);
    const bool odd = field.type != Type::int16 && up_to(2) == 0;
    field.value = [seed, values, odd](auto&, const Index3& p, int) {
      const double value = noise(p, seed + 1000, values), other = noise(p, seed + 2000, 12);
      if (!odd || other > 2) return value;
      return other == 0 ? std::numeric_limits<double>::quiet_NaN()
                        : (other == 1 ? 1 : -1) * std::numeric_limits<double>::infinity();
    };
    boundary = up_to(static_cast<unsigned>(values));  // some cells have this value, and >= must include them
    peak = boundary + up_to(2);
    least = 1 + static_cast<std::size_t>(up_to(3));
    const auto cells = static_cast<std::size_t>(size[0] * size[1] * size[2]);
    blocks = std::min<std::size_t>(1 + random() % (seed % 8 == 0 ? 64 : 9), cells);
  }
  [[nodiscard]] FakeDomain domain() const {
    const Box cells{{-3, 2, 0}, {-3 + size[0], 2 + size[1], size[2]}};
    return periodic(
        FakeDomain(cells, std::make_shared<UniformGeometry>(std::array{0.0, 1.0, 2.0}, std::array{0.5, 2.0, 1.0}),
                   {field}, dimensions),
        along);
  }
};

/// Connected components: each cell takes the largest number of its neighbours until nothing changes.
std::map<Index, std::vector<Index>> twin(const Case& one, const Cells& cells) {
  std::vector<Index> number(cells.values.size(), -1);
  for (std::size_t n = 0; n < number.size(); ++n) {
    if (cells.values[n] >= one.boundary) number[n] = static_cast<Index>(n);
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t n = 0; n < number.size(); ++n) {
      if (number[n] < 0) continue;
      for (const Index other : cells.neighbours(static_cast<Index>(n))) {
        const Index theirs = number[static_cast<std::size_t>(other)];
        if (theirs > number[n]) number[n] = theirs, changes = true;
      }
    }
  }
  std::map<Index, std::vector<Index>> components, halos;
  for (std::size_t n = 0; n < number.size(); ++n) {
    if (number[n] >= 0) components[number[n]].push_back(static_cast<Index>(n));
  }
  const auto value = [&](Index n) { return cells.values[static_cast<std::size_t>(n)]; };
  for (const auto& [name, members] : components) {
    Index top = members.front();
    for (const Index n : members) top = value(n) >= value(top) ? n : top;  // ascending: the larger index wins ties
    if (value(top) >= one.peak && members.size() >= one.least) halos[top] = members;
  }
  return halos;
}

void compare(const Table& table, std::size_t columns, const std::map<Index, std::vector<Index>>& expected,
             const Cells& cells, double volume) {
  REQUIRE(table.rows() == expected.size());
  CHECK(table.names().size() >= columns);
  std::size_t row = 0;
  for (const auto& [peak, members] : expected) {
    double mass = 0;
    for (const Index n : members) mass += cells.values[static_cast<std::size_t>(n)];
    CHECK(whole(table, row, "peak_index") == peak);
    CHECK(real(table, row, "peak_value") == cells.values[static_cast<std::size_t>(peak)]);
    CHECK(whole(table, row, "cells") == static_cast<Index>(members.size()));
    CHECK(real(table, row, "mass") == mass * volume);  // exact for whole numbers
    ++row;
  }
}

}  // namespace

TEST_CASE("halos are those that a simple search finds") {
  MpiCommunicator world(test_ranks());
  std::size_t found = 0;
  for (unsigned seed = 0; seed < 240; ++seed) {
    CAPTURE(seed);
    const Case one(seed);
    const FakeDomain domain = one.domain();
    const Cells cells(domain, one.connectivity);
    const auto expected = twin(one, cells);
    double volume = 1;
    for (int a = 0; a < one.dimensions; ++a) volume *= std::array{0.5, 2.0, 1.0}[static_cast<std::size_t>(a)];
    const std::string thresholds = "boundary: " + std::to_string(one.boundary) + ", halo: " + std::to_string(one.peak) +
                                   ", minimum_cells: " + std::to_string(one.least);
    const std::string field = "{variable: a, connectivity: " + std::to_string(one.connectivity) + ", ";
    const Division division = random_division(domain.mesh().cells, one.blocks, seed);
    const FakeRun how{.ghosts = static_cast<int>(seed % 2), .partials = 1 + seed % 3};
    const auto halos = run_analysis(halos_kind(), field + thresholds + "}", domain, division, world, how);
    const auto tree = run_analysis(merge_tree_kind(), field + "halos: {" + thresholds + "}}", domain, division, world,
                                   {.ghosts = how.ghosts});
    if (world.rank() != 0) continue;
    compare(halos.tables.at("halos-{index:05}.csv"), 8, expected, cells, volume);
    compare(tree.tables.at("merge-tree-halos-{index:05}.csv"), 7, expected, cells, volume);
    found += expected.size();
  }
  if (world.rank() == 0) CHECK(found > 300);
}
