// Drawing colours, colour maps, ticks and text.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "sidestream/kit/analysis/chart.hpp"
#include "visualisation/graphics/annotations.hpp"
#include "visualisation/graphics/text.hpp"
#include "visualisation/graphics/ticks.hpp"

using namespace sidestream;
using namespace sidestream::rendering;

namespace {

/// CIE 1976 lightness, by the definition.
double lightness(Colour c) {
  const auto linear = [](double s) { return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4); };
  const double y = 0.2126 * linear(c.red / 255.0) + 0.7152 * linear(c.green / 255.0) + 0.0722 * linear(c.blue / 255.0);
  return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
}

Image white(int width, int height) {
  return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height * 4, 255)};
}

/// Sum of ink over some columns.
double ink(const Image& image, int left, int right) {
  double sum = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = std::max(left, 0); x < std::min(right, image.width); ++x) {
      sum += 255 - image.rgba[(static_cast<std::size_t>(y) * image.width + x) * 4];
    }
  }
  return sum / 255;
}

}  // namespace

TEST_CASE("lightness rises evenly along the even maps") {
  for (const std::string map_name : {"viridis", "inferno", "magma", "plasma", "cividis", "grey"}) {
    CAPTURE(map_name);
    const ColourMap map(map_name);
    const double first = lightness(map.at(0)), last = lightness(map.at(1));
    CHECK(last - first > 55);
    double before = first;
    for (int step = 1; step <= 64; ++step) {
      const double here = lightness(map.at(step / 64.0));
      CHECK(here > before - 0.4);
      // It is not exact, because channels have 8 bits; the maps plasma and cividis also deviate by themselves.
      CHECK(std::abs(here - (first + (last - first) * step / 64)) < 6);
      before = here;
    }
  }
}

TEST_CASE("coolwarm is lightest in the middle") {
  const ColourMap map("coolwarm");
  for (int step = 0; step < 30; ++step) {
    CHECK(lightness(map.at(step / 64.0)) < lightness(map.at((step + 1) / 64.0)) + 0.3);
    CHECK(lightness(map.at(1 - step / 64.0)) < lightness(map.at(1 - (step + 1) / 64.0)) + 0.3);
  }
}

TEST_CASE("values outside a range take the end's colour, no number a grey") {
  const ColourMap map("viridis");
  CHECK(map.at(-5) == map.at(0));
  CHECK(map.at(7) == map.at(1));
  const Colour none = map.at(std::numeric_limits<double>::quiet_NaN());
  CHECK(none.red == none.green);
  CHECK(none.green == none.blue);
}

TEST_CASE("a usable range has room between its ends") {
  for (const auto& [low, high] : std::vector<std::array<double, 2>>{{1, 2},
                                                                    {3, 3},
                                                                    {0, 0},
                                                                    {-5, -5},
                                                                    {1e300, 1e300},
                                                                    {-1.7e308, 1.7e308},
                                                                    {5, -5},
                                                                    {1, 1 + 1e-16},
                                                                    {300, 300 + 1e-13}}) {
    const ColourRange range = usable_range(low, high);
    CHECK(range.low < range.high);
    CHECK(std::isfinite(range.high - range.low));
    CHECK(!make_ticks(range, 6).ticks.empty());
  }
}

TEST_CASE("ticks are round, within the range and neither few nor many") {
  for (double power = -12; power <= 12; ++power) {
    for (const double low : {-3.7, 0.0, 1.0, 99.5}) {
      for (const double width : {0.9, 1.0, 2.3, 4.6, 9.9}) {
        const ColourRange range{low * std::pow(10, power), (low + width) * std::pow(10, power)};
        const Ticks made = make_ticks(range, 6);
        CAPTURE(range.low);
        CAPTURE(range.high);
        CHECK(made.ticks.size() >= 2);
        CHECK(made.ticks.size() <= 7);
        std::set<std::string> labels;
        for (const Tick& tick : made.ticks) {
          CHECK(tick.value >= range.low);
          CHECK(tick.value <= range.high);
          // The label tells the value.
          const double said = made.offset + std::stod(tick.label) * std::pow(10, made.exponent);
          CHECK(std::abs(said - tick.value) <= 1e-6 * (range.high - range.low));
          labels.insert(tick.label);
        }
        CHECK(labels.size() == made.ticks.size());
      }
    }
  }
  CHECK(make_ticks({0, 10}, 5).ticks[1].label == "2");
  CHECK(make_ticks({-1, 1}, 4).ticks[2].label == "0.0");
  CHECK(power_text(-15) == "\u00d710\u207b\u00b9\u2075");
}

TEST_CASE("numbers that differ in their last digits only count from an offset") {
  for (const double middle : {300.0, -300.0, 0.1, 123.456789, 1.0, 1e300, -7e-20}) {
    for (const double width : {1e-13, 1e-11, 1e-9, 1e-7}) {
      const double size = std::abs(middle);
      const ColourRange range = usable_range(middle - 0.3 * width * size, middle + 0.7 * width * size);
      const Ticks made = make_ticks(range, 6);
      CAPTURE(middle);
      CAPTURE(width);
      CHECK(made.offset != 0);
      CHECK(offset_text(made.offset).size() <= 22);
      std::set<std::string> labels;
      for (const Tick& tick : made.ticks) {
        CHECK(tick.label.size() <= 7);
        labels.insert(tick.label);
        const double said = std::stod(tick.label) * std::pow(10, made.exponent);
        CHECK(std::abs(said - (tick.value - made.offset)) <= 0.02 * (range.high - range.low));
      }
      CHECK(labels.size() >= 2);
      CHECK(labels.size() == made.ticks.size());
    }
  }
  CHECK(make_ticks({300, 300 + 1e-9}, 5).offset == 300);
  CHECK(offset_text(300) == "+300");
  CHECK(offset_text(-0.125) == "-0.125");
  CHECK(offset_text(0).empty());
  // Numbers of up to seven digits need no offset.
  CHECK(make_ticks({300, 301}, 5).offset == 0);
}

