// Ranges of colours that are logarithmic or symmetric, their ticks, cyclic colours, and colours of the user's own.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "sidestream/error.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/graphics/ticks.hpp"

using namespace sidestream;
using namespace sidestream::rendering;

namespace {

/// CIE 1976 lightness, by the definition.
double lightness_of(Colour c) {
  const auto linear = [](double s) { return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4); };
  const double y = 0.2126 * linear(c.red / 255.0) + 0.7152 * linear(c.green / 255.0) + 0.0722 * linear(c.blue / 255.0);
  return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
}

std::string message_for(const std::string& text) {
  try {
    static_cast<void>(colours_in(text, "my.csv"));
  } catch (const Error& error) {
    CHECK(error.code() == Code::configuration);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the cyclic map has equal ends and is darkest in the middle") {
  const ColourMap map("twilight");
  CHECK(map.at(0) == map.at(1));
  double before = lightness_of(map.at(0));
  CHECK(before - lightness_of(map.at(0.5)) > 55);
  for (int step = 1; step <= 32; ++step) {
    const double here = lightness_of(map.at(step / 64.0));
    CHECK(here < before + 0.4);
    // Both halves are equally light, and no step is much larger than the others.
    CHECK(std::abs(here - lightness_of(map.at(1 - step / 64.0))) < 6);
    CHECK(before - here < 5);
    before = here;
  }
}

TEST_CASE("a logarithmic range goes with the powers of ten") {
  const ColourRange range = logarithmic_range(1e-3, 1e5);
  CHECK(range.is_logarithmic());
  CHECK(range.fraction(1e-3) == 0);
  CHECK(range.fraction(1e5) == 1);
  CHECK(range.fraction(10) == doctest::Approx(0.5));
  CHECK(range.fraction(1e-4) < 0);
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {0.0, -1.0, none, -std::numeric_limits<double>::infinity()}) {
    CHECK(std::isnan(range.fraction(value)));
  }
  CHECK(ColourMap("viridis").at(range.fraction(-3)) == ColourMap("viridis").at(none));
  for (const auto& [low, high] : std::vector<std::array<double, 2>>{
           {1, 2}, {3, 3}, {5, -5}, {-4, 7}, {-4, -3}, {0, 0}, {5e-324, 5e-324}, {1e-320, 1e308}, {1e308, 1.7e308}}) {
    const ColourRange usable = usable_range(low, high, ColourScaling::logarithmic);
    CAPTURE(low);
    CAPTURE(high);
    CHECK(usable.is_logarithmic());
    CHECK(usable.low > 0);
    CHECK(usable.low < usable.high);
    CHECK(!make_ticks(usable, 6).ticks.empty());
  }
}

TEST_CASE("a symmetric range has 0 in its middle") {
  for (const auto& [low, high] : std::vector<std::array<double, 2>>{{-1, 3}, {2, 5}, {-7, -6}, {0, 0}, {5, -5}}) {
    const ColourRange range = usable_range(low, high, ColourScaling::symmetric);
    CHECK(range.low == -range.high);
    CHECK(range.fraction(0) == 0.5);
    CHECK(!range.is_logarithmic());
    if (low <= high) CHECK(std::max(std::abs(low), std::abs(high)) <= range.high);
  }
  CHECK(usable_range(-1, 3, ColourScaling::linear).low == -1);
}

TEST_CASE("ticks of a logarithmic range are at powers of ten, or at a few multiples") {
  const Ticks wide = make_ticks(logarithmic_range(1e-5, 3e-1), 6);
  REQUIRE(wide.ticks.size() == 5);
  CHECK(wide.ticks[0].label == "10\u207b\u2075");
  CHECK(wide.ticks[4].value == doctest::Approx(0.1));
  CHECK(wide.minor.size() == 4 * 8 + 2);
  CHECK(make_ticks(logarithmic_range(0.01, 100), 6).ticks[0].label == "0.01");
  const Ticks narrow = make_ticks(logarithmic_range(2, 40), 6);
  CHECK(narrow.ticks.front().label == "2");
  CHECK(narrow.ticks.back().label == "20");
  for (double power = -300; power <= 250; power += 13.7) {
    for (const double decades : {0.001, 0.2, 0.5, 1.0, 1.9, 3.0, 7.7, 40.0}) {
      for (const int wanted : {3, 6}) {
        const ColourRange range = logarithmic_range(std::pow(10, power), std::pow(10, power + decades));
        const Ticks made = make_ticks(range, wanted);
        CAPTURE(power);
        CAPTURE(decades);
        CHECK(made.ticks.size() >= static_cast<std::size_t>(wanted) / 3);
        CHECK(made.ticks.size() <= static_cast<std::size_t>(wanted) + 2);
        std::set<std::string> labels;
        for (const Tick& tick : made.ticks) {
          CHECK(tick.value >= range.low);
          CHECK(tick.value <= range.high);
          labels.insert(tick.label);
        }
        CHECK(labels.size() == made.ticks.size());
        for (const double value : made.minor) CHECK((value >= range.low && value <= range.high));
      }
    }
  }
}

TEST_CASE("colours of the user's own are linear in between") {
  const ColourMap two(evenly_spaced({{0, 0, 0}, {255, 100, 0}}));
  CHECK(two.at(0) == Colour{0, 0, 0});
  CHECK(two.at(1) == Colour{255, 100, 0});
  CHECK(std::abs(two.at(0.5).red - 127.5) < 1);
  const ColourMap three(colours_in("#000000\n\n// the middle\nwhite\n#ff0000\n", "f"));
  CHECK(three.at(0.5).green > 250);
  CHECK(three.at(1) == Colour{255, 0, 0});
  CHECK(colours_in("0 0 0\n1 0.5 0\n", "f") == colours_in("0,0,0\r\n255;127.5;0", "f"));
  // Positions are mapped to 0 ... 1; equal ones are a step.
  const auto placed = colours_in("-2 #000000\n0 #0000ff\n0 #ff0000\n2 #ffffff", "f");
  REQUIRE(placed.size() == 4);
  CHECK(placed[1].position == 0.5);
  const ColourMap step{std::span<const ColourStop>(placed)};
  CHECK(step.at(0.49).red == 0);
  CHECK(step.at(0.51).red == 255);
  CHECK(colours_in("0 10 20 30\n1 1 1 1", "f")[0].rgb[0] == doctest::Approx(10 / 255.0));
}

TEST_CASE("a wrong file of colours gets a sentence with its line") {
  CHECK(message_for("#000000\n").find("found 1 colours") != std::string::npos);
  CHECK(message_for("#000000\nnavyish\n").find("my.csv:2: found 'navyish'") == 0);
  CHECK(message_for("0 0 0\n0 0 256\n").find("my.csv:2") == 0);
  CHECK(message_for("0 0 0\n0 0 -1\n").find("my.csv:2") == 0);
  CHECK(message_for("0 0 0\n0 0 nan\n").find("my.csv:2") == 0);
  CHECK(message_for("#000\n1 #fff\n").find("position") != std::string::npos);
  CHECK(message_for("1 #000\n0 #fff\n").find("ascend") != std::string::npos);
  CHECK(message_for("1 #000\n1 #fff\n").find("finite distance") != std::string::npos);
}
