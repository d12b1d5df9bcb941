// Histories of halos on meshes that are refined and coarsened from one iteration to the next. They are compared with
// histories on a uniform grid of the finest level, where halos share as many cells as they share volume here.
#include <cmath>

#include "modules/cosmology/halo_level_cases.hpp"
#include "support/fake_particles.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const char* const file = "halo-history.csv";

/// A particle: position, number and weight.
struct Particle {
  std::array<double, 3> x;
  std::int64_t id;
  double weight;
};

/// Adds a mesh of particles, "stars".
void add_stars(Metadata& metadata, int dimensions) {
  add_particles(metadata, "stars", dimensions,
                {{"place", Type::float64, dimensions, Role::coordinates},
                 {"number", Type::int64, 1, Role::point_ids},
                 {"weight"}});
}

/// Adds views of some of the particles, as one block.
void give_stars(std::vector<std::vector<BlockView>>& views, const Metadata& metadata, std::deque<Bytes>& memory,
                const std::vector<Particle>& particles, int dimensions, std::int64_t id) {
  std::vector<double> places, weights;
  std::vector<std::int64_t> numbers;
  for (const Particle& one : particles) {
    places.insert(places.end(), one.x.begin(), one.x.begin() + dimensions);
    weights.push_back(one.weight);
    numbers.push_back(one.id);
  }
  const auto give = [&](const char* name, const auto& values, int components) {
    const Variable& variable = *metadata.find_variable(name);
    BlockView& view = views[static_cast<std::size_t>(variable.id)].emplace_back();
    view.block.id = id;
    view.block.mesh = 1;
    view.block.space = IndexSpace::list;
    view.points = list_box(static_cast<Index>(values.size()) / components);
    view.owned = {view.points};
    const BytesView bytes = std::as_bytes(std::span(values));
    const Bytes& copy = memory.emplace_back(bytes.begin(), bytes.end());
    view.array = {copy.data(), variable.type, MemorySpace::host,
                  view.points, components,    packed_strides(view.points, components, Order::column)};
  };
  give("place", places, dimensions);
  give("number", numbers, 1);
  give("weight", weights, 1);
}

/// An analysis that runs over several iterations.
class Run {
 public:
  Run(const std::string& yaml, Metadata metadata, Communicator& servers)
      : servers_(servers),
        metadata_(std::move(metadata)),
        task_(halos_kind().create(fake_settings(halos_kind(), yaml, metadata_), metadata_)) {}

  /// The history, which is empty except on the first server. `views_of(server, servers)` gives the views of a server.
  template <class ViewsOf>
  Table step(std::int64_t index, ViewsOf views_of, bool fails = false) {
    const auto& views = views_of(static_cast<std::size_t>(servers_.rank()), static_cast<std::size_t>(servers_.size()));
    const Iteration iteration{index, index, 0.5 * static_cast<double>(index)};
    CapturedResults results;
    Bytes feedback;
    for (int pass = 0; pass < task_->passes(); ++pass) {
      const LocalInput input{iteration, metadata_, views, pass, feedback};
      const std::vector<Bytes> partials{task_->local(input)};
      if (fails && pass + 1 == task_->passes()) {
        task_->discard(iteration);
        return {};
      }
      feedback = task_->combine({iteration, metadata_, partials, pass, servers_, results, &input});
    }
    charts = results.charts;
    return results.tables[file];
  }
  std::map<std::string, ChartOrder> charts;

 private:
  Communicator& servers_;
  Metadata metadata_;
  std::unique_ptr<Task> task_;
};

struct Blob {
  double x, y, size;
};

/// Blobs on a periodic square of side 1, in a random tree, which is another one in each iteration.
TreeWorld sky(const std::vector<Blob>& blobs, std::uint64_t seed, std::int32_t deepest) {
  TreeWorld world;
  world.dimensions = 2;
  world.roots = {4, 2, 1};
  world.spacing = {0.25, 0.5, 1};
  world.owner = scattered;
  world.refined = [=](const TreeCell& c) { return c.level < deepest && (c.level < 2 || random_of(c, seed) < 0.5); };
  world.value = [=](const TreeCell&, const std::array<double, 3>& x) {
    double sum = 0;
    for (const Blob& blob : blobs) {
      const double dx = std::remainder(x[0] - blob.x, 1.0), dy = std::remainder(x[1] - blob.y, 1.0);
      sum += std::exp(-(dx * dx + dy * dy) / (blob.size * blob.size));
    }
    return sum;
  };
  return world;
}

