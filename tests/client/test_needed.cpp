// The variables that servers need, as a client hears of them: compared with the iterations in which a task runs.
#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
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

TEST_CASE("what a client publishes only where it is needed suffices") {
  std::vector<std::int64_t> runs, needed;
  Session session = Session::open_text(testing::test_ranks(),
                                       "placement: inline\n"
                                       "meshes: {line: {type: uniform, size: [64]}}\n"
                                       "variables: {v: {mesh: line}, idle: {mesh: line}, once: {mesh: line, "
                                       "time_varying: false}}\n"
                                       "output: {directory: needed-results, existing: replace, timings: false}\n"
                                       "analyses: [count: {variable: v, every: 3}]\n");
  Option name{"variable", OptionType::variable};
  name.required = true;
  session.registry().add(AnalysisKind{"count", "Runs.", {name}, [&](const Settings& s, const Metadata& m) {
                                        return std::make_unique<Count>(runs, m.find_variable(s.text("variable"))->id);
                                      }});
  int rank = 0, size = 1;
  MPI_Comm_rank(session.comm(), &rank);
  MPI_Comm_size(session.comm(), &size);
  const Index lo = 64 * rank / size, hi = 64 * (rank + 1) / size;
  session.set_block("line", rank, Box{{lo, 0, 0}, {hi, 1, 1}});
  session.start();
  const std::vector<double> values(static_cast<std::size_t>(hi - lo), 1.5);
  for (std::int64_t index = 0; index < 20; ++index) {
    CHECK(session.is_needed("once"));
    CHECK(session.is_needed("idle") == (index < 8));
    if (session.is_needed("v")) {
      needed.push_back(index);
      CHECK(session.publish("v", rank, values) == Taken::yes);
    }
    (void)session.end_iteration(index, 0.1);
  }
  CHECK_THROWS_WITH_AS((void)session.is_needed("idlee"), doctest::Contains("did you mean 'idle'"), Error);
  CHECK(session.close().delivered == 20);
  CHECK(runs == std::vector<std::int64_t>{0, 3, 6, 9, 12, 15, 18});
  CHECK(needed == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 9, 12, 15, 18});
}
