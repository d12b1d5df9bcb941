// Blocks that are not needed have no part of a surface. Each block's surface is extracted to compare, and the needed
// blocks by themselves must give the whole surface.
#include <doctest/doctest.h>

#include <cmath>

#include "data/divided.hpp"
#include "sidestream/kit/analysis/empty_results.hpp"
#include "support/test_all.hpp"
#include "visualisation/extract/extract.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

double waves(const std::array<double, 3>& x, const Index3&, int) {
  return std::sin(3 * x[0]) + std::cos(2 * x[1] + x[2]);
}
double holes(const std::array<double, 3>& x, const Index3& p, int) {
  return (p[0] + 2 * p[1] + 3 * p[2]) % 11 == 0 ? NAN : x[0] + x[1] * x[2];
}
/// Random whole numbers: surfaces pass nearly every cell, and points have exactly the value.
double noise(const std::array<double, 3>&, const Index3& p, int) {
  const auto h = static_cast<std::uint64_t>(p[0] * 73856093 ^ p[1] * 19349663 ^ p[2] * 83492791);
  return static_cast<double>((h ^ h >> 7) * 0x9e3779b97f4a7c15ull >> 62);
}

/// The surface that an analysis makes of the blocks `mine`, with halos from all other blocks.
Surface surface_of(Task& analysis, const FakeDomain& domain, const Division& division,
                   const std::vector<std::size_t>& mine, const std::string& file) {
  MpiCommunicator self(MPI_COMM_SELF);
  CapturedResults results;
  const FakeServer server(domain, division, mine, analysis.selection(), 0);
  const std::vector<Bytes> partials{analysis.local({{}, domain.metadata, server.views(), 0, {}})};
  analysis.combine({{}, domain.metadata, partials, 0, self, results});
  return results.surfaces.at(file);
}

/// Checks each block by itself, then compares the needed ones with all of them. Returns how many are needed.
std::size_t check(const AnalysisKind& kind, const std::string& yaml, const FakeDomain& domain,
                  const Division& division) {
  CAPTURE(kind.name);
  CAPTURE(yaml);
  const auto analysis = kind.create(fake_settings(kind, yaml, domain.metadata), domain.metadata);
  Divided divided(domain, division);
  for (std::size_t field = 0; field < domain.fields.size(); ++field) divided.measure(field);
  const Selection selection = analysis->selection();
  const std::vector<bool> needed = divided.needs(selection.variables.at(0));
  // Further variables are read on the same blocks. A task that asks only for ranges reads none.
  const std::vector<bool> none(division.size(), false);
  for (const Selected& selected : selection.variables) {
    CHECK(divided.needs(selected) == (SeenValues::only_listens(selected) ? none : needed));
  }
  const std::string file = kind.name + "-{index:05}.vtp";
  std::vector<std::size_t> all, wanted;
  for (std::size_t b = 0; b < division.size(); ++b) {
    all.push_back(b);
    if (needed[b]) wanted.push_back(b);
    const Surface alone = surface_of(*analysis, domain, division, {b}, file);
    if (!needed[b]) CHECK(alone.triangles.empty());
  }
  CHECK(same_bits(surface_of(*analysis, domain, division, wanted, file),
                  surface_of(*analysis, domain, division, all, file)));
  return wanted.size();
}

const Box cells{{0, 0, 0}, {11, 9, 8}};
std::shared_ptr<const Geometry> geometry(int kind) {
  if (kind == 0) return std::make_shared<UniformGeometry>(std::array{-1.0, 0.0, 0.0}, std::array{0.25, 0.25, 0.25});
  if (kind == 1) return std::make_shared<UniformGeometry>(std::array{2.0, 0.0, 1.0}, std::array{-0.25, 0.5, -0.125});
  std::array<std::vector<double>, 3> nodes;
  for (std::size_t a = 0; a < 3; ++a) {
    for (Index i = 0; i <= cells.hi[a]; ++i) nodes[a].push_back(0.03 * static_cast<double>(i * (i + 3)));
  }
  return std::make_shared<RectilinearGeometry>(Index3{0, 0, 0}, nodes);
}

}  // namespace

TEST_CASE("isosurfaces") {
  std::size_t needed = 0, blocks = 0;
  unsigned seed = 1;
  for (const Centering centering : {Centering::cell, Centering::node}) {
    for (const Centering other : {Centering::cell, Centering::node}) {
      for (int round = 0; round < 6; ++round) {
        if (!test_all() && (round < 3) == (centering == other)) continue;
        const auto value = round % 3 == 0 ? waves : round % 3 == 1 ? holes : noise;
        const FakeDomain domain(
            cells, geometry(round % 2 ? 0 : 2),
            {{"a", value, centering, 1, round == 5 ? Type::int32 : Type::float64}, {"b", waves, other}});
        const Division division = random_division(cells, 5 + 9 * static_cast<std::size_t>(round), ++seed);
        needed += check(isosurface_kind(), "{variable: a, values: [1.55, 2], fields: b}", domain, division);
        blocks += division.size();
      }
    }
  }
  CHECK(needed < blocks);
}

TEST_CASE("slices: oblique, on nodes, between blocks, at faces") {
  std::size_t needed = 0, blocks = 0;
  unsigned seed = 50;
  for (const Centering centering : {Centering::cell, Centering::node}) {
    for (const Centering other : {Centering::cell, Centering::node}) {
      for (int kind = 0; kind < 3; ++kind) {
        const FakeDomain domain(cells, geometry(kind), {{"a", waves, centering}, {"b", waves, other}});
        const Axes& axes = *domain.mesh().geometry->axes();
        const Division division = random_division(cells, 40, ++seed);
        const auto at = [&](double x) {
          return "{variable: a, fields: b, axis: x, position: " + std::to_string(x) + "}";
        };
        for (const std::string& yaml : {std::string("{variable: a, fields: b, normal: [.8, -.5, .3]}"),
                                        std::string("{variable: a, fields: b, normal: [1, 1, 1]}"), at(axes.node(0, 4)),
                                        at(axes.centre(0, 6)), at(axes.node(0, 0)), at(axes.node(0, 11))}) {
          needed += check(slice_kind(), yaml, domain, division);
          blocks += division.size();
        }
      }
    }
  }
  CHECK(needed < blocks / 2);
}
