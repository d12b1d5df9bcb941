// The variables that servers need, as a client hears of them: compared with the iterations in which a task runs.
#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/needed_values.hpp"
#include "sidestream/sidestream.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

Notice notice_of(std::int64_t first, const GroupNeeds& needs) { return {first, needs_notice, packed_fields(needs)}; }

NeedRule rule(NeedRule::Unit unit, double every, std::int32_t variable) {
  NeedRule made;
  made.unit = unit;
  made.every = every;
  made.add(variable);
  return made;
}

/// Counts the iterations in which it runs.
class Count final : public Task {
 public:
  Count(std::vector<std::int64_t>& runs, std::int32_t variable) : runs_(runs), variable_(variable) {}
  [[nodiscard]] Selection selection() const override { return {{{variable_, 0}}}; }
  [[nodiscard]] Bytes local(const LocalInput& input) override {
    runs_.push_back(input.iteration.index);
    return {};
  }
  Bytes combine(const CombineInput&) override { return {}; }

 private:
  std::vector<std::int64_t>& runs_;
  std::int32_t variable_;
};

}  // namespace

TEST_CASE("needs count once all groups have told, and all clients have heard") {
  NeededValues values(3);
  GroupNeeds first{0, 0, 2, {rule(NeedRule::Unit::iterations, 4, 1)}},
      second{0, 1, 2, {rule(NeedRule::Unit::any, 1, 70)}};
  values.take(notice_of(5, first));
  CHECK(values.needed(2, 9, {}));
  values.take(notice_of(5, second));
  for (std::int64_t index = 5; index < 8; ++index) CHECK(values.needed(2, index, {}));
  for (std::int64_t index = 8; index < 30; ++index) {
    CHECK(values.needed(1, index, {}) == (index % 4 == 0));
    CHECK_FALSE(values.needed(2, index, {}));
    CHECK(values.needed(70, index, {}));
  }
  values.begin(1);  // other servers come
  values.take(notice_of(5, first));
  CHECK(values.needed(2, 60, {}));
}

TEST_CASE("schedules in cycles depend on the cycle, and bounds count") {
  NeedRule every = rule(NeedRule::Unit::cycles, 10, 0);
  every.start = 5;
  every.end = 40;
  for (std::int64_t cycle = -20; cycle < 60; ++cycle) {
    CHECK(every.may_run(3, cycle) == (cycle == 5 || cycle == 15 || cycle == 25 || cycle == 35));
  }
  CHECK(every.may_run(3, std::nullopt));
}

namespace {

std::vector<std::int64_t> multiples(std::int64_t of) {
  std::vector<std::int64_t> all;
  for (std::int64_t index = 0; index < 20; index += of) all.push_back(index);
  return all;
}

/// 20 iterations, of which `count` runs in every third, and in a second group of servers, if there is one, in every
/// fifth. Clients publish only what is needed.
void run(const std::string& placement, bool is_told, bool two_groups = false) {
  std::vector<std::int64_t> runs, needed, all;
  for (std::int64_t index = 0; index < 20; ++index) {
    const bool due = index % 3 == 0 || (two_groups && index % 5 == 0);
    if (index < 8 || due || !is_told) all.push_back(index);  // max_in_flight is 8
  }
  Session session = Session::open_text(testing::test_ranks(),
                                       "placement: " + placement +
                                           "\nmeshes: {line: {type: uniform, size: [64]}}\n"
                                           "variables: {v: {mesh: line}, idle: {mesh: line}, once: {mesh: line, "
                                           "time_varying: false}}\n"
                                           "output: {directory: needed-results, existing: replace, timings: false}\n"
                                           "analyses:\n  - count: {variable: v, every: 3}\n" +
                                           (two_groups ? "  - count: {variable: v, every: 5, group: second}\n" : ""));
  Option name{"variable", OptionType::variable};
  name.required = true;
  session.registry().add(AnalysisKind{"count", "Runs.", {name}, [&](const Settings& s, const Metadata& m) {
                                        return std::make_unique<Count>(runs, m.find_variable(s.text("variable"))->id);
                                      }});
  const bool is_server = session.is_server();
  if (is_server) {
    session.serve();
  } else {
    int rank = 0, size = 1;
    MPI_Comm_rank(session.comm(), &rank);
    MPI_Comm_size(session.comm(), &size);
    const Index lo = 64 * rank / size, hi = 64 * (rank + 1) / size;
    session.set_block("line", rank, Box{{lo, 0, 0}, {hi, 1, 1}});
    session.start();
    const std::vector<double> values(static_cast<std::size_t>(hi - lo), 1.5);
    for (std::int64_t index = 0; index < 20; ++index) {
      CHECK(session.is_needed("once"));
      CHECK(session.is_needed("idle") == (index < 8 || !is_told));
      if (session.is_needed("v")) {
        needed.push_back(index);
        CHECK(session.publish("v", rank, values) == Taken::yes);
      }
      (void)session.end_iteration(index, 0.1);
    }
    CHECK_THROWS_WITH_AS((void)session.is_needed("idlee"), doctest::Contains("did you mean 'idle'"), Error);
    CHECK(needed == all);
  }
  const Account account = session.close();
  if (!is_server) CHECK(account.delivered == 20);
  if (is_server || placement == "inline") CHECK((runs == multiples(3) || (two_groups && runs == multiples(5))));
}

}  // namespace

TEST_CASE("what a client publishes only where it is needed suffices") { run("inline", true); }

TEST_CASE("clients of dedicated servers hear what these need") {
  int ranks = 0;
  MPI_Comm_size(testing::test_ranks(), &ranks);
  if (ranks < 3) return;  // the program runs with 3, too
  run("{mode: cores, per_node: 1, buffer: 1 MiB}", true);
  run("{mode: cores, groups: {first: 1, second: 1}, buffer: 1 MiB}", true, true);
  run("{mode: nodes, servers: 1, buffer: 1 MiB}", false);  // which does not tell them
}
