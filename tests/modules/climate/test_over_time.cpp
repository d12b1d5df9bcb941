// Statistics over time: which iterations a window has, and what servers keep when blocks are divided anew.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "climate/over_time/accumulation.hpp"
#include "climate/over_time/kept_blocks.hpp"
#include "climate/over_time/windows.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::over_time;

namespace {

std::vector<std::int64_t> windows_of(const WindowRule& rule, const std::vector<Iteration>& iterations) {
  std::vector<std::int64_t> windows;
  WindowClock clock;
  for (const Iteration& iteration : iterations) {
    const WindowClock::Place place = clock.place(rule, iteration);
    windows.push_back(place.window < 0 ? -1 : 10 * place.window + (place.is_last ? 1 : 0));
    clock.enter(iteration, place);
  }
  return windows;
}

/// Some cells have values near the largest double from the third step on.
double value_at(Index i, int step) {
  const double value = std::sin(static_cast<double>(3 * i + 7 * step));
  return i % 3 == 0 && step > 1 ? 1.7e308 * value : value;
}

constexpr Index cells = 24;

/// Adds an iteration on a line of cells that is cut at multiples of `width`, dealt to the ranks from `first` on.
void add(KeptBlocks& kept, const Variable& variable, Communicator& servers, Index width, int first, int step) {
  kept.begin();
  std::vector<Block> mine;
  for (Index b = 0; b * width < cells; ++b) {
    Block block;
    block.id = 100 * width + b;
    block.cells = {{b * width, 0, 0}, {std::min(cells, (b + 1) * width), 1, 1}};
    if ((b + first) % servers.size() == servers.rank()) mine.push_back(block);
  }
  for (const Block& block : mine) kept.find(0, block).values.prepare(static_cast<std::size_t>(step));
  kept.exchange(servers);
  kept.settle();
  for (const Block& block : mine) {
    KeptBlock& one = kept.find(0, block);
    one.values.prepare(static_cast<std::size_t>(step));
    one.values.begin(static_cast<std::size_t>(step), 1);
    const Box points = variable.points(block);
    std::vector<double> values;
    for (Index i = points.lo[0]; i < points.hi[0]; ++i) values.push_back(value_at(i, step));
    one.values.add(0, values);
  }
}

}  // namespace

TEST_CASE("windows of iterations, cycles and times") {
  std::vector<Iteration> iterations;
  for (std::int64_t n = 0; n < 8; ++n) iterations.push_back({n, 5 * n, 0});
  double time = 0;
  for (Iteration& iteration : iterations) {
    iteration.time = time;
    time += 0.1;  // 0.1 added eight times is not 0.8
  }
  using V = std::vector<std::int64_t>;
  WindowRule rule = WindowRule::parsed("3").value();
  CHECK(windows_of(rule, iterations) == V{0, 0, 1, 10, 10, 11, 20, 20});
  rule.start = 2;
  CHECK(windows_of(rule, iterations) == V{-1, -1, 0, 0, 1, 10, 10, 11});
  rule = WindowRule::parsed("15 cycles").value();
  CHECK(windows_of(rule, iterations) == V{-1, 0, 0, 1, 10, 10, 11, 20});
  rule.step = 5;
  rule.length = 12;  // no cycle at the end: the last one before it
  CHECK(windows_of(rule, iterations) == V{-1, 0, 1, 10, 11, 20, 20, 21});
  rule = WindowRule::parsed("0.3 time").value();
  CHECK(windows_of(rule, iterations) == V{-1, 0, 0, 1, 10, 10, 11, 20});
  for (const char* const text : {"", "x", "0", "-3", "1.5", "1.5 cycles", "3 days", "nan", "inf time", "1e300"}) {
    CAPTURE(text);
    CHECK(!WindowRule::parsed(text));
  }
}

TEST_CASE("a run that goes on numbers its iterations after those of the one before") {
  const WindowRule rule = WindowRule::parsed("4").value();
  WindowClock clock;
  for (std::int64_t n = 0; n < 6; ++n) clock.enter({n, n, 0}, clock.place(rule, {n, n, 0}));
  for (const bool repeats : {false, true}) {
    WindowClock next = clock.kept({5, 5, 0});
    const std::int64_t cycle = repeats ? 5 : 6;
    next.go_on({0, cycle, 0});
    CHECK(next.place(rule, {0, cycle, 0}).repeated == repeats);
    const WindowClock::Place place = next.place(rule, {repeats ? 2 : 1, 7, 0});
    CHECK(place.window == 1);
    CHECK(place.is_last);
  }
}

