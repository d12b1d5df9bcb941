// Halos matched by the particles in them, on any number of servers, which have any of the particles.
#include <cmath>
#include <limits>

#include "modules/cosmology/halo_checks.hpp"
#include "support/fake_particles.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

struct Particle {
  std::int64_t id;
  double x, y, weight;
};

/// A periodic plane of 40 x 40 cells with given densities, and particles.
struct Sky {
  std::map<std::array<Index, 2>, double> cells;
  std::vector<Particle> particles;
};

FakeDomain domain_of(const Sky& sky) {
  FakeDomain domain({{0, 0, 0}, {40, 40, 1}},
                    std::make_shared<UniformGeometry>(std::array{-1.0, 0.0, 0.0}, std::array{0.5, 1.0, 1.0}),
                    {{"a",
                      [cells = sky.cells](auto&, const Index3& p, int) {
                        const auto at = cells.find({p[0], p[1]});
                        return at == cells.end() ? 0.0 : at->second;
                      }}},
                    2);
  Metadata& metadata = domain.metadata;
  metadata.meshes[0].periodic = {true, true, false};
  add_particles(
      metadata, "stars", 2,
      {{"place", Type::float64, 2, Role::coordinates}, {"number", Type::int32, 1, Role::point_ids}, {"weight"}});
  return domain;
}

/// An analysis that runs over several iterations. Blocks of the grid and particles are dealt out in another way each
/// time.
class Run {
 public:
  Run(const std::string& yaml, Communicator& servers)
      : servers_(servers),
        domain_(domain_of({})),
        task_(halos_kind().create(fake_settings(halos_kind(), yaml, domain_.metadata), domain_.metadata)) {}

  Table step(const Sky& sky, std::int64_t index) {
    const FakeDomain domain = domain_of(sky);
    const auto count = static_cast<std::size_t>(servers_.size()), me = static_cast<std::size_t>(servers_.rank());
    const Division division = random_division(domain.mesh().cells, 2 * count + 1, static_cast<unsigned>(index));
    std::vector<std::size_t> mine;
    for (std::size_t id = me; id < division.size(); id += count) mine.push_back(id);
    Selection grid{{{0, 0}}};
    const FakeServer server(domain, division, mine, grid, 1);
    std::vector<std::vector<BlockView>> views = server.views();
    views.resize(domain.metadata.variables.size());
    std::deque<Bytes> memory;
    for (std::size_t block = 0; block < 2; ++block) {
      std::vector<double> places, weights;
      std::vector<std::int32_t> ids;
      for (std::size_t n = 0; n < sky.particles.size(); ++n) {
        if ((n * 7 + static_cast<std::size_t>(index)) % (2 * count) != 2 * me + block) continue;
        const Particle& p = sky.particles[n];
        places.insert(places.end(), {p.x, p.y});
        weights.push_back(p.weight);
        ids.push_back(static_cast<std::int32_t>(p.id));
      }
      const auto id = static_cast<std::int64_t>(2 * me + block);
      give(views[1], memory, id, places, Type::float64, 2);
      give(views[2], memory, id, ids, Type::int32, 1);
      give(views[3], memory, id, weights, Type::float64, 1);
    }
    const Iteration iteration{index, index, static_cast<double>(index)};
    const LocalInput input{iteration, domain.metadata, views, 0, {}};
    const std::vector<Bytes> partials{task_->local(input)};
    CapturedResults results;
    task_->combine({iteration, domain.metadata, partials, 0, servers_, results, &input});
    return results.tables["halo-history.csv"];
  }

 private:
  template <class T>
  static void give(std::vector<BlockView>& views, std::deque<Bytes>& memory, std::int64_t id,
                   const std::vector<T>& values, Type type, int components) {
    BlockView& view = views.emplace_back();
    view.block.id = id;
    view.block.mesh = 1;
    view.block.space = IndexSpace::list;
    view.points = list_box(static_cast<Index>(values.size()) / components);
    view.owned = {view.points};
    const BytesView bytes = std::as_bytes(std::span(values));
    const Bytes& copy = memory.emplace_back(bytes.begin(), bytes.end());
    view.array = {copy.data(), type,       MemorySpace::host,
                  view.points, components, packed_strides(view.points, components, Order::column)};
  }

  Communicator& servers_;
  FakeDomain domain_;
  std::unique_ptr<Task> task_;
};

/// Adds a halo of 3 x 3 cells, with the peak in the central one.
void put_halo(Sky& sky, Index i, Index j, double peak) {
  for (Index di = -1; di <= 1; ++di) {
    for (Index dj = -1; dj <= 1; ++dj) sky.cells[{(i + di + 40) % 40, (j + dj + 40) % 40}] = 1;
  }
  sky.cells[{i, j}] = peak;
}
/// Adds particles first to first + n - 1 near the centre of a cell; some are given as periodic images.
void put_particles(Sky& sky, Index i, Index j, std::int64_t first, int n, double weight = 1) {
  for (int k = 0; k < n; ++k) {
    const double turn = k % 3 == 0 ? 20.0 : 0.0;
    sky.particles.push_back({first + k, -1 + 0.5 * (static_cast<double>(i) + 0.3 + 0.05 * k) + turn,
                             static_cast<double>(j) + 0.5 - 2 * turn, weight});
  }
}

std::string event(const Table& table, std::size_t row) {
  return std::get<std::string>(table.at(row, column_of(table, "event")));
}

