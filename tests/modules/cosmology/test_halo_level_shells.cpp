// Profiles and labels of halos in trees and patches. They are compared with a search through all cells, and with a
// uniform grid of the finest level.
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "modules/cosmology/halo_level_cases.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const char* const halos_file = "halos-{index:05}.csv";
const char* const profiles_file = "halo-profiles-{index:05}.csv";
const char* const labels_file = "halo-labels-{index:05}.h5";

/// A leaf of the world: its centre, its volume and its value.
struct Leaf {
  std::array<double, 3> x;
  double volume, value, level;
};

std::vector<Leaf> leaves_of(const TreeWorld& world) {
  std::vector<Leaf> leaves;
  std::vector<TreeCell> stack = world.root_cells();
  while (!stack.empty()) {
    const TreeCell cell = stack.back();
    stack.pop_back();
    if (world.refined(cell)) {
      for (const TreeCell& child : world.children(cell)) stack.push_back(child);
      continue;
    }
    double volume = 1;
    for (int a = 0; a < world.dimensions; ++a) volume *= world.spacing[static_cast<std::size_t>(a)];
    leaves.push_back({world.centre(cell), volume * std::exp2(-cell.level * world.dimensions),
                      world.value(cell, world.centre(cell)), static_cast<double>(cell.level)});
  }
  return leaves;
}

/// Checks the shells round a point against all leaves, by the definition.
void check_shells(const Table& profiles, std::size_t row, const std::vector<Leaf>& leaves, const TreeWorld& world,
                  std::array<bool, 3> periodic, const std::array<double, 3>& middle, const std::vector<double>& edges) {
  std::vector<long double> mass(edges.size()), volume(edges.size()), levels(edges.size());
  std::vector<Index> cells(edges.size());
  for (const Leaf& leaf : leaves) {
    if (std::isnan(leaf.value)) continue;
    double squared = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(world.dimensions); ++a) {
      const double n = static_cast<double>(world.roots[a]) * world.spacing[a];
      double away = leaf.x[a] - middle[a];
      if (periodic[a]) away = std::remainder(away, n);
      squared += away * away;
    }
    std::size_t s = 0;
    while (s < edges.size() && squared >= edges[s] * edges[s]) ++s;
    if (s == edges.size()) continue;
    ++cells[s];
    volume[s] += leaf.volume;
    mass[s] += static_cast<long double>(leaf.value) * leaf.volume;
    levels[s] += static_cast<long double>(leaf.value) * leaf.volume * 10 * leaf.level;
  }
  long double within = mass[0], volume_within = volume[0];
  for (std::size_t s = 1; s < edges.size(); ++s, ++row) {
    within += mass[s];
    volume_within += volume[s];
    CHECK(whole(profiles, row, "shell") == static_cast<Index>(s) - 1);
    CHECK(whole(profiles, row, "cells") == cells[s]);
    const auto same = [&](const char* column, long double expected) {
      if (std::isnan(static_cast<double>(expected))) {
        CHECK(std::isnan(real(profiles, row, column)));
      } else {
        CHECK(real(profiles, row, column) == doctest::Approx(static_cast<double>(expected)).epsilon(1e-12));
      }
    };
    same("volume", volume[s]);
    same("mass", mass[s]);
    same("density", mass[s] / volume[s]);
    same("mass_within", within);
    same("density_within", within / volume_within);
    same("mean_pair_1", levels[s] / mass[s]);
  }
}

/// The number of the halo, or -1, of each cell of the finest grid, as a data set of levels says it.
std::vector<std::int32_t> painted(const DataSet& data, const FakeDomain& fine, const LeafAt& leaf, int dimensions) {
  std::map<std::pair<std::int32_t, Index3>, std::int32_t> labels;
  const auto all = [&]<class T>(std::size_t n, T) {
    std::vector<T> values(data.arrays.at(n).values.size() / sizeof(T));
    std::memcpy(values.data(), data.arrays[n].values.data(), data.arrays[n].values.size());
    return values;
  };
  REQUIRE(data.arrays.size() == 2 + static_cast<std::size_t>(dimensions));
  const auto halos = all(0, std::int32_t{}), levels = all(1, std::int32_t{});
  std::array<std::vector<std::int64_t>, 3> places;
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) places[a] = all(2 + a, std::int64_t{});
  for (std::size_t n = 0; n < halos.size(); ++n) {
    Index3 index{};
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) index[a] = places[a][n];
    CHECK(labels.emplace(std::pair{levels[n], index}, halos[n]).second);
  }
  std::vector<std::int32_t> result;
  std::set<std::pair<std::int32_t, Index3>> used;
  const Box& box = fine.mesh().cells;
  for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
        const TreeCell cell = leaf({i, j, k}).first;
        const auto at = labels.find({cell.level, cell.index});
        result.push_back(at == labels.end() ? -1 : at->second);
        if (at != labels.end()) used.insert(at->first);
      }
    }
  }
  CHECK(used.size() == labels.size());  // covered cells and parents have no labels
  return result;
}

