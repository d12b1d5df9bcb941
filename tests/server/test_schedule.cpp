// The iterations in which tasks are due, compared with lists written by hand.
#include <doctest/doctest.h>

#include <vector>

#include "server/engine/schedule.hpp"

using namespace sidestream;

namespace {

Schedule schedule(Schedule::Unit unit, double every) {
  Schedule s;
  s.unit = unit;
  s.every = every;
  return s;
}

/// Indices of the iterations in which the task runs, for these cycles and times.
std::vector<std::int64_t> run(const Schedule& s, const std::vector<std::int64_t>& cycles,
                              const std::vector<double>& times) {
  ScheduleState state(s);
  std::vector<std::int64_t> due;
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    if (state.due({static_cast<std::int64_t>(i), cycles[i], times[i]}, true, false, false)) {
      due.push_back(static_cast<std::int64_t>(i));
    }
  }
  return due;
}

using Indices = std::vector<std::int64_t>;
const std::vector<std::int64_t> all_cycles{0, 0, 7, 10, 11, 29, 30, 30, 55};
const std::vector<double> times{0, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 2};

}  // namespace

TEST_CASE("every n iterations, from the start") {
  CHECK(run(schedule(Schedule::Unit::iterations, 3), all_cycles, times) == Indices{0, 3, 6});
  Schedule s = schedule(Schedule::Unit::iterations, 3);
  s.start = 1;
  s.end = 4;
  CHECK(run(s, all_cycles, times) == Indices{1, 4});
}

TEST_CASE("cycles are due where their distance from the start is a multiple, once where they repeat") {
  CHECK(run(schedule(Schedule::Unit::cycles, 10), all_cycles, times) == Indices{0, 3, 6});
  // A run that resumes between two multiples does not run the task at once.
  const std::vector<std::int64_t> later{57, 58, 60, 61, 70, -10, -7, 0, 70, 80, 80};
  const std::vector<double> no_times(later.size(), 0);
  CHECK(run(schedule(Schedule::Unit::cycles, 10), later, no_times) == Indices{2, 4, 5, 7, 8, 9});
  Schedule s = schedule(Schedule::Unit::cycles, 10);
  s.start = 58;
  CHECK(run(s, later, no_times) == Indices{1});
  s.first = true;
  s.start = 60;
  s.end = 70;
  CHECK(run(s, later, no_times) == Indices{2, 4});
}

TEST_CASE("the first iteration within the bounds comes on request") {
  const std::vector<std::int64_t> cycles{57, 58, 60, 61, 70};
  const std::vector<double> at{0.7, 0.8, 1, 1.1, 2};
  Schedule s = schedule(Schedule::Unit::cycles, 10);
  s.first = true;
  CHECK(run(s, cycles, at) == Indices{0, 2, 4});
  s.start = 59;
  CHECK(run(s, cycles, at) == Indices{2});
  s = schedule(Schedule::Unit::iterations, 3);
  s.start = 2;
  s.first = true;
  CHECK(run(s, cycles, at) == Indices{2});
  s = schedule(Schedule::Unit::time, 1);
  s.first = true;
  CHECK(run(s, cycles, at) == Indices{0, 2, 4});
}

TEST_CASE("times that are sums of dt reach their multiples in spite of rounding") {
  std::vector<std::int64_t> numbers;
  std::vector<double> sums;
  double t = 0;
  for (int i = 0; i <= 100; ++i) {
    numbers.push_back(i);
    sums.push_back(t);
    t += 0.1;
  }
  Indices expected;
  for (int i = 0; i <= 100; i += 10) expected.push_back(i);
  CHECK(run(schedule(Schedule::Unit::time, 1), numbers, sums) == expected);
}

TEST_CASE("start and end are met by times that were added up") {
  Schedule from_one = schedule(Schedule::Unit::time, 1);
  from_one.start = 1;
  from_one.end = 2;
  std::vector<std::int64_t> numbers;
  std::vector<double> sums;
  for (int i = 0; i <= 30; ++i) {
    double t = 0;
    for (int n = 0; n < i; ++n) t += 0.1;  // 10 of them: 0.9999999999999999, 20: 2.0000000000000004
    numbers.push_back(i);
    sums.push_back(t);
  }
  CHECK(run(from_one, numbers, sums) == Indices{10, 20});
}

TEST_CASE("wall time is what the agreed answer says") {
  ScheduleState state(schedule(Schedule::Unit::wall, 5));
  CHECK(state.wall_due(0));
  CHECK(state.due({0, 0, 0}, true, true, false));
  CHECK_FALSE(state.wall_due(4.9));
  CHECK_FALSE(state.due({1, 0, 0}, true, false, false));
  CHECK(state.wall_due(5.1));
  CHECK(state.due({2, 0, 0}, true, true, false));
  CHECK_FALSE(state.wall_due(9.9));
}

TEST_CASE("wall time that has come waits for the iteration in which the task can run") {
  ScheduleState state(schedule(Schedule::Unit::wall, 3600));
  CHECK(state.wall_due(1));  // that iteration is refused, so nobody asks if the task is due
  CHECK(state.wall_due(2));
  CHECK_FALSE(state.due({1, 0, 0}, false, true, false));  // its event has not been raised
  CHECK(state.wall_due(3));
  CHECK(state.due({2, 0, 0}, true, true, false));
  CHECK_FALSE(state.wall_due(4));
  CHECK_FALSE(state.wall_due(3599));
  CHECK(state.wall_due(3600));
}

TEST_CASE("auto leaves out iterations in which a server lags, and counts them") {
  ScheduleState state(schedule(Schedule::Unit::automatic, 1));
  CHECK(state.due({0, 0, 0}, true, false, false));
  CHECK_FALSE(state.due({1, 0, 0}, true, false, true));
  CHECK(state.due({2, 0, 0}, true, false, false));
  CHECK(state.thinned() == 1);
}

TEST_CASE("an event that was not signalled keeps a task from running") {
  ScheduleState state(schedule(Schedule::Unit::iterations, 1));
  CHECK_FALSE(state.due({0, 0, 0}, false, false, false));
  CHECK(state.due({1, 0, 0}, true, false, false));
}
