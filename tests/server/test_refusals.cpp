// Iterations that a task refuses: their outcomes for clients, their reasons in iterations.csv, and later iterations.
#include <doctest/doctest.h>
#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "server/engine/engine.hpp"
#include "support/no_results.hpp"
#include "support/ranks.hpp"
#include "transport/in_process/transport.hpp"

using namespace sidestream;

namespace {

/// The deed of a task in an iteration.
enum class Deed { nothing, refuses, throws, refuses_and_throws, refuses_in_discard };

/// Does the deed of each iteration.
class Doer final : public Task {
 public:
  explicit Doer(std::vector<Deed> deeds) : deeds_(std::move(deeds)) {}
  [[nodiscard]] Selection selection() const override { return {}; }
  [[nodiscard]] Bytes local(const LocalInput& input) override {
    if (deed(input.iteration) == Deed::refuses_in_discard) throw Error(Code::analysis, "planned");
    return {};
  }
  Bytes combine(const CombineInput& input) override {
    const Deed now = deed(input.iteration);
    if (now == Deed::refuses || now == Deed::refuses_and_throws) refuse_iteration("nobody was there");
    if (now == Deed::throws || now == Deed::refuses_and_throws) throw Error(Code::analysis, "planned");
    return {};
  }
  void discard(const Iteration&) noexcept override { refuse_iteration("nobody was there"); }

 private:
  [[nodiscard]] Deed deed(const Iteration& iteration) const {
    return deeds_.at(static_cast<std::size_t>(iteration.index));
  }
  std::vector<Deed> deeds_;
};

/// Servers with one task each, all of which do the same, and a client on each of them.
struct Run {
  explicit Run(std::vector<Deed> deeds) {
    TaskConfig config;
    config.name = "doer";
    tasks.emplace_back(config, metadata, std::make_unique<Doer>(std::move(deeds)));
    tasks.front().set_communicator(servers.duplicate());
    const auto results = [](const Iteration&) { return std::make_unique<testing::NoResults>(); };
    engine = std::make_unique<Engine>(EngineParts{
        metadata, events, transport, servers, tasks, results, {TaskEvent{}}, 0, true, {&partitioner, {}, false}});
  }
  /// Runs one more iteration, and returns its outcome.
  Outcome next() {
    const std::int64_t index = ended++;
    REQUIRE(transport.begin());
    EndRecord end;
    end.iteration = {index, index, 0};
    end.client = servers.rank();
    static_cast<ClientTransport&>(transport).end(end);
    REQUIRE(engine->step());
    return transport.outcome(index).outcome;
  }
  [[nodiscard]] std::string reason() const { return text_of(engine->ledger().iterations().back()); }

  Metadata metadata;
  PartitionerKind partitioner;
  std::vector<std::string> events;
  MpiCommunicator servers{testing::test_ranks()};
  InProcessTransport transport{1u << 16, WhenFull::wait};
  std::vector<ScheduledTask> tasks;
  std::unique_ptr<Engine> engine;
  std::int64_t ended = 0;
};

}  // namespace

TEST_CASE("an iteration that a task refuses is refused with its reason, and later ones are not") {
  Run run({Deed::nothing, Deed::refuses, Deed::nothing});
  CHECK(run.next() == Outcome::delivered);
  CHECK(run.reason().empty());
  CHECK(run.next() == Outcome::refused);
  CHECK(run.reason() == "nobody was there");
  CHECK(run.transport.news().failure.empty());
  CHECK(run.next() == Outcome::delivered);
  CHECK(run.reason().empty());
  CHECK(run.engine->ledger().refused == 1);
  CHECK(run.engine->ledger().delivered == 2);
  CHECK(run.engine->ledger().failed == 0);
}

TEST_CASE("a task that refuses an iteration may fail as well") {
  Run run({Deed::throws, Deed::refuses_and_throws, Deed::refuses_in_discard});
  CHECK(run.next() == Outcome::failed);
  CHECK(run.reason() == "failed: doer");
  CHECK(run.next() == Outcome::refused);
  CHECK(run.reason() == "nobody was there; failed: doer");
  CHECK(run.transport.news().failure == "doer: planned");
  CHECK(run.next() == Outcome::refused);
  CHECK(run.reason() == "nobody was there; failed: doer");
  CHECK(run.engine->ledger().failed == 1);
  CHECK(run.engine->ledger().refused == 2);
}

TEST_CASE("a refusal fails where nothing carries it to the servers that reduce") {
  Run run({Deed::refuses, Deed::nothing});
  Bytes feedback;
  testing::NoResults results;
  const auto combine = [&](std::int64_t index) {
    const Iteration iteration{index, index, 0};
    return run.tasks.front().combine_partials(
        {iteration, run.metadata, {}, 0}, [&]() -> Results& { return results; }, feedback);
  };
  CHECK(combine(0).find("doer: it refuses an iteration") == 0);
  CHECK(combine(1).empty());
}