std::vector<std::int32_t> expected_labels(const FakeDomain& fine, int connectivity, double boundary, double peak) {
  const Cells cells(fine, connectivity);
  std::vector<std::int32_t> expected(cells.values.size(), -1);
  std::int32_t number = 0;
  for (const auto& [at, halo] : brute_force(cells, boundary, peak)) {
    for (const Index3& p : halo.cells) {
      expected[static_cast<std::size_t>((p[0] * cells.size[1] + p[1]) * cells.size[2] + p[2])] = number;
    }
    ++number;
  }
  return expected;
}

bool same_data(const DataSet& a, const DataSet& b) {
  if (a.arrays.size() != b.arrays.size()) return false;
  for (std::size_t n = 0; n < a.arrays.size(); ++n) {
    if (a.arrays[n].values != b.arrays[n].values || a.arrays[n].extents != b.arrays[n].extents) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("shells have the leaves that are in them, in every division") {
  MpiCommunicator world_communicator(test_ranks()), self(MPI_COMM_SELF);
  for (const int dimensions : {1, 2, 3}) {
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      TreeWorld world = tree_of(dimensions, seed, dimensions == 3 ? 3 : 5);
      if (dimensions == 1) world.roots = {9, 1, 1};
      const std::array<bool, 3> along{seed == 1, seed == 0, seed == 1};
      const std::vector<Leaf> leaves = leaves_of(world);
      for (const char* about : {"peak", "mass", "centre"}) {
        const std::string yaml =
            "{variable: t, boundary: 5, halo: 7, connectivity: 18, profile: {radius: [0.13, 1.03], bins: 3, "
            "fields: pair, overdensities: [1.1, 1.6], about: " +
            std::string(about) + "}}";
        const CapturedResults one = run(world, along, 1, yaml, self);
        const Table &halos = one.tables.at(halos_file), &profiles = one.tables.at(profiles_file);
        REQUIRE(halos.rows() > 0);
        REQUIRE(profiles.rows() == 3 * halos.rows());
        for (std::size_t h = 0; h < halos.rows() && about[0] == 'p'; ++h) {
          std::array<double, 3> middle{};
          for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
            middle[a] = real(halos, h, std::string("peak_") + "xyz"[a]);
          }
          check_shells(profiles, 3 * h, leaves, world, along, middle, {0.13, 0.13 + 0.3, 0.13 + 0.6, 1.03});
        }
        for (const std::size_t blocks : {2, 7}) {
          if (!test_all() && (blocks == 2) == (seed == 0)) continue;
          const CapturedResults parts = run(world, along, blocks, yaml, self, 3);
          const CapturedResults all = run(world, along, blocks, yaml, world_communicator, 2);
          for (const auto& [name, table] : one.tables) {
            CHECK(same_bits(parts.tables.at(name), table));
            if (world_communicator.rank() == 0) CHECK(same_bits(all.tables.at(name), table));
          }
        }
      }
    }
  }
}

