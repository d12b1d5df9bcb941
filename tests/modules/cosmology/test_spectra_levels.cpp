// Spectra and lines of sight of trees and patches, resampled to a level. They have the bits of those of a uniform mesh
// whose cells have the means, which are taken cell by cell here.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "cosmology/kinds.hpp"
#include "modules/cosmology/halo_level_cases.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "support/fake_pieces.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// The mean of the finest cells in each cell of a level, `ratio` of them along each axis.
FakeDomain means_of(const FakeDomain& fine, const Index3& ratio) {
  const Mesh& mesh = fine.mesh();
  const auto& geometry = dynamic_cast<const UniformGeometry&>(*mesh.geometry);
  Box cells = mesh.cells;
  std::array<double, 3> spacing = geometry.spacing();
  for (std::size_t a = 0; a < 3; ++a) {
    cells.lo[a] /= ratio[a];
    cells.hi[a] /= ratio[a];
    spacing[a] *= static_cast<double>(ratio[a]);
  }
  const auto mean = [&fine, ratio](auto&, const Index3& p, int) {
    ExactSum sum;
    for (Index k = 0; k < ratio[2]; ++k) {
      for (Index j = 0; j < ratio[1]; ++j) {
        for (Index i = 0; i < ratio[0]; ++i) {
          sum.add(fine.value(0, {p[0] * ratio[0] + i, p[1] * ratio[1] + j, p[2] * ratio[2] + k}, 0));
        }
      }
    }
    return sum.value() / static_cast<double>(ratio[0] * ratio[1] * ratio[2]);
  };
  return FakeDomain(cells, std::make_shared<UniformGeometry>(geometry.origin(), spacing), {{"t", mean}},
                    mesh.dimensions);
}

/// Values without NaN, whose mean is not 0.
double value_in(const TreeCell& cell) { return 1 + random_of(cell, 5); }

const char* const power_file = "power_spectrum.csv";

void compare(const CapturedResults& found, const CapturedResults& expected, bool exact) {
  REQUIRE(found.tables.size() == expected.tables.size());
  for (const auto& [name, table] : expected.tables) {
    const Table& other = found.tables.at(name);
    if (exact) {
      CHECK(same_bits(other, table));
      continue;
    }
    REQUIRE(other.rows() == table.rows());
    for (std::size_t r = 0; r < table.rows(); ++r) {
      CHECK(real(other, r, "power") == doctest::Approx(real(table, r, "power")).epsilon(1e-11));
    }
  }
}

}  // namespace

TEST_CASE("spectra of trees at a level are those of the means in its cells, in every division") {
  MpiCommunicator world_communicator(test_ranks()), self(MPI_COMM_SELF);
  for (const int dimensions : {1, 2, 3}) {
    TreeWorld world = tree_of(dimensions, 1, 3);
    world.value = [](const TreeCell& cell, auto&) { return value_in(cell); };
    if (dimensions == 1) world.roots = {5, 1, 1};
    LeafAt leaf;
    const FakeDomain fine = resampled(world, 3, {}, leaf);
    for (const Index level : {1, 2, 3}) {
      Index3 ratio{1, 1, 1};
      for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) ratio[a] = Index{1} << (3 - level);
      const FakeDomain means = means_of(fine, ratio);
      const std::array<std::string, 3> options{"bins: widening", "along: [x]", "decomposition: slabs, of: difference"};
      for (std::size_t n = 0; n < options.size(); ++n) {
        // Each with one level of each dimension, or with all.
        if (!test_all() && n != static_cast<std::size_t>(level + dimensions) % 3) continue;
        const std::string& rest = options[n];
        CAPTURE(rest);
        const std::string yaml = "{variable: t, " + rest;
        const CapturedResults expected = run_pieces_alone(power_spectrum_kind(), yaml + "}", means);
        REQUIRE(expected.tables.at(power_file).rows() > 0);
        const std::string of_level = yaml + ", level: " + std::to_string(level) + "}";
        for (const std::size_t blocks : {1, 5}) {
          const TreeBlocks tree(world, blocks);
          const auto run = [&](Communicator& servers, std::size_t partials) {
            return run_lists(power_spectrum_kind(), of_level, tree.domain, tree.blocks, servers, partials);
          };
          compare(run(self, 1 + blocks % 3), expected, true);
          const CapturedResults all = run(world_communicator, blocks);
          if (world_communicator.rank() == 0) compare(all, expected, true);
        }
      }
    }
  }
}