/// Blobs that move, meet, part, vanish and appear. The third iteration has none.
std::vector<Blob> film(int n) {
  if (n == 3) return {};
  const double t = 0.04 * n;
  return {{0.1 + t, 0.2, 0.1},
          {0.5 - t, 0.2, 0.08},
          {0.75, 0.7 - t, 0.09},
          {0.95, 0.95 + t, 0.07},
          {0.3, 0.8, n % 2 ? 0.06 : 1e-4},
          {0.6 + (n > 4 ? 2 * t - 0.3 : 0), 0.5, 0.06},
          {0.6 - (n > 4 ? 2 * t - 0.3 : 0), 0.5, 0.055}};
}

std::vector<Particle> particles_of(int n) {
  std::vector<Particle> all;
  for (std::int64_t id = 0; id < 900; ++id) {
    if (n > 5 && id % 7 == 0) continue;  // has left
    const TreeCell seed{0, {id, 3, 1}};
    const double x = random_of(seed, 1) + 0.03 * n, y = random_of(seed, 2) + 0.02 * n;
    const bool lost = id % 50 == 9;
    all.push_back(
        {{lost ? std::numeric_limits<double>::quiet_NaN() : x, y, 0}, id, id % 31 == 0 ? not_a_number : 1.0 + x});
  }
  return all;
}

/// Compares the histories. `cell` is the volume of a cell of the finest level.
void compare(const Table& levels, const Table& uniform, double cell, bool particles) {
  REQUIRE(levels.rows() == uniform.rows());
  for (std::size_t r = 0; r < levels.rows(); ++r) {
    for (const char* column : {"track", "halo", "progenitors", "other_track", "previous_iteration"}) {
      CHECK_MESSAGE(whole(levels, r, column) == whole(uniform, r, column), column);
    }
    const auto event = [&](const Table& table) {
      return std::get<std::string>(table.at(r, column_of(table, "event")));
    };
    CHECK(event(levels) == event(uniform));
    CHECK(real(levels, r, "mass") == real(uniform, r, "mass"));
    if (particles) {
      CHECK(whole(levels, r, "shared") == whole(uniform, r, "shared"));
    } else {
      CHECK(real(levels, r, "shared") == cell * static_cast<double>(whole(uniform, r, "shared")));
    }
  }
}

}  // namespace

TEST_CASE("histories in trees that change are those of the finest level, in every division") {
  MpiCommunicator world_communicator(test_ranks()), self(MPI_COMM_SELF);
  constexpr std::int32_t deepest = 5;
  const std::array<bool, 3> along{true, true, false};
  std::map<std::string, int> events;
  for (const std::string how :
       {"{image: {file: tree.png, size: [300, 200]}}", "{particles: stars}", "{particles: stars, weight: weight}"}) {
    if (!test_all() && how == "{particles: stars}") continue;
    const bool particles = how.find("stars") != std::string::npos;
    const std::string head = ", boundary: 0.3, halo: 0.6, connectivity: 6, history: " + how + "}";
    const auto tree_at = [&](int n, std::size_t blocks) {
      TreeBlocks tree(sky(film(n), static_cast<std::uint64_t>(n), n == 2 ? 3 : n == 6 ? 4 : deepest), blocks);
      tree.domain.metadata.meshes[0].periodic = along;
      add_stars(tree.domain.metadata, 2);
      return tree;
    };
    LeafAt leaf;
    const auto fine_at = [&](int n) {
      FakeDomain fine = resampled(sky(film(n), static_cast<std::uint64_t>(n),
                                      n == 2   ? 3
                                      : n == 6 ? 4
                                               : deepest),
                                  deepest, along, leaf);
      add_stars(fine.metadata, 2);
      return fine;
    };
    const Metadata metadata = tree_at(0, 1).domain.metadata, fine_metadata = fine_at(0).metadata;
    Run alone("{variable: t" + head, metadata, self), together("{variable: t" + head, metadata, world_communicator),
        uniform("{variable: t" + head, fine_metadata, self);
    for (const int n : {0, 1, 2, 3, 4, 5, 6, 8}) {
      std::deque<Bytes> memory;
      const auto in_tree = [&](std::size_t blocks) {
        return [&, blocks](std::size_t me, std::size_t count) {
          static std::deque<TreeBlocks> kept;  // views refer to it
          const TreeBlocks& tree = kept.emplace_back(tree_at(n, blocks));
          std::vector<std::size_t> mine;
          for (std::size_t id = 0; id < tree.blocks.size(); ++id) {
            if ((id + static_cast<std::size_t>(n)) % count == me) mine.push_back(id);
          }
          auto views = testing::views_of(tree.domain, tree.blocks, mine);
          views.resize(metadata.variables.size());
          std::vector<Particle> some;
          const std::vector<Particle> all = particles_of(n);
          for (std::size_t p = 0; p < all.size(); ++p) {
            if ((p + static_cast<std::size_t>(n)) % count == me) some.push_back(all[p]);
          }
          give_stars(views, metadata, memory, some, 2, static_cast<std::int64_t>(me));
          return views;
        };
      };
      const FakeDomain fine = fine_at(n);
      const FakeServer server(fine, {fine.mesh().cells}, {0}, Selection{{{0, 0}}}, 0);
      const Table expected = uniform.step(n, [&](std::size_t, std::size_t) {
        auto views = server.views();
        views.resize(fine_metadata.variables.size());
        give_stars(views, fine_metadata, memory, particles_of(n), 2, 0);
        return views;
      });
      if (n == 2) together.step(2, in_tree(3), true);  // an iteration that fails changes nothing
      const Table one = alone.step(n, in_tree(1));
      compare(one, expected, 0x1p-7 * 0x1p-6, particles);
      const Table all = together.step(n, in_tree(5));
      if (world_communicator.rank() == 0) {
        CHECK(same_bits(all, one));
        if (!particles) CHECK(together.charts.at("tree.png").arguments == alone.charts.at("tree.png").arguments);
      }
      for (std::size_t r = 0; r < one.rows(); ++r) ++events[std::get<std::string>(one.at(r, column_of(one, "event")))];
    }
  }
  for (const char* event : {"first", "birth", "goes-on", "merger", "merged", "split", "death"}) {
    CHECK_MESSAGE(events[event] > 0, event);
  }
}

