// Halos in trees and patches on levels. They are those of the mesh in which all cells are divided into cells of the
// finest level. Results have the same bits for every division and number of servers.
#include <cmath>

#include "modules/cosmology/halo_level_cases.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// Compares row by row. A cell of a level stands for the finest cell at its upper corner. `exact` means that cells are
/// divided by powers of two.
void compare(const Table& levels, const FakeDomain& fine, const Table& expected, const LeafAt& leaf, bool exact) {
  REQUIRE(levels.rows() == expected.rows());
  const auto* uniform = dynamic_cast<const UniformGeometry*>(fine.mesh().geometry.get());
  double cell = 1;
  for (int a = 0; a < fine.mesh().dimensions; ++a) cell *= uniform->spacing()[a];
  for (std::size_t r = 0; r < levels.rows(); ++r) {
    Index3 peak{};
    for (std::size_t a = 0; a < static_cast<std::size_t>(fine.mesh().dimensions); ++a) {
      peak[a] = whole(expected, r, std::string("peak_") + "ijk"[a]);
    }
    const auto [at, value] = leaf(peak);
    CHECK(real(levels, r, "peak_value") == value);
    CHECK(whole(levels, r, "peak_level") == at.level);
    const double mass = real(levels, r, "mass"), other = real(expected, r, "mass");
    if (exact) {
      CHECK(mass == other);
    } else {
      CHECK(mass == doctest::Approx(other).epsilon(1e-13));
    }
    CHECK(real(levels, r, "volume") ==
          doctest::Approx(cell * static_cast<double>(whole(expected, r, "cells"))).epsilon(1e-12));
    CHECK(whole(levels, r, "cells") <= whole(expected, r, "cells"));
    for (std::size_t a = 0; a < static_cast<std::size_t>(fine.mesh().dimensions); ++a) {
      const std::string xyz(1, "xyz"[a]), ijk(1, "ijk"[a]);
      CHECK(whole(levels, r, "peak_" + ijk) == at.index[a]);
      if (fine.mesh().periodic[a]) continue;  // halos that reach round more than half of the mesh are cut elsewhere
      CHECK(real(levels, r, "mass_" + xyz) == doctest::Approx(real(expected, r, "mass_" + xyz)).epsilon(1e-11));
      CHECK(real(levels, r, "centre_" + xyz) == doctest::Approx(real(expected, r, "centre_" + xyz)).epsilon(1e-11));
      const auto face = [&](Index i) { return uniform->origin()[a] + uniform->spacing()[a] * static_cast<double>(i); };
      CHECK(real(levels, r, "low_" + xyz) == doctest::Approx(face(whole(expected, r, "low_" + ijk))));
      CHECK(real(levels, r, "high_" + xyz) == doctest::Approx(face(whole(expected, r, "high_" + ijk) + 1)));
    }
  }
}

const char* const file = "halos-{index:05}.csv";

}  // namespace

TEST_CASE("halos in trees are those of the finest level, in every division") {
  MpiCommunicator world_communicator(test_ranks()), self(MPI_COMM_SELF);
  std::size_t found = 0, tried = 0;
  for (const int dimensions : {1, 2, 3}) {
    for (std::uint64_t seed = 0; seed < (dimensions == 3 ? 2 : 4); ++seed) {
      const std::int32_t deepest = dimensions == 3 ? 3 : 4;
      TreeWorld world = tree_of(dimensions, seed, deepest);
      if (dimensions == 1) world.roots = {5, 1, 1};
      const std::array<bool, 3> along{seed % 2 == 1, seed > 1 || (seed == 1 && dimensions == 3), seed == 1};
      LeafAt leaf;
      const FakeDomain fine = resampled(world, deepest, along, leaf);
      for (const int connectivity : {6, 14, 18, 26}) {
        for (const char* rest :
             {"boundary: 6, halo: 7", "boundary: 1.1, halo: 1.6, units: mean, mass_function: {bins: 4}"}) {
          const std::size_t n = seed + tried / 2 + tried % 2;
          if (++tried; n % 2 == 1 && !test_all()) continue;
          const std::string yaml = "{variable: t, connectivity: " + std::to_string(connectivity) + ", " + rest + "}";
          const auto one = run(world, along, 1, yaml, self);
          found += one.tables.at(file).rows();
          compare(one.tables.at(file), fine, run_alone(halos_kind(), yaml, fine, {fine.mesh().cells}).tables.at(file),
                  leaf, true);
          for (const std::size_t blocks : {2, 7}) {
            const auto parts = run(world, along, blocks, yaml, self, 3);
            const auto all = run(world, along, blocks, yaml, world_communicator, 1 + blocks % 2);
            for (const auto& [name, table] : one.tables) {
              CHECK(same_bits(parts.tables.at(name), table));
              if (world_communicator.rank() == 0) CHECK(same_bits(all.tables.at(name), table));
            }
          }
        }
      }
    }
  }
  CHECK(found > (test_all() ? 300 : 150));
}