const std::string options = "{variable: a, boundary: 1, halo: 2, connectivity: 6, history: {particles: stars";

}  // namespace

TEST_CASE("halos that have moved farther than their size are found again by their particles") {
  MpiCommunicator world(test_ranks());
  Sky first, second, third;
  put_halo(first, 5, 5, 3);
  put_halo(first, 20, 39, 4);
  put_particles(first, 5, 5, 100, 4);
  put_particles(first, 20, 39, 200, 5);
  first.particles.push_back({1, std::numeric_limits<double>::quiet_NaN(), 0, 1});
  put_halo(second, 15, 15, 3);
  put_halo(second, 30, 0, 4);
  put_particles(second, 15, 15, 100, 4);
  put_particles(second, 30, 0, 200, 5);
  put_particles(second, 3, 3, 300, 5);  // in no halo
  put_halo(third, 30, 30, 5);           // both have met, except for two particles that are elsewhere
  put_particles(third, 30, 30, 100, 4);
  put_particles(third, 30, 30, 202, 3);
  put_halo(third, 3, 3, 2);
  put_particles(third, 3, 3, 300, 5);
  Run by_particles(options + "}}", world);
  Run by_cells("{variable: a, boundary: 1, halo: 2, connectivity: 6, history: {}}", world);
  by_particles.step(first, 0);
  by_cells.step(first, 0);
  const Table moved = by_particles.step(second, 1), lost = by_cells.step(second, 1);
  const Table met = by_particles.step(third, 2);
  if (world.rank() != 0) return;
  REQUIRE(moved.rows() == 2);
  CHECK(event(moved, 0) == "goes-on");
  CHECK(whole(moved, 0, "track") == 0);
  CHECK(whole(moved, 0, "shared") == 4);
  CHECK(whole(moved, 1, "shared") == 5);
  REQUIRE(lost.rows() == 4);
  CHECK(event(lost, 0) == "birth");
  CHECK(event(lost, 2) == "death");
  REQUIRE(met.rows() == 3);
  CHECK(event(met, 0) == "birth");  // its particles were in no halo
  CHECK(event(met, 1) == "merger");
  CHECK(whole(met, 1, "track") == 1);  // the heavier one
  CHECK(whole(met, 1, "shared") == 3);
  CHECK(event(met, 2) == "merged");
  CHECK(whole(met, 2, "shared") == 4);
}

TEST_CASE("weights decide, where they are asked for") {
  MpiCommunicator world(test_ranks());
  Sky first, second;
  put_halo(first, 10, 10, 3);
  put_particles(first, 10, 10, 0, 3, 1);
  put_particles(first, 10, 10, 10, 2, 5);
  put_halo(second, 20, 20, 3);
  put_halo(second, 30, 30, 3);
  put_particles(second, 20, 20, 0, 3, 1);
  put_particles(second, 30, 30, 10, 2, 5);
  Run counted(options + "}}", world), weighed(options + ", weight: weight}}", world);
  for (Run* run : {&counted, &weighed}) run->step(first, 0);
  const Table by_number = counted.step(second, 1), by_weight = weighed.step(second, 1);
  if (world.rank() != 0) return;
  CHECK(event(by_number, 0) == "goes-on");
  CHECK(event(by_number, 1) == "split");
  CHECK(event(by_weight, 0) == "split");
  CHECK(event(by_weight, 1) == "goes-on");
}

TEST_CASE("the same bits on any number of servers") {
  MpiCommunicator world(test_ranks()), self(MPI_COMM_SELF);
  Run together(options + ", weight: weight}}", world), alone(options + ", weight: weight}}", self);
  for (std::int64_t step = 0; step < 6; ++step) {
    Sky sky;
    for (Index n = 0; n < 7; ++n)
      put_halo(sky, (11 * n + 3 * step) % 40, (17 * n + step * n) % 40, 2 + 0.5 * static_cast<double>(n));
    for (std::int64_t id = 0; id < 900; ++id) {
      sky.particles.push_back({id, -1 + 0.02 * static_cast<double>((id * 37 + 3 * step * (id % 5)) % 1000),
                               0.04 * static_cast<double>((id * 91 + step * 11) % 1000),
                               std::pow(10.0, static_cast<double>(id % 17))});
    }
    const Table table = together.step(sky, step), expected = alone.step(sky, step);
    CHECK(expected.rows() > 3);
    if (world.rank() == 0) CHECK(same_bits(table, expected));
  }
}

TEST_CASE("particles that cannot be found again are refused") {
  const auto refused = [](FakeDomain domain, const std::string& history, const char* why) {
    const std::string yaml = "{variable: a, boundary: 1, halo: 2, history: " + history + "}";
    CHECK_THROWS_WITH_AS(
        static_cast<void>(halos_kind().create(fake_settings(halos_kind(), yaml, domain.metadata), domain.metadata)),
        doctest::Contains(why), Error);
  };
  refused(domain_of({}), "{particles: grid}", "expected one of type 'points'");
  refused(domain_of({}), "{weight: weight}", "names no mesh");
  refused(domain_of({}), "{particles: stars, weight: place}", "one component");
  FakeDomain nameless = domain_of({});
  nameless.metadata.meshes[1].arrays[static_cast<std::size_t>(Role::point_ids)] = -1;
  refused(nameless, "{particles: stars}", "`point_ids`");
}