TEST_CASE("histories in patches that come and go are those of the finest level") {
  MpiCommunicator world_communicator(test_ranks()), self(MPI_COMM_SELF);
  for (const int dimensions : {2, 3}) {
    const auto world_at = [&](int n) {
      PatchWorld world = random_patches(dimensions, 6);
      world.periodic = {dimensions == 2, false, true};
      if (n % 3 == 1) std::erase_if(world.patches, [](const auto& patch) { return patch.first == 2; });
      if (n % 3 == 2) std::erase_if(world.patches, [](const auto& patch) { return patch.first > 0; });
      // Neighbours in space have similar values, which drift.
      world.value = [mesh = world.metadata().meshes[0], world, n](const TreeCell& cell, auto&) {
        const auto x = world.centre(mesh, cell);
        return std::sin(17 * x[0] + 0.4 * n) + std::cos(13 * x[1] - 0.3 * n) + std::sin(9 * x[2]);
      };
      return world;
    };
    const std::string yaml = "{variable: t, boundary: 1, halo: 1.3, connectivity: 6, history: {}}";
    std::size_t rows = 0;
    LeafAt leaf;
    const Metadata metadata = world_at(0).metadata(), fine_metadata = resampled(world_at(0), leaf).metadata;
    Run alone(yaml, metadata, self), together(yaml, metadata, world_communicator), uniform(yaml, fine_metadata, self);
    for (int n = 0; n < (test_all() ? 7 : 4); ++n) {
      const FakeDomain fine = resampled(world_at(n), leaf);
      const FakeServer server(fine, {fine.mesh().cells}, {0}, Selection{{{0, 0}}}, 0);
      const Table expected = uniform.step(n, [&](std::size_t, std::size_t) { return server.views(); });
      const PatchWorld whole_patches = world_at(n), halves = halved(whole_patches);
      const auto views = [&](const PatchWorld& of, std::size_t me, std::size_t count) {
        std::vector<std::size_t> mine;
        for (std::size_t id = me; id < of.patches.size(); id += count) mine.push_back(id);
        return std::make_unique<PatchViews>(of, metadata, mine);
      };
      const auto mine = views(whole_patches, 0, 1);
      const Table one = alone.step(n, [&](std::size_t, std::size_t) { return mine->views(); });
      REQUIRE(one.rows() == expected.rows());
      rows += one.rows();
      for (std::size_t r = 0; r < one.rows(); ++r) {
        for (const char* column : {"track", "halo", "progenitors", "other_track"}) {
          CHECK(whole(one, r, column) == whole(expected, r, column));
        }
        const auto* cell = dynamic_cast<const UniformGeometry*>(fine.mesh().geometry.get());
        double volume = 1;
        for (int a = 0; a < dimensions; ++a) volume *= cell->spacing()[static_cast<std::size_t>(a)];
        CHECK(real(one, r, "shared") ==
              doctest::Approx(volume * static_cast<double>(whole(expected, r, "shared"))).epsilon(1e-12));
      }
      const auto ours = views(halves, static_cast<std::size_t>(world_communicator.rank()),
                              static_cast<std::size_t>(world_communicator.size()));
      const Table all = together.step(n, [&](std::size_t, std::size_t) { return ours->views(); });
      if (world_communicator.rank() == 0) CHECK(same_bits(all, one));
    }
    CHECK(rows > 14);
  }
}