TEST_CASE("halos in patches are those of the finest level, in every division of servers and of levels into patches") {
  MpiCommunicator world_communicator(test_ranks()), self(MPI_COMM_SELF);
  for (const int dimensions : {2, 3}) {
    PatchWorld world = random_patches(dimensions, 6);
    world.periodic = {dimensions == 2, false, true};
    world.value = [](const TreeCell& cell, auto&) { return value_of(cell, 5); };
    LeafAt leaf;
    const FakeDomain fine = resampled(world, leaf);
    for (const int connectivity : {6, 26}) {
      const std::string yaml =
          "{variable: t, boundary: 7, halo: 7, connectivity: " + std::to_string(connectivity) + "}";
      const Table one = run_patches(halos_kind(), yaml, world, self).tables.at(file);
      CHECK(one.rows() > 10);
      compare(one, fine, run_alone(halos_kind(), yaml, fine, {fine.mesh().cells}).tables.at(file), leaf, false);
      const auto check = [&](const PatchWorld& divided) {
        CHECK(same_bits(run_patches(halos_kind(), yaml, divided, self, 3).tables.at(file), one));
        const CapturedResults all = run_patches(halos_kind(), yaml, divided, world_communicator, 2);
        if (world_communicator.rank() == 0) CHECK(same_bits(all.tables.at(file), one));
      };
      check(world);
      check(halved(world));
    }
  }
}

TEST_CASE("one root cell round a periodic mesh, and a tree with nothing in it") {
  MpiCommunicator self(MPI_COMM_SELF);
  const TreeWorld world = one_root_cell();
  const Table table = run(world, {true, true, true}, 1, "{variable: t, boundary: 7, halo: 7}", self).tables.at(file);
  REQUIRE(table.rows() == 1);
  CHECK(real(table, 0, "mass") == 56);
  CHECK(real(table, 0, "volume") == 8);
  CHECK(real(table, 0, "mass_y") == 1);
  CHECK(real(table, 0, "high_z") == 2);
  CHECK(run(world, {}, 1, "{variable: t, boundary: 8, halo: 8}", self).tables.at(file).rows() == 0);
}

TEST_CASE("a halo of a deep tree round the end of the mesh is where it is") {
  MpiCommunicator self(MPI_COMM_SELF);
  TreeWorld world;
  world.owner = scattered;
  // The tree is fine at the corners of the mesh, which are the same place, as it is periodic.
  world.refined = [](const TreeCell& cell) {
    for (const Index i : cell.index) {
      if (i != 0 && i + 1 != Index{1} << cell.level) return false;
    }
    return cell.level < 20;
  };
  world.value = [](const TreeCell& cell, auto&) { return cell.level == 20 ? 1.0 + (cell.index[0] == 0) : 0.0; };
  for (const std::size_t blocks : {1, 5}) {
    const Table table =
        run(world, {true, true, true}, blocks, "{variable: t, boundary: 1, halo: 2}", self).tables.at(file);
    REQUIRE(table.rows() == 1);
    CHECK(whole(table, 0, "cells") == 64);
    const double h = std::exp2(-20);
    CHECK(real(table, 0, "volume") == 64 * h * h * h);
    CHECK(real(table, 0, "mass") == 80 * h * h * h);
    CHECK(real(table, 0, "centre_y") == 0);
    CHECK(real(table, 0, "centre_x") == 0);
    CHECK(real(table, 0, "mass_x") == doctest::Approx(h / 10).epsilon(1e-12));
    CHECK(real(table, 0, "high_x") - real(table, 0, "low_x") == 4 * h);
  }
}
