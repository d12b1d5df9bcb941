// Isosurfaces in trees and in patches on refinement levels, and pictures of them, have the same bytes for every
// division.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "modules/visualisation/level_surfaces.hpp"
#include "support/ranks.hpp"
#include "support/surface_checks.hpp"
#include "support/test_all.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

TEST_CASE("surfaces in trees are the same bytes for every division") {
  MpiCommunicator world_communicator(test_ranks());
  for (const int dimensions : {2, 3}) {
    for (const std::uint64_t seed : {3, 4}) {
      const TreeWorld world = random_world(dimensions, seed, 4);
      const std::string yaml = "{variable: t, values: [0.4, 0.6], fields: [pair, t]}";
      const Surface one = alone(world, 1, yaml);
      REQUIRE(one.points.size() > 60);
      for (const std::size_t blocks : ends_of({2, 3, 7, 16})) {
        if (!test_all() && (blocks < 7) == (seed == 3)) continue;
        CHECK(same_bits(alone(world, blocks, yaml, 2), one));
        const Surface all = run_tree(world, blocks, yaml, world_communicator, 1 + blocks % 2);
        if (world_communicator.rank() == 0) CHECK(same_bits(all, one));
      }
    }
  }
}

TEST_CASE("normals point to lower values, and are the same bytes for every division") {
  MpiCommunicator world_communicator(test_ranks());
  const TreeWorld world = ball_world(3, 4, 6);
  const std::string yaml = "{variable: t, values: [0, 0.05], normals: true}";
  const Surface one = alone(world, 1, yaml);
  REQUIRE(one.point_data.size() == 2);
  const Surface::Array& normals = one.point_data[1];
  REQUIRE(normals.name == "normals");
  REQUIRE(normals.values.size() == 3 * one.points.size());
  for (std::size_t p = 0; p < one.points.size(); ++p) {
    const Vector n{normals.values[3 * p], normals.values[3 * p + 1], normals.values[3 * p + 2]};
    const Vector out = minus(one.points[p], {0.5, 0.5, 0.5});
    CHECK(norm(n) == doctest::Approx(1));
    CHECK(dot(n, out) > 0.93 * norm(out));  // the values fall outwards
  }
  for (const std::size_t blocks : {2, 7}) {
    CHECK(same_bits(alone(world, blocks, yaml, 2), one));
    const Surface all = run_tree(world, blocks, yaml, world_communicator, 1 + blocks % 2);
    if (world_communicator.rank() == 0) CHECK(same_bits(all, one));
  }
  CHECK(alone(ball_world(2, 4, 5), 2, "{variable: t, values: [0], normals: true}").point_data.size() == 1);
}

TEST_CASE("surfaces in patches are the same bytes for every division, of servers and of levels into patches") {
  MpiCommunicator world_communicator(test_ranks());
  for (const int dimensions : {2, 3}) {
    PatchWorld world = random_patches(dimensions, 6);
    const std::string yaml = "{variable: t, values: [0.3, 0.5], fields: [pair]}";
    const Surface one = alone(world, yaml);
    CHECK(same_bits(alone(world, yaml, 3), one));
    const auto check = [&] {
      CapturedResults results = run_patches(isosurface_kind(), yaml, world, world_communicator, 2);
      if (world_communicator.rank() == 0) CHECK(same_bits(results.surfaces.begin()->second, one));
    };
    check();
    std::vector<std::pair<std::int32_t, Box>> halves;
    for (const auto& [level, box] : world.patches) {
      Box low = box, high = box;
      low.hi[0] = high.lo[0] = box.lo[0] + box.extent(0) / 3;
      halves.insert(halves.begin(), {level, high});
      halves.push_back({level, low});
    }
    world.patches = halves;
    CHECK(same_bits(alone(world, yaml, 2), one));
    check();
  }
}

