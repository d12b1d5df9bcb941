// Results in pieces: the pieces of the servers, one after the other, are what a single file holds.
#include <doctest/doctest.h>

#include "analysis/common/kinds.hpp"
#include "support/fake_domain.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

double wave(const std::array<double, 3>& x, const Index3&, int) {
  return std::sin(5 * x[0]) + std::cos(4 * x[1]) * std::sin(3 * x[2] + 1);
}

double place(const std::array<double, 3>& x, const Index3&, int) { return x[0] + 3 * x[1] - x[2]; }

/// All triangles and lines, as the positions and the data of their corners.
std::vector<double> corners(const Surface& surface) {
  std::vector<double> all;
  const auto add = [&](std::int64_t point) {
    const auto p = static_cast<std::size_t>(point);
    all.insert(all.end(), surface.points[p].begin(), surface.points[p].end());
    for (const Surface::Array& array : surface.point_data) {
      const auto n = static_cast<std::size_t>(array.components);
      for (std::size_t c = 0; c < n; ++c) all.push_back(array.values[n * p + c]);
    }
  };
  for (const auto& triangle : surface.triangles) std::for_each(triangle.begin(), triangle.end(), add);
  for (const auto& line : surface.lines) std::for_each(line.begin(), line.end(), add);
  return all;
}

/// Notes the size of each server's part of the surface.
class Sizes final : public Results {
 public:
  void add(const std::string&, const Table&) override {}
  void add(const std::string&, const Image&) override {}
  void add(const std::string&, const Surface&) override { whole = true; }
  void add(const std::string&, const CellSet&) override {}
  void add(const std::string&, const DataSet&) override {}
  void add_parts(const std::string&, const Surface& mine, Communicator&, Pieces how) override {
    CHECK(how == Pieces::always);
    cells = static_cast<std::int64_t>(mine.triangles.size() + mine.lines.size());
  }
  std::int64_t cells = 0;
  bool whole = false;
};

void check(const AnalysisKind& kind, const FakeDomain& domain, const std::string& options, const std::string& file) {
  MpiCommunicator world(test_ranks());
  const Surface expected =
      run_alone(kind, "{" + options + ", pieces: false}", domain, {domain.mesh().cells}).surfaces.at(file);
  REQUIRE(corners(expected).size() > 100);
  for (const std::size_t blocks : ends_of({1, 4, 11})) {
    CAPTURE(blocks);
    Division division = random_division(domain.mesh().cells, blocks, 3);
    // Some partials have nothing of the surface, and each server makes several.
    const CapturedResults made =
        run_analysis(kind, "{" + options + ", pieces: true}", domain, division, world, {.ghosts = 1, .partials = 2});
    CHECK(made.surfaces.size() == (world.rank() == 0 ? 1u : 0u));
    if (world.rank() == 0) CHECK(same_bits(corners(made.surfaces.at(file)), corners(expected)));
  }
}

}  // namespace

TEST_CASE("the pieces of an isosurface are the isosurface, in its order") {
  const FakeDomain domain = fake_cube(13, -1, 1, {{"f", wave}, {"g", place, Centering::node, 2}});
  check(isosurface_kind(), domain, "variable: f, values: [0.2, -0.3], fields: [g], file: 's-{index}.vtp'",
        "s-{index}.vtp");
}

TEST_CASE("the pieces of contour lines are the lines, in their order") {
  const FakeDomain domain = fake_square(40, -1, 1, {{"f", wave}});
  check(isosurface_kind(), domain, "variable: f, values: [0.2, -0.3], file: 's-{index}.vtp'", "s-{index}.vtp");
}

TEST_CASE("the pieces of a slice are the slice, in its order") {
  const FakeDomain domain = fake_cube(12, -1, 1, {{"f", wave}, {"g", place, Centering::node}});
  check(slice_kind(), domain,
        "variable: f, fields: [g], origin: [0, 0.1, 0], normal: [1, 2, 0.5], file: 's-{index}.vtp'", "s-{index}.vtp");
}

TEST_CASE("servers get about as much, and nobody all") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = fake_cube(24, -1, 1, {{"f", wave}});
  const AnalysisKind kind = isosurface_kind();
  const auto analysis =
      kind.create(fake_settings(kind, "{variable: f, values: 0, pieces: true, file: 's-{index}.vtp'}", domain.metadata),
                  domain.metadata);
  // All blocks are on one server.
  const Division division = random_division(domain.mesh().cells, 6, 5);
  std::vector<std::size_t> mine;
  for (std::size_t n = 0; n < division.size() && world.rank() == world.size() - 1; ++n) mine.push_back(n);
  const FakeServer server(domain, division, mine, analysis->selection(), 0);
  const Iteration iteration{};
  const Bytes partial = analysis->local({iteration, domain.metadata, server.views(), 0, {}});
  Sizes sizes;
  static_cast<void>(analysis->combine({iteration, domain.metadata, {&partial, 1}, 0, world, sizes}));
  CHECK_FALSE(sizes.whole);
  std::int64_t all = sizes.cells;
  world.sum({&all, 1});
  REQUIRE(all > 2000);
  CHECK(sizes.cells < all / world.size() * 5 / 4 + 5);
  CHECK(sizes.cells > all / world.size() * 3 / 4 - 5);
}

TEST_CASE("the pieces of a histogram are its rows") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = fake_cube(9, -1, 1, {{"f", wave}});
  for (const char* bins : {"3", "64"}) {
    const std::string options = std::string("variable: f, file: 'h-{index}.csv', bins: ") + bins;
    const auto expected =
        run_alone(histogram_kind(), "{" + options + ", pieces: false}", domain, {domain.mesh().cells});
    const auto made = run_analysis(histogram_kind(), "{" + options + ", pieces: true}", domain,
                                   random_division(domain.mesh().cells, 5, 1), world);
    if (world.rank() == 0) CHECK(same_bits(made.tables.at("h-{index}.csv"), expected.tables.at("h-{index}.csv")));
  }
}

TEST_CASE("nothing in pieces is nothing") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = fake_cube(5, -1, 1, {{"f", wave}});
  const auto made = run_analysis(isosurface_kind(), "{variable: f, values: 99, pieces: true, file: 's-{index}.vtp'}",
                                 domain, random_division(domain.mesh().cells, 5, 1), world);
  if (world.rank() != 0) return;
  const Surface& surface = made.surfaces.at("s-{index}.vtp");
  CHECK(surface.points.empty());
  CHECK(surface.point_data.size() == 2);  // value, normals
}
