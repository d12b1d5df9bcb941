// Outlines of blocks: boxes, sections with planes, and their division among servers.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sidestream/data/catalogue.hpp"
#include "sidestream/extend/task.hpp"
#include "visualisation/render/patches.hpp"

using namespace sidestream;
using namespace sidestream::rendering;

namespace {

/// A mesh of 8 x 8 x 8 cells of size 1/8 with one step of refinement.
Metadata refined(int dimensions = 3) {
  Metadata metadata;
  Mesh mesh;
  mesh.id = 0;
  mesh.name = "m";
  mesh.dimensions = dimensions;
  mesh.cells = {{0, 0, 0}, {8, 8, dimensions == 3 ? 8 : 1}};
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{0.125, 0.125, 0.125});
  mesh.refinement = {{2, 2, dimensions == 3 ? 2 : 1}};
  metadata.meshes.push_back(mesh);
  return metadata;
}

Catalogue blocks(const Metadata& metadata) {
  Catalogue catalogue;
  catalogue.global = true;
  Block coarse;
  coarse.cells = metadata.meshes[0].cells;
  Block fine;
  fine.id = 1;
  fine.level = 1;
  fine.cells = {{4, 4, 0}, {12, 8, metadata.meshes[0].dimensions == 3 ? 16 : 1}};
  Block empty;
  empty.id = 2;
  empty.cells = {{0, 0, 0}, {0, 0, 0}};
  catalogue.blocks = {coarse, fine, empty};
  return catalogue;
}

std::vector<Piece> outlines(const PatchesQuery& query, const Metadata& metadata, int server = 0, int servers = 1) {
  const Catalogue catalogue = blocks(metadata);
  const Iteration iteration;
  LocalInput input{iteration, metadata, {}};
  input.catalogue = &catalogue;
  input.server = server;
  input.servers = servers;
  return extract(query, input);
}

std::set<std::array<double, 3>> places(const Piece& piece) {
  std::set<std::array<double, 3>> all;
  for (std::size_t n = 0; n < piece.points.size(); ++n) all.insert(piece.points[n]);
  return all;
}

}  // namespace

TEST_CASE("a box has the outlines of six faces, at the corners of the block on its level") {
  const Metadata metadata = refined();
  const auto both = outlines({.mesh = 0}, metadata);
  CHECK(both.at(0).lines.size() == 2 * 24);
  const auto fine = outlines({.mesh = 0, .levels = {1}}, metadata);
  CHECK(fine.at(0).lines.size() == 24);
  CHECK(places(fine[0]).size() == 8);
  CHECK(places(fine[0]).contains({0.25, 0.25, 0}));
  CHECK(places(fine[0]).contains({0.75, 0.5, 1}));
}

TEST_CASE("in two dimensions a block has one outline") {
  const auto found = outlines({.mesh = 0, .levels = {1}}, refined(2));
  CHECK(found.at(0).lines.size() == 4);
  CHECK(places(found[0]) ==
        std::set<std::array<double, 3>>{{0.25, 0.25, 0}, {0.75, 0.25, 0}, {0.75, 0.5, 0}, {0.25, 0.5, 0}});
}

TEST_CASE("servers share the blocks") {
  const Metadata metadata = refined();
  CHECK(outlines({.mesh = 0}, metadata, 0, 2).at(0).lines.size() == 24);
  CHECK(outlines({.mesh = 0}, metadata, 1, 2).at(0).lines.size() == 24);
  CHECK(outlines({.mesh = 0}, metadata, 2, 3).at(0).lines.empty());
}

TEST_CASE("a section with a plane is a convex outline") {
  const Metadata metadata = refined();
  PatchesQuery across{.mesh = 0, .levels = {1}, .plane = Plane{{0, 0, 0.3}, {0, 0, 1}}};
  const auto square = outlines(across, metadata);
  CHECK(square.at(0).lines.size() == 4);
  for (const auto& place : places(square[0])) CHECK(place[2] == doctest::Approx(0.3));
  // Sides of the outline follow each other: none is a diagonal.
  for (const auto& line : square[0].lines) {
    const auto a = square[0].points[static_cast<std::size_t>(line[0])],
               b = square[0].points[static_cast<std::size_t>(line[1])];
    CHECK(((a[0] == b[0]) || (a[1] == b[1])));
  }
  // Through a corner region: a triangle; beside the box: nothing; in a face: that face.
  const double third = 1 / std::sqrt(3.0);
  PatchesQuery corner{.mesh = 0, .levels = {0}, .plane = Plane{{0.2, 0, 0}, {third, third, third}}};
  CHECK(outlines(corner, metadata).at(0).lines.size() == 3);
  PatchesQuery hexagon{.mesh = 0, .levels = {0}, .plane = Plane{{0.5, 0.5, 0.5}, {third, third, third}}};
  CHECK(outlines(hexagon, metadata).at(0).lines.size() == 6);
  PatchesQuery beside{.mesh = 0, .levels = {1}, .plane = Plane{{0, 0.9, 0}, {0, 1, 0}}};
  CHECK(outlines(beside, metadata).at(0).lines.empty());
  PatchesQuery face{.mesh = 0, .levels = {1}, .plane = Plane{{0, 0.5, 0}, {0, 1, 0}}};
  CHECK(outlines(face, metadata).at(0).lines.size() == 4);
}
