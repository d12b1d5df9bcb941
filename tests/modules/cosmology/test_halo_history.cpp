// Halos over time: blobs appear, move, meet, part and vanish. Other tests check rules that follow from the definition.
#include <cmath>

#include "cosmology/halos/finder/history.hpp"
#include "modules/cosmology/halo_checks.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// An analysis that runs over several iterations, with another division each time.
class Run {
 public:
  Run(const std::string& yaml, const FakeDomain& domain, Communicator& servers)
      : servers_(servers),
        task_(halos_kind().create(fake_settings(halos_kind(), yaml, domain.metadata), domain.metadata)) {}

  /// The history of the iteration; empty except on the first server.
  Table step(const FakeDomain& domain, const Division& division, std::int64_t index, bool fails = false) {
    std::vector<std::size_t> mine;
    for (std::size_t id = 0; id < division.size(); ++id) {
      const auto turn = (id + static_cast<std::size_t>(index)) % static_cast<std::size_t>(servers_.size());
      if (turn == static_cast<std::size_t>(servers_.rank())) mine.push_back(id);
    }
    const FakeServer server(domain, division, mine, task_->selection(), 0);
    const Iteration iteration{index, 10 * index, 0.5 * static_cast<double>(index)};
    const LocalInput input{iteration, domain.metadata, server.views(), 0, {}};
    const std::vector<Bytes> partials{task_->local(input)};
    if (fails) {
      task_->discard(iteration);
      return {};
    }
    CapturedResults results;
    task_->combine({iteration, domain.metadata, partials, 0, servers_, results, &input});
    charts = results.charts;
    return results.tables["halo-history.csv"];
  }
  std::map<std::string, ChartOrder> charts;

 private:
  Communicator& servers_;
  std::unique_ptr<Task> task_;
};

struct Blob {
  double x, y, size;
};

FakeDomain sky(const std::vector<Blob>& blobs) {
  FakeDomain domain(
      {{0, 0, 0}, {40, 40, 1}}, std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0}),
      {{"a",
        [blobs](const std::array<double, 3>& x, auto&, int) {
          double sum = 0;
          for (const Blob& blob : blobs) {
            const double dx = std::remainder(x[0] - blob.x, 40.0), dy = std::remainder(x[1] - blob.y, 40.0);
            sum += std::exp(-(dx * dx + dy * dy) / (blob.size * blob.size));
          }
          return sum;
        }}},
      2);
  domain.metadata.meshes[0].periodic = {true, true, false};
  return domain;
}

std::string event(const Table& table, std::size_t row) {
  return std::get<std::string>(table.at(row, column_of(table, "event")));
}
/// The row of a track.
std::size_t row_of(const Table& table, Index track) {
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (whole(table, r, "track") == track) return r;
  }
  FAIL("there is no track ", track);
  return 0;
}

}  // namespace

TEST_CASE("two blobs meet, one is born, one vanishes, one comes apart") {
  MpiCommunicator world(test_ranks());
  const std::vector<std::vector<Blob>> films{
      {{5, 5, 4}, {20, 5, 3}, {30, 30, 4}},                  // three
      {{7, 5, 4}, {18, 5, 3}, {30, 30, 4}, {2, 20, 2}},      // two are nearer, one is new
      {{10, 5, 4}, {14, 5, 3}, {30, 30, 4}},                 // these two meet, and the new one has vanished
      {{10, 5, 4}, {14, 5, 3}, {26, 30, 3}, {35, 30, 2.5}},  // the third has split in two
  };
  Run run("{variable: a, boundary: 0.3, halo: 0.6, history: {image: {file: tree.png, size: [300, 200]}}}",
          sky(films[0]), world);
  std::vector<Table> tables;
  for (std::size_t n = 0; n < films.size(); ++n) {
    const FakeDomain domain = sky(films[n]);
    tables.push_back(run.step(domain, random_division(domain.mesh().cells, 3 + n, static_cast<unsigned>(n)),
                              static_cast<std::int64_t>(n)));
  }
  if (world.rank() != 0) return;
  REQUIRE(tables[0].rows() == 3);
  for (std::size_t r = 0; r < 3; ++r) CHECK(event(tables[0], r) == "first");
  CHECK(whole(tables[0], 0, "previous_iteration") == -1);
  // Tracks are numbered by the peak's linear index, which grows with x first.
  REQUIRE(tables[1].rows() == 4);
  CHECK(whole(tables[1], 0, "track") == 3);
  CHECK(event(tables[1], row_of(tables[1], 3)) == "birth");
  for (const Index track : {0, 1, 2}) CHECK(event(tables[1], row_of(tables[1], track)) == "goes-on");
  CHECK(event(tables[2], row_of(tables[2], 0)) == "merger");  // the heavier one's track goes on
  CHECK(whole(tables[2], row_of(tables[2], 0), "progenitors") == 2);
  CHECK(event(tables[2], row_of(tables[2], 1)) == "merged");
  CHECK(whole(tables[2], row_of(tables[2], 1), "other_track") == 0);
  CHECK(whole(tables[2], row_of(tables[2], 1), "halo") == -1);
  CHECK(event(tables[2], row_of(tables[2], 3)) == "death");
  CHECK(event(tables[2], row_of(tables[2], 2)) == "goes-on");
  CHECK(event(tables[3], row_of(tables[3], 2)) == "goes-on");
  CHECK(event(tables[3], row_of(tables[3], 4)) == "split");
  CHECK(whole(tables[3], row_of(tables[3], 4), "other_track") == 2);
  CHECK(whole(tables[3], 0, "previous_iteration") == 2);
  const ChartOrder& chart = run.charts.at("tree.png");
  CHECK(chart.table == "halo-history.csv");
  CHECK(chart.of_all);
  const std::vector<std::string> said{"--size=300x200", "--caption=a: halos over time    time 1.5000    cycle 30",
                                      "--title=variable:a", "--tracks=24"};
  CHECK(chart.arguments == said);
}

