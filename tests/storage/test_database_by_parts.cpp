// Contexts that are stored part by part. Readers see them as if they were stored at once, whole or absent.
#include <doctest/doctest.h>

#include "sidestream/kit/base/fail.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"
#include "storage/support/sample.hpp"
#include "storage/support/small_database.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// A database whose blocks are lines of three cells, as in SmallDatabase. Part p of rank r has p + r blocks, so some
/// have none.
class InParts {
 public:
  InParts(Communicator& servers, database::StoringOptions options, std::vector<std::string> codecs)
      : servers_(servers), storing_(std::move(options)), packing_({codecs}, Type::float64, built_in_codecs()) {
    schema_.chunk = database::chunk_bytes;
    Mesh mesh;
    mesh.id = 0;
    mesh.name = "line";
    mesh.dimensions = 1;
    mesh.cells = {{0, 0, 0}, {100'000, 1, 1}};
    mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
    schema_.metadata.meshes.push_back(mesh);
    Variable field;
    field.id = field.mesh = 0;
    field.name = "field";
    schema_.metadata.variables.push_back(field);
    schema_.codecs.push_back(std::move(codecs));
  }

  /// Stores a context; rank `broken` throws in its part 1.
  void store(std::int64_t cycle, int parts, int broken = -1) {
    const auto fill = [&](int part, database::Domain& domain) {
      if (part == 1 && servers_.rank() == broken) fail(Code::file, "part 1 cannot be read");
      values_.clear();
      views_.clear();
      values_.reserve(static_cast<std::size_t>(part + servers_.rank()));
      views_.reserve(values_.capacity());
      for (int b = 0; b < part + servers_.rank(); ++b) add(cycle, (servers_.rank() * 100 + part) * 100 + b, domain);
    };
    storing_.store(servers_, parts, fill, schema_, {cycle, cycle, 0});
  }
  [[nodiscard]] std::uint64_t blocks(int parts) const {
    std::uint64_t count = 0;
    for (int r = 0; r < servers_.size(); ++r) {
      for (int p = 0; p < parts; ++p) count += static_cast<std::uint64_t>(p + r);
    }
    return count;
  }

 private:
  void add(std::int64_t cycle, std::int64_t id, database::Domain& domain) {
    constexpr Index cells = SmallDatabase::cells;
    std::array<double, cells>& values = values_.emplace_back();
    for (Index n = 0; n < cells; ++n) values[static_cast<std::size_t>(n)] = SmallDatabase::value(cycle, id, n);
    BlockView& view = views_.emplace_back();
    view.block.id = id;
    view.points = view.block.cells = {{id % 100 * cells, 0, 0}, {(id % 100 + 1) * cells, 1, 1}};
    view.array = {values.data(), Type::float64, MemorySpace::host, view.points, 1, {1, cells, cells, 0}};
    domain.add(0, schema_.metadata.variables.front(), view, packing_, {&pool_, {}});
  }

  Communicator& servers_;
  database::Storing storing_;
  Packing packing_;
  WorkerPool pool_{1};
  database::Schema schema_;
  std::vector<std::array<double, SmallDatabase::cells>>
      values_;  ///< values of the part that is written; the next one overwrites them
  std::vector<BlockView> views_;
};

struct Fixture {
  [[nodiscard]] database::StoringOptions options(int keep = 0) const {
    database::StoringOptions made;
    made.directory = directory / "data";
    made.max_file_size = 20'000;  // parts are in several segments
    made.flush = false;
    made.keep = keep;
    return made;
  }
  /// Checks that the database has these contexts, whole, with so many blocks, and no others. Collective.
  void expect(const std::set<std::int64_t>& cycles, std::uint64_t blocks) {
    world.barrier();
    if (world.rank() == 0) {
      const Findings findings = read_all(options().directory, blocks);
      CHECK(findings.whole == cycles);
      CHECK(findings.damages.empty());
      CHECK(findings.damaged.empty());
    }
    world.barrier();
  }
  MpiCommunicator world{test_ranks()};
  SharedDirectory directory{world};
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "readers find all blocks of all parts") {
  for (const std::vector<std::string>& codecs : {std::vector<std::string>{}, {"gzip"}}) {
    for (const int parts : {1, 2, 7, 30}) {
      CAPTURE(parts);
      InParts database(world, options(1), codecs);
      database.store(8, parts);
      database.store(9, parts);
      world.barrier();
      if (world.rank() == 0) CHECK(read_all(options().directory, database.blocks(parts)).whole.count(9) == 1);
      world.barrier();
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "no part at all is a context without blocks") {
  InParts database(world, options(), {});
  database.store(3, 0);
  expect({3}, 0);
}

TEST_CASE_FIXTURE(Fixture, "a part that fails on one rank fails the context on all, and the next one is whole") {
  InParts database(world, options(1), {"gzip"});
  database.store(1, 5);
  for (int broken = 0; broken < world.size(); ++broken) {
    CHECK(message_of([&] { database.store(2, 5, broken); }) == "part 1 cannot be read");
    expect({1 + 2 * broken}, database.blocks(5));
    database.store(3 + 2 * broken, 5);
    expect({3 + 2 * broken}, database.blocks(5));
  }
}
