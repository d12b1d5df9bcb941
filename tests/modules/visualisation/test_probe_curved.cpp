// Probes and resampling of curvilinear meshes of one to three dimensions, divided in any way.
#include <doctest/doctest.h>

#include <cmath>

#include "sidestream/kit/data/selected_arrays.hpp"
#include "support/fake_domain.hpp"
#include "support/grid_checks.hpp"
#include "support/ranks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// A coordinate of node p, warped along the axes that the mesh uses.
double place(const Index3& p, int axis) {
  const auto i = static_cast<double>(p[0]), j = static_cast<double>(p[1]), k = static_cast<double>(p[2]);
  if (axis == 0) return i + 0.1 * i * i + 0.25 * std::sin(j + 0.7 * k);
  if (axis == 1) return j + 0.2 * std::sin(i + k);
  return k + 0.2 * std::cos(0.8 * i + 0.5 * j);
}

double linear(double x, double y, double z) { return 2 * x - 3 * y + 0.5 * z; }

FakeDomain warped(int dimensions) {
  const Box cells{{0, 0, 0}, {6, dimensions > 1 ? 5 : 1, dimensions > 2 ? 4 : 1}};
  const auto n = [dimensions](auto&, const Index3& p, int) {
    return linear(place(p, 0), dimensions > 1 ? place(p, 1) : 0, dimensions > 2 ? place(p, 2) : 0);
  };
  const auto t = [](auto&, const Index3& p, int) { return static_cast<double>(p[0] + 10 * p[1] + 100 * p[2]); };
  FakeDomain domain(cells, std::make_shared<ArrayGeometry>(MeshKind::curvilinear),
                    {{"pos", [](auto&, const Index3& p, int c) { return place(p, c); }, Centering::node, dimensions},
                     {"n", n, Centering::node},
                     {"t", t}},
                    dimensions);
  domain.metadata.variables[0].role = Role::coordinates;
  domain.metadata.meshes[0].arrays[static_cast<std::size_t>(Role::coordinates)] = 0;
  return domain;
}

/// Runs an analysis of one pass on the members of `communicator`, with the arrays of the mesh.
CapturedResults run(const AnalysisKind& kind, const std::string& yaml, const FakeDomain& domain,
                    const Division& division, Communicator& communicator) {
  const auto analysis = kind.create(fake_settings(kind, yaml, domain.metadata), domain.metadata);
  const Selection all{with_mesh_arrays(analysis->selection(), domain.metadata)};
  std::vector<std::size_t> mine;
  for (auto id = static_cast<std::size_t>(communicator.rank()); id < division.size();
       id += static_cast<std::size_t>(communicator.size())) {
    mine.push_back(id);
  }
  const FakeServer server(domain, division, mine, all, 1);
  const Bytes partial = analysis->local({{}, domain.metadata, server.views(), 0, {}});
  CapturedResults results;
  analysis->combine({{}, domain.metadata, {&partial, 1}, 0, communicator, results});
  return results;
}

double real(const Table& table, std::size_t row, const std::string& column) {
  const auto at = std::ranges::find(table.columns(), column, &Column::name) - table.columns().begin();
  return std::get<double>(table.at(row, static_cast<std::size_t>(at)));
}

const char* const lines[] = {"{from: 0.1, to: 9.3, samples: 50}", "{from: [0.5, 0.6], to: [8.9, 4.5], samples: 50}",
                             "{from: [0.6, 0.5, 0.6], to: [8.7, 4.4, 3.5], samples: 50}"};

}  // namespace

TEST_CASE("fields linear in space are given back, whatever the cells' shapes") {
  MpiCommunicator self(MPI_COMM_SELF);
  for (const int dimensions : {1, 2, 3}) {
    const FakeDomain domain = warped(dimensions);
    const std::string yaml = std::string("{variables: [n, t], line: ") + lines[dimensions - 1] + "}";
    const Table table = run(probe_kind(), yaml, domain, {domain.mesh().cells}, self).tables.at("probe.csv");
    for (std::size_t row = 0; row < 50; ++row) {
      const double x = real(table, row, "x"), y = dimensions > 1 ? real(table, row, "y") : 0;
      const double z = dimensions > 2 ? real(table, row, "z") : 0;
      REQUIRE(real(table, row, "n") == doctest::Approx(linear(x, y, z)).epsilon(1e-9));
      // The corners of the cell that was found are around the position.
      const auto t = static_cast<Index>(real(table, row, "t"));
      const Index3 cell{t % 10, t / 10 % 10, t / 100};
      double low = place(cell, 0), high = low;
      for (int c = 1; c < 8; ++c) {
        const Index3 corner{cell[0] + (c & 1), cell[1] + (dimensions > 1 ? c >> 1 & 1 : 0),
                            cell[2] + (dimensions > 2 ? c >> 2 : 0)};
        low = std::min(low, place(corner, 0));
        high = std::max(high, place(corner, 0));
      }
      CHECK(low <= x);
      CHECK(x <= high);
    }
  }
}

TEST_CASE("the same bits for every division and number of servers, on borders too") {
  MpiCommunicator world(test_ranks()), self(MPI_COMM_SELF);
  for (const int dimensions : {2, 3}) {
    const FakeDomain domain = warped(dimensions);
    const bool flat = dimensions == 2;
    const auto node = [&](Index i, Index j, Index k) {
      const Index3 p{i, j, flat ? 0 : k};
      std::string at = fmt::format("{{at: [{:.17g}, {:.17g}", place(p, 0), place(p, 1));
      return at + (flat ? "]}" : fmt::format(", {:.17g}]}}", place(p, 2)));
    };
    const std::string probe = std::string("{variables: [n, t], line: ") + lines[dimensions - 1] + ", point: [" +
                              node(3, 2, 2) + ", " + node(1, 4, 1) + ", " + node(6, 5, 4) + "]}";
    const std::string grid =
        flat ? "size: [9, 8], low: [0, 0], high: [9, 5]" : "size: [9, 8, 7], low: [0, 0, 0], high: [9, 5, 4]";
    const std::string resample = "{variables: n, method: linear, " + grid + "}";
    const Table table = run(probe_kind(), probe, domain, {domain.mesh().cells}, self).tables.at("probe.csv");
    CHECK(real(table, 0, "n") == domain.value(1, {3, 2, flat ? 0 : 2}, 0));
    CHECK(real(table, 0, "t") == (flat ? 12 : 112));  // the first of those that have the node
    const char* const file = "resampled-{index:05}.h5";
    const DataSet data = run(resample_kind(), resample, domain, {domain.mesh().cells}, self).data_sets.at(file);
    for (unsigned seed = 0; seed < 4; ++seed) {
      const Division division = random_division(domain.mesh().cells, 2 + 4 * seed, seed);
      const auto probed = run(probe_kind(), probe, domain, division, world);
      const auto resampled = run(resample_kind(), resample, domain, division, world);
      if (world.rank() != 0) continue;
      CHECK(same_bits(probed.tables.at("probe.csv"), table));
      CHECK(same_bits(resampled.data_sets.at(file), data));
    }
  }
}
