// Times at which a server looks for the next iteration without sleeping.
#include "transport/shared_memory/anticipation.hpp"

#include <doctest/doctest.h>

#include <vector>

using sidestream::shared_memory::Anticipation;
using namespace std::chrono_literals;
using Time = Anticipation::Time;

namespace {

const Time start{std::chrono::hours(1)};

Anticipation after(const std::vector<std::chrono::microseconds>& intervals, std::chrono::microseconds most) {
  Anticipation anticipation(most);
  Time time = start;
  anticipation.came(time);
  for (const auto interval : intervals) anticipation.came(time += interval);
  return anticipation;
}

}  // namespace

TEST_CASE("regular iterations are expected about when the next is due") {
  const auto window = after({10ms, 10100us, 9900us, 10ms, 10ms}, 200us).next();
  REQUIRE(window);
  CHECK(window->first == start + 60ms - 200us);
  CHECK(window->second == start + 60ms + 200us);
}

TEST_CASE("looking takes at most a twentieth of the time before and after") {
  const auto window = after({100us, 100us, 100us, 100us, 100us}, 1ms).next();
  REQUIRE(window);
  CHECK(window->first == start + 600us - 5us);
  CHECK(window->second == start + 600us + 5us);
}

TEST_CASE("nothing is expected of few iterations, of irregular ones, or if nobody wants it") {
  CHECK_FALSE(after({10ms, 10ms, 10ms, 10ms}, 1ms).next());
  CHECK_FALSE(after({10ms, 20ms, 10ms, 20ms, 10ms}, 1ms).next());
  CHECK_FALSE(after({10ms, 10ms, 10ms, 10ms, 10ms}, 0us).next());
}

TEST_CASE("one long step changes nothing, and a new pace is learnt") {
  const auto window = after({10ms, 10ms, 500ms, 10ms, 10ms}, 1ms).next();
  REQUIRE(window);
  CHECK(window->first == start + 540ms + 10ms - 500us);
  CHECK(after({10ms, 10ms, 10ms, 10ms, 10ms, 3ms, 3ms, 3ms, 3ms, 3ms}, 1ms).next()->first == start + 68ms - 150us);
}