TEST_CASE("a tree of one level has the profiles, radii and labels of a uniform mesh, bit by bit") {
  MpiCommunicator self(MPI_COMM_SELF);
  if (MpiCommunicator(test_ranks()).rank() != 0) return;
  TreeWorld world = tree_of(3, 4, 3);
  world.refined = [](const TreeCell& cell) { return cell.level < 3; };
  const std::array<bool, 3> along{true, false, true};
  LeafAt leaf;
  const FakeDomain fine = resampled(world, 3, along, leaf);
  for (const char* profile : {"{radius: 1.4, bins: 5, about: mass, overdensities: [1.2, 1.5]}",
                              "{radius: [0.1, 3], bins: 4, scale: logarithmic, overdensities: 1.3, reference: 3}",
                              "{radius: 2, bins: 2, of: halo, about: centre}"}) {
    const std::string yaml =
        "{variable: t, boundary: 6, halo: 7, connectivity: 6, profile: " + std::string(profile) + "}";
    const auto levels = run(world, along, 5, yaml, self),
               uniform = run_alone(halos_kind(), yaml, fine, {fine.mesh().cells});
    const Table &a = levels.tables.at(profiles_file), &b = uniform.tables.at(profiles_file);
    REQUIRE(a.rows() == b.rows());
    REQUIRE(a.rows() > 100);
    for (const char* column : {"lower", "upper", "mass", "density", "mass_within", "density_within"}) {
      std::size_t different = 0;
      for (std::size_t r = 0; r < a.rows(); ++r) {
        const double x = real(a, r, column), y = real(b, r, column);
        different += x == y || (std::isnan(x) && std::isnan(y)) ? 0 : 1;
      }
      CHECK_MESSAGE(different == 0, column);
    }
    const Table &h = levels.tables.at(halos_file), &u = uniform.tables.at(halos_file);
    int compared = 0;
    for (const std::string& column : u.names()) {
      if (column.rfind("r_", 0) != 0 && column.rfind("mass_1", 0) != 0) continue;
      ++compared;
      for (std::size_t r = 0; r < u.rows(); ++r) {
        const double x = real(h, r, column), y = real(u, r, column);
        CHECK((x == y || (std::isnan(x) && std::isnan(y))));
      }
    }
    CHECK((compared > 0) == (std::string_view(profile).find("overdensities") != std::string_view::npos));
  }
}

TEST_CASE("where a power law is so many times as dense, on a tree that is finest in the middle") {
  MpiCommunicator self(MPI_COMM_SELF);
  TreeWorld world;
  world.origin = {-1, -1, -1};
  world.spacing = {2, 2, 2};
  world.owner = scattered;
  const auto squared = [](const std::array<double, 3>& x) { return x[0] * x[0] + x[1] * x[1] + x[2] * x[2]; };
  world.refined = [world, squared](const TreeCell& cell) {
    return cell.level < 4 || (cell.level < 7 && squared(world.centre(cell)) < 0.7 * std::exp2(4 - cell.level));
  };
  world.value = [squared](const TreeCell&, const std::array<double, 3>& x) { return 1 / std::max(squared(x), 1e-4); };
  const CapturedResults results = run(world, {}, 3,
                                      "{variable: t, boundary: 50, halo: 60, profile: {radius: [0.1, 0.9], bins: 16, "
                                      "scale: logarithmic, overdensities: [200, 2], reference: 0.06}}",
                                      self);
  const Table& halos = results.tables.at(halos_file);
  REQUIRE(halos.rows() == 1);
  const double radius = std::sqrt(3 / 200.0 / 0.06);  // within r it is 3 r^-2 times as dense
  CHECK(real(halos, 0, "r_200") == doctest::Approx(radius).epsilon(0.01));
  CHECK(real(halos, 0, "mass_200") ==
        doctest::Approx(200 * 0.06 * 4 * std::numbers::pi / 3 * std::pow(real(halos, 0, "r_200"), 3)).epsilon(1e-12));
  CHECK(std::isnan(real(halos, 0, "r_2")));
}