TEST_CASE("spectra of patches with any ratios, and of two fields") {
  MpiCommunicator world_communicator(test_ranks()), self(MPI_COMM_SELF);
  for (const int dimensions : {2, 3}) {
    PatchWorld world = random_patches(dimensions, 6);
    world.value = [](const TreeCell& cell, auto&) { return value_in(cell); };
    LeafAt leaf;
    const FakeDomain fine = resampled(world, leaf);
    const Mesh mesh = world.metadata().meshes[0];
    for (const std::int32_t level : {0, 1, 2}) {
      if (!test_all() && dimensions == 3 && level != 1) continue;
      Index3 ratio = mesh.ratio_to(2);
      for (std::size_t a = 0; a < 3; ++a) ratio[a] /= mesh.ratio_to(level)[a];
      const std::string of_level = "{variable: t, level: " + std::to_string(level) + "}";
      const CapturedResults expected = run_pieces_alone(power_spectrum_kind(), "{variable: t}", means_of(fine, ratio));
      const CapturedResults one = run_patches(power_spectrum_kind(), of_level, world, self);
      compare(one, expected, level == 2);  // thirds of a cell are rounded
      for (const PatchWorld& divided : {world, halved(world)}) {
        compare(run_patches(power_spectrum_kind(), of_level, divided, self, 3), one, true);
        const CapturedResults all = run_patches(power_spectrum_kind(), of_level, divided, world_communicator, 2);
        if (world_communicator.rank() == 0) compare(all, one, true);
      }
    }
    const std::string two = "{variable: t, with: pair, with_component: 0, level: 1}";
    const Table table = run_patches(power_spectrum_kind(), two, world, self).tables.at(power_file);
    const CapturedResults all = run_patches(power_spectrum_kind(), two, halved(world), world_communicator);
    if (world_communicator.rank() == 0) CHECK(same_bits(all.tables.at(power_file), table));
  }
}

TEST_CASE("lines of sight through a tree have the bits of those through its finest level") {
  MpiCommunicator world_communicator(test_ranks());
  TreeWorld world = tree_of(3, 1, 2);
  world.value = [](const TreeCell& cell, auto&) { return value_in(cell); };
  LeafAt leaf;
  const FakeDomain fine = resampled(world, 2, {}, leaf);
  const std::string yaml =
      "{hydrogen: t, temperature: t, redshift: 3, mean_flux: 0.7, density_unit: 1e-9, "
      "pdf_file: pdf.csv, field_spectrum_file: field.csv";
  const CapturedResults expected = run_pieces_alone(lyman_alpha_kind(), yaml + "}", fine);
  const TreeBlocks tree(world, 4);
  const CapturedResults found =
      run_lists(lyman_alpha_kind(), yaml + ", level: 2}", tree.domain, tree.blocks, world_communicator);
  if (world_communicator.rank() == 0) compare(found, expected, true);
}

TEST_CASE("places without values, and levels that there are not, are refused on all servers") {
  MpiCommunicator world_communicator(test_ranks());
  const auto run = [&](const PatchWorld& world, const std::string& yaml) {
    return run_patches(power_spectrum_kind(), yaml, world, world_communicator);
  };
  PatchWorld world = random_patches(2, 6);
  CHECK_THROWS_WITH_AS(run(world, "{variable: t}"), doctest::Contains("name the `level`"), Error);
  CHECK_THROWS_WITH_AS(run(world, "{variable: t, level: 3}"), doctest::Contains("whose finest level is 2"), Error);
  world.value = [](const TreeCell&, auto&) { return 0.0; };
  CHECK_THROWS_WITH_AS(run(world, "{variable: t, level: 1}"), doctest::Contains("the mean of 't' is 0"), Error);
  world.patches.erase(world.patches.begin());
  CHECK_THROWS_WITH_AS(run(world, "{variable: t, level: 1}"), doctest::Contains("values on level 1 lie where nothing"),
                       Error);
  world.patches.clear();
  CHECK(run(world, "{variable: t, level: 1}").tables.empty());
  const FakeDomain uniform = fake_cube(4, 0, 1, {{"t", [](auto&, auto&, int) { return 1.0; }}});
  CHECK_THROWS_WITH_AS(run_pieces_alone(power_spectrum_kind(), "{variable: t, level: 0}", uniform),
                       doctest::Contains("and one level, expected an octree"), Error);
}