TEST_CASE("text that does not fit is cut where it can still be read") {
  CHECK(cut_text("short", 10, 500) == "short");
  const std::string cut = cut_text("temperature of the inner box", 10, 100);
  CHECK(cut.ends_with("..."));
  CHECK(cut.starts_with("temp"));
  CHECK(text_width(cut, 10) <= 100);
  CHECK(cut_text("any", 10, 1) == "...");
  // A caption of any length has capitals of at least 5.5 pixels, and stays within the margins.
  for (const int width : {64, 200, 1000}) {
    const Layout layout(width, width, 0, true);
    Image image = white(width, width);
    draw_caption(image, layout, std::string(2000, 'H'));
    CHECK(ink(image, width - static_cast<int>(layout.margin) + 1, width) == 0);
    CHECK(ink(image, 0, static_cast<int>(layout.margin)) == 0);
    int rows = 0;
    for (int y = 0; y < width; ++y) {
      int dark = 0;
      for (int x = 0; x < width; ++x) dark += image.rgba[(static_cast<std::size_t>(y) * width + x) * 4] < 160;
      rows += dark > 0;
    }
    CHECK(rows >= 5);
  }
}

TEST_CASE("every character has a shape within its width, in ascending order of code") {
  char32_t before = 0;
  for (const Glyph& glyph : glyphs()) {
    CHECK(glyph.code > before);
    before = glyph.code;
  }
  for (char c = '!'; c <= '~'; ++c) {
    CAPTURE(c);
    Image image = white(80, 80);
    const std::string text(1, c);
    draw_text(image, text, 20, 50, 28, {0, 0, 0});
    const int right = 20 + static_cast<int>(std::ceil(text_width(text, 28)));
    CHECK(ink(image, 20, right) > 8);
    CHECK(ink(image, 0, 20) + ink(image, right + 1, 80) == 0);
  }
}

TEST_CASE("text takes what UTF-8 says and survives what it is not") {
  CHECK(text_width("\u00b0", 14) == doctest::Approx(3.6 + 3.1));
  CHECK(text_width("", 14) == 0);
  // Two stray bytes are drawn as two boxes; a character without a shape is one box.
  CHECK(text_width("\xff\xc3", 14) == doctest::Approx(2 * text_width("\u4e2d", 14)));
  Image image = white(30, 20);
  draw_text(image, "cut off at all sides", -20, 5, 30, {0, 0, 0});
  CHECK(ink(image, 0, 30) > 0);
}

TEST_CASE("colours are read as written") {
  CHECK(parse_colour("#12aBff") == Colour{0x12, 0xab, 0xff});
  CHECK(parse_colour("#f08") == Colour{0xff, 0x00, 0x88});
  CHECK(parse_colour("white") == Colour{255, 255, 255});
  for (const char* wrong : {"", "#", "#12345", "#12345g", "whit", "12345678"}) CHECK(!parse_colour(wrong));
  for (const std::string& known : colour_names()) CHECK(parse_colour(known).has_value());
  for (const std::string& known : colour_map_names()) CHECK_NOTHROW(ColourMap{known});
  CHECK_THROWS_WITH_AS(ColourMap{"jet"}, doctest::Contains("twilight"), Error);
  for (int v = 0; v < 256; ++v) CHECK(to_srgb(to_linear(static_cast<std::uint8_t>(v))) == v);
}

TEST_CASE("the colour bar runs through the map from its foot to its head") {
  Image image = white(300, 300);
  const Layout layout(300, 300, 1, false);
  const ColourMap map("viridis");
  draw_colour_bar(image, layout, 0, map, {0, 1}, "title");
  const int x = static_cast<int>(layout.viewport().width + 1.4 * layout.text);
  const auto at = [&](int y) {
    const std::uint8_t* p = &image.rgba[(static_cast<std::size_t>(y) * 300 + x) * 4];
    return Colour{p[0], p[1], p[2]};
  };
  CHECK(at(62) == map.at(1 - 2.5 / 180));
  CHECK(at(150) == map.at(0.5 - 0.5 / 180));
  CHECK(at(237) == map.at(2.5 / 180));
}

TEST_CASE("the title of a colour bar keeps to the bar's column") {
  const ColourMap map("viridis");
  for (const char* title :
       {"Temperature of the inner fluid [K]", "Onelongwordthatdoesnotfitatall", "a b c d e f g h i j k l m n o p q"}) {
    for (const int height : {60, 200, 600}) {
      Image image = white(300, height);
      const Layout layout(300, height, 1, true);
      draw_colour_bar(image, layout, 0, map, {0, 1}, title);
      int outside = 0, above = 0;
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < 300; ++x) {
          const bool drawn = image.rgba[(static_cast<std::size_t>(y) * 300 + x) * 4] != 255;
          outside += drawn && x < layout.viewport().width;
          above += drawn && y < 0.2 * height;
        }
      }
      CHECK(outside == 0);
      // In a tall picture the bar begins at a fifth of the height, so this is the title.
      CHECK(((above > 0) || height < 600));
    }
  }
}