TEST_CASE("tracks survive iterations that fail or are not seen, and do not depend on the servers") {
  MpiCommunicator world(test_ranks()), self(MPI_COMM_SELF);
  const std::string yaml = "{variable: a, boundary: 0.3, halo: 0.6, history: {}}";
  const auto at = [](int n) {
    return sky({{39.0 + n, 5, 4}, {20, 39.0 - n, 3}, {30.0 - 2 * n, 30, 4}, {4, 18, n % 2 == 0 ? 3.0 : 1e-3}});
  };
  Run together(yaml, at(0), world), alone(yaml, at(0), self);
  for (const int n : {0, 1, 2, 4, 5, 9}) {  // 3, and 6 to 8, were refused
    const FakeDomain domain = at(n);
    const Box cells = domain.mesh().cells;
    if (n == 2) together.step(at(7), {cells}, 2, true);
    const Table table = together.step(domain, random_division(cells, 9, static_cast<unsigned>(n)), n);
    const Table expected = alone.step(domain, {cells}, n);
    if (world.rank() == 0) CHECK(same_bits(table, expected));
    CHECK(whole(expected, 0, "previous_iteration") == (n == 0 ? -1 : n == 4 ? 2 : n == 9 ? 5 : n - 1));
  }
}

TEST_CASE("no halo before, none now") {
  MpiCommunicator self(MPI_COMM_SELF);
  const FakeDomain none = sky({}), one = sky({{10, 10, 4}});
  Run run("{variable: a, boundary: 0.3, halo: 0.6, history: {image: {file: tree.png}}}", none, self);
  CHECK(run.step(none, {none.mesh().cells}, 0).rows() == 0);
  const Table born = run.step(one, {none.mesh().cells}, 1);
  REQUIRE(born.rows() == 1);
  CHECK(event(born, 0) == "birth");  // it is known that nothing was there before
  const Table dead = run.step(none, {none.mesh().cells}, 2);
  REQUIRE(dead.rows() == 1);
  CHECK(event(dead, 0) == "death");
  CHECK(run.step(none, {none.mesh().cells}, 3).rows() == 0);
}

TEST_CASE("descendants and main branches by the rules, ties included") {
  using halos::TrackEvent;
  halos::Tracks tracks;
  static_cast<void>(tracks.follow({{10, 5, 7.0}, {20, 5, 7.0}, {30, 9, 1.0}}, {}));
  // Halo 10 shares as much with both, so the heavier one is its descendant. Halos 20 and 10 have the same mass, so the
  // larger index leads.
  const auto steps = tracks.follow({{11, 8, 3.0}, {21, 8, 4.0}}, {{10, 11, 2}, {10, 21, 2}, {20, 21, 3}, {30, 21, 1}});
  REQUIRE(steps.size() == 4);
  CHECK(steps[0].event == TrackEvent::split);
  CHECK(steps[0].track == 3);
  CHECK(steps[0].other == 0);
  CHECK(steps[1].event == TrackEvent::merger);
  CHECK(steps[1].track == 1);
  CHECK(steps[1].progenitors == 3);
  CHECK(steps[2].track == 0);
  CHECK(steps[2].event == TrackEvent::merged);
  CHECK(steps[2].other == 1);
  CHECK(steps[3].track == 2);
}