TEST_CASE("surfaces of values at nodes of patches are those of the means in cells, for every division") {
  MpiCommunicator world_communicator(test_ranks());
  for (const int dimensions : {2, 3}) {
    PatchWorld nodes = patch_world(dimensions);
    nodes.nodes = true;
    nodes.value = [](const TreeCell&, const std::array<double, 3>& x) {
      return std::sin(7 * x[0]) + std::cos(5 * x[1]) * std::sin(4 * x[2] + 1);
    };
    PatchWorld cells = nodes;
    cells.nodes = false;
    cells.value = [nodes, dimensions, mesh = nodes.metadata().meshes[0]](const TreeCell& cell,
                                                                         const std::array<double, 3>&) {
      double sum = 0;
      for (int c = 0; c < 1 << dimensions; ++c) {
        const TreeCell node{cell.level,
                            {cell.index[0] + (c & 1), cell.index[1] + (c >> 1 & 1), cell.index[2] + (c >> 2)}};
        sum += nodes.value(node, nodes.centre(mesh, node));
      }
      return sum / (1 << dimensions);
    };
    const std::string yaml = "{variable: t, values: [0.3, 0.9]";
    const Surface expected = alone(cells, yaml + "}");
    REQUIRE(expected.points.size() > 60);
    CHECK(same_bits(alone(nodes, yaml + "}"), expected));
    CHECK(same_bits(alone(nodes, yaml + "}", 3), expected));
    const CapturedResults all = run_patches(isosurface_kind(), yaml + "}", nodes, world_communicator, 2);
    if (world_communicator.rank() == 0) CHECK(same_bits(all.surfaces.begin()->second, expected));
    // A further field is a mean, too: here of x, at the points.
    const Surface with = alone(nodes, yaml + ", fields: [pair]}", 2);
    for (std::size_t p = 0; p < with.points.size(); ++p) {
      CHECK(with.point_data.at(0).values[2 * p] == doctest::Approx(with.points[p][0]).epsilon(1e-12));
    }
    // The isosurface of a linear function is a plane, whatever levels it passes.
    nodes.value = [](const TreeCell&, const std::array<double, 3>& x) { return x[0] + 0.5 * x[1] - 0.25 * x[2]; };
    const Surface plane = alone(nodes, "{variable: t, values: [0.6]}", 2);
    REQUIRE(plane.points.size() > 20);
    for (const Vector& x : plane.points) CHECK(x[0] + 0.5 * x[1] - 0.25 * x[2] == doctest::Approx(0.6).epsilon(1e-12));
  }
}

TEST_CASE("pictures of trees and patches are the same for every division, with colours by a field") {
  MpiCommunicator self(MPI_COMM_SELF), world_communicator(test_ranks());
  const AnalysisKind kind = render_kind();
  const std::string yaml =
      "{isosurface: [{variable: t, values: [0], colour_by: pair, colour_component: 1}, {variable: t, values: [0.1]}], "
      "size: [96, 80], file: a.png}";
  const auto same = [](const Image& a, const Image& b) {
    return a.width == b.width && a.height == b.height && a.rgba == b.rgba;
  };
  const TreeWorld ball = ball_world(3, 3, 5);
  const TreeBlocks whole(ball, 1), parts(ball, 6);
  const Image one = run_lists(kind, yaml, whole.domain, whole.blocks, self).images.at("a.png");
  CHECK(same(run_lists(kind, yaml, parts.domain, parts.blocks, self, 2).images.at("a.png"), one));
  const CapturedResults all = run_lists(kind, yaml, parts.domain, parts.blocks, world_communicator, 2);
  if (world_communicator.rank() == 0) CHECK(same(all.images.at("a.png"), one));

  const PatchWorld patches = patch_world(3);
  const Image alone = run_patches(kind, yaml, patches, self).images.at("a.png");
  const CapturedResults together = run_patches(kind, yaml, patches, world_communicator, 2);
  if (world_communicator.rank() == 0) CHECK(same(together.images.at("a.png"), alone));
  CHECK(!same(one, alone));
}

TEST_CASE("a ball over levels is lit smoothly: like the ball of a mesh without levels, in every division") {
  MpiCommunicator self(MPI_COMM_SELF), world_communicator(test_ranks());
  const AnalysisKind kind = render_kind();
  const std::string yaml =
      "{isosurface: {variable: t, values: [0], colour: white}, size: [160, 160], samples: 1, caption: none, camera: "
      "{view: [-1, -2, -1]}, outline: false, background: black, file: a.png}";
  const TreeWorld ball = ball_world(3, 4, 6);
  const TreeBlocks whole(ball, 1), parts(ball, 5);
  const Image tree = run_lists(kind, yaml, whole.domain, whole.blocks, self).images.at("a.png");
  const FakeDomain mesh =
      fake_cube(64, 0, 1, {{"t", [&](const auto& x, const Index3&, int) { return ball.value({}, x); }}});
  const Image exact = run_alone(kind, yaml, mesh, even_division(mesh.mesh().cells, {1, 1, 1})).images.at("a.png");
  REQUIRE(tree.rgba.size() == exact.rgba.size());
  // Compares pixels that are at a rim in neither picture. With flat shading they would differ by 3 on average.
  double sum = 0;
  int compared = 0, worst = 0;
  for (int y = 2; y + 2 < 160; ++y) {
    for (int x = 2; x + 2 < 160; ++x) {
      const auto at = [&](const Image& image, int dx, int dy) { return image.rgba[4 * ((y + dy) * 160 + x + dx)]; };
      bool inside = true;
      for (int n = 0; n < 25; ++n) {
        for (const Image* image : {&tree, &exact}) {
          inside = inside && at(*image, n % 5 - 2, n / 5 - 2) != image->rgba[0];
        }
      }
      if (!inside) continue;
      const int difference = std::abs(at(tree, 0, 0) - at(exact, 0, 0));
      ++compared;
      sum += difference;
      worst = std::max(worst, difference);
    }
  }
  CHECK(compared > 2000);
  CHECK(sum / compared < 2);
  CHECK(worst < 20);
  const CapturedResults all = run_lists(kind, yaml, parts.domain, parts.blocks, world_communicator, 2);
  if (world_communicator.rank() == 0) CHECK(all.images.at("a.png").rgba == tree.rgba);
}