TEST_CASE("servers that follow others in a session keep the windows, and know what the first one lacks") {
  const WindowRule rule = WindowRule::parsed("4").value();
  WindowClock clock;
  for (std::int64_t n = 0; n < 6; ++n) clock.enter({n, n, 0}, clock.place(rule, {n, n, 0}));
  WindowClock next = clock.kept({5, 5, 0});
  next.go_on({6, 6, 0});  // told to leave: nothing is lost
  CHECK(next.lacks(rule, {6, 6, 0}) == 0);
  CHECK(next.place(rule, {7, 7, 0}).is_last);
  next = clock.kept({5, 5, 0});
  next.go_on({7, 7, 0});  // killed: 6 is lost
  CHECK(next.lacks(rule, {7, 7, 0}) == 1);
  CHECK(next.place(rule, {7, 7, 0}).window == 1);
  CHECK(next.place(rule, {7, 7, 0}).is_last);
  next = clock.kept({5, 5, 0});
  next.go_on({5, 5, 0});  // not acknowledged
  CHECK(next.place(rule, {5, 5, 0}).repeated);
  CHECK(WindowClock().lacks(rule, {6, 6, 0}) == 2);
  CHECK(WindowClock().lacks(rule, {0, 0, 0}) == 0);
}

TEST_CASE("a cell with large values is stored and read in the middle of a window, and changes no other one") {
  Needed needed;
  needed.mean = needed.spread = needed.sum = true;
  for (const bool skips : {false, true}) {
    needed.skip_nan = skips;
    Accumulation whole(needed, 3), first(needed, 3), small(needed, 1);
    for (int step = 0; step < 4; ++step) {
      const std::vector<double> values{0.1 * step, step == 1 ? -1.5e308 : 1e308, step == 2 ? 0x1p480 : 1e-300};
      for (Accumulation* const one : {&whole, &first}) {
        one->begin(static_cast<std::size_t>(step), 1);
        one->add(0, values);
      }
      small.begin(static_cast<std::size_t>(step), 1);
      small.add(0, std::span(values).first(1));
      ByteWriter writer;
      first.put(writer);
      ByteReader reader(writer.bytes());
      first = Accumulation::got(reader, needed);
      CHECK(reader.at_end());
    }
    for (const Statistic statistic :
         {Statistic::mean, Statistic::variance, Statistic::standard_deviation, Statistic::sum}) {
      const Bytes all = whole.result(statistic, 0);
      CHECK(all == first.result(statistic, 0));
      const Bytes by_itself = small.result(statistic, 0);
      CHECK(std::equal(by_itself.begin(), by_itself.end(), all.begin()));
    }
    const auto means = records_of<double>(whole.result(Statistic::mean, 0));
    CHECK(means[1] == doctest::Approx(3.75e307));
    const auto deviations = records_of<double>(whole.result(Statistic::standard_deviation, 0));
    CHECK(deviations[1] == doctest::Approx(std::sqrt(3.0) * 6.25e307));
    CHECK(std::isinf(records_of<double>(whole.result(Statistic::variance, 0))[1]));
  }
}

TEST_CASE("cells keep their history when they are divided anew") {
  auto servers = MpiCommunicator::over(testing::test_ranks());
  Needed needed;
  needed.mean = needed.spread = needed.low = needed.held = true;
  for (const Centering centering : {Centering::cell, Centering::node}) {
    Variable variable;
    variable.centering = reduced(centering, 1);
    KeptBlocks kept(needed, {variable});
    Accumulation whole(needed, static_cast<std::size_t>(variable.points(Box{{0, 0, 0}, {cells, 1, 1}}).count()));
    const std::vector<Index> widths{24, 7, 7, 5, 24, 3};
    for (int step = 0; step < static_cast<int>(widths.size()); ++step) {
      add(kept, variable, *servers, widths[static_cast<std::size_t>(step)], step, step);
      std::vector<double> values;
      for (Index i = 0; i < cells + (centering == Centering::node ? 1 : 0); ++i) values.push_back(value_at(i, step));
      whole.prepare(static_cast<std::size_t>(step));
      whole.begin(static_cast<std::size_t>(step), 1);
      whole.add(0, values);
    }
    for (const KeptBlock& one : kept.all()) {
      if (!one.here) continue;
      for (const Statistic statistic : {Statistic::mean, Statistic::variance, Statistic::count, Statistic::quantile}) {
        const Bytes all = whole.result(statistic, 0.3), mine = one.values.result(statistic, 0.3);
        CHECK(std::memcmp(all.data() + 8 * one.points.lo[0], mine.data(), mine.size()) == 0);
      }
    }
  }
}