TEST_CASE("labels of trees and patches are those of the finest level, of no covered cell, in every division") {
  MpiCommunicator world_communicator(test_ranks()), self(MPI_COMM_SELF);
  const auto check = [&](const DataSet& one, const FakeDomain& fine, const LeafAt& leaf, int dimensions,
                         int connectivity) {
    const auto expected = expected_labels(fine, connectivity, 6, 7);
    CHECK(*std::max_element(expected.begin(), expected.end()) > 1);
    CHECK(painted(one, fine, leaf, dimensions) == expected);
  };
  for (const int dimensions : {1, 2, 3}) {
    TreeWorld world = tree_of(dimensions, 9, dimensions == 3 ? 3 : 5);
    if (dimensions == 1) world.roots = {40, 1, 1};
    const std::array<bool, 3> along{true, false, true};
    LeafAt leaf;
    const FakeDomain fine = resampled(world, dimensions == 3 ? 3 : 5, along, leaf);
    for (const int connectivity : {6, 14}) {
      const std::string yaml =
          "{variable: t, boundary: 6, halo: 7, labels: {}, connectivity: " + std::to_string(connectivity) + "}";
      const CapturedResults one = run(world, along, 1, yaml, self);
      check(one.data_sets.at(labels_file), fine, leaf, dimensions, connectivity);
      const CapturedResults parts = run(world, along, 7, yaml, self, 3);
      CHECK(same_data(parts.data_sets.at(labels_file), one.data_sets.at(labels_file)));
      const CapturedResults all = run(world, along, 5, yaml, world_communicator, 2);
      if (world_communicator.rank() == 0)
        CHECK(same_data(all.data_sets.at(labels_file), one.data_sets.at(labels_file)));
    }
  }
  for (const int dimensions : {2, 3}) {
    PatchWorld world = random_patches(dimensions, 6);
    world.periodic = {dimensions == 2, false, true};
    world.value = [](const TreeCell& cell, auto&) { return value_of(cell, 5); };
    LeafAt leaf;
    const FakeDomain fine = resampled(world, leaf);
    const std::string yaml =
        "{variable: t, boundary: 6, halo: 7, labels: {}, connectivity: 26, profile: {radius: 0.4, bins: 3, fields: pair, "
        "of: halo}}";
    const CapturedResults one = run_patches(halos_kind(), yaml, world, self);
    check(one.data_sets.at(labels_file), fine, leaf, dimensions, 26);
    for (const PatchWorld& divided : {world, halved(world)}) {
      const CapturedResults all = run_patches(halos_kind(), yaml, divided, world_communicator, 2);
      if (world_communicator.rank() != 0) continue;
      CHECK(same_data(all.data_sets.at(labels_file), one.data_sets.at(labels_file)));
      for (const auto& [name, table] : one.tables) CHECK(same_bits(all.tables.at(name), table));
    }
  }
}

TEST_CASE("profiles of halos of patches have their own cells alone, and all of them") {
  MpiCommunicator self(MPI_COMM_SELF);
  PatchWorld world = random_patches(3, 6);
  world.value = [](const TreeCell& cell, auto&) { return value_of(cell, 5); };
  const CapturedResults results = run_patches(
      halos_kind(), "{variable: t, boundary: 6, halo: 7, profile: {radius: 9, bins: 2, fields: pair, of: halo}}", world,
      self);
  const Table &halos = results.tables.at(halos_file), &profiles = results.tables.at(profiles_file);
  REQUIRE(halos.rows() > 5);
  for (std::size_t h = 0; h < halos.rows(); ++h) {
    CHECK(real(profiles, 2 * h + 1, "mass_within") == doctest::Approx(real(halos, h, "mass")).epsilon(1e-13));
    CHECK(whole(profiles, 2 * h, "cells") + whole(profiles, 2 * h + 1, "cells") == whole(halos, h, "cells"));
    CHECK(real(profiles, 2 * h, "volume") + real(profiles, 2 * h + 1, "volume") ==
          doctest::Approx(real(halos, h, "volume")).epsilon(1e-13));
  }
}

TEST_CASE("one cell round a periodic mesh, and nothing at all") {
  MpiCommunicator self(MPI_COMM_SELF);
  const TreeWorld world = one_root_cell();
  const CapturedResults one =
      run(world, {true, true, true}, 1,
          "{variable: t, boundary: 7, halo: 7, labels: {}, profile: {radius: 3, bins: 1, units: cells}}", self);
  REQUIRE(one.tables.at(profiles_file).rows() == 1);
  CHECK(whole(one.tables.at(profiles_file), 0, "cells") == 1);  // however many of its images are within the radius
  CHECK(real(one.tables.at(profiles_file), 0, "upper") == 6);
  CHECK(real(one.tables.at(profiles_file), 0, "mass") == 56);
  CHECK(one.data_sets.at(labels_file).arrays[0].extents[0] == 1);
  const CapturedResults none = run(
      world, {}, 1, "{variable: t, boundary: 8, halo: 8, labels: {}, profile: {radius: 3, overdensities: 200}}", self);
  CHECK(none.tables.at(profiles_file).rows() == 0);
  CHECK(none.tables.at(halos_file).rows() == 0);
  CHECK(none.data_sets.at(labels_file).arrays[0].extents[0] == 0);
}
