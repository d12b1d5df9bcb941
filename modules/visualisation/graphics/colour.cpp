// Colours and colour maps. Light is mixed in linear 16-bit values by tables of the sRGB transfer function. Each map is
// stored as 33 samples and expanded linearly to a table.
#include "visualisation/graphics/colour.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "sidestream/kit/analysis/chart.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"

namespace sidestream::rendering {

namespace {

constexpr std::pair<std::string_view, Colour> named[] = {
    {"white", {255, 255, 255}}, {"black", {0, 0, 0}},       {"grey", {128, 128, 128}},  {"silver", {192, 196, 202}},
    {"red", {200, 52, 44}},     {"green", {62, 142, 78}},   {"blue", {44, 92, 178}},    {"orange", {230, 134, 46}},
    {"gold", {222, 178, 60}},   {"teal", {38, 140, 138}},   {"purple", {126, 78, 160}}, {"steelblue", {92, 140, 190}},
    {"coral", {228, 108, 82}},  {"ivory", {244, 238, 220}}, {"navy", {24, 38, 78}},
};

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Tables of both directions of the sRGB transfer function (IEC 61966-2-1).
struct Tables {
  std::array<std::uint16_t, 256> linear;
  std::array<std::uint8_t, 4096> srgb;
  Tables() {
    for (int i = 0; i < 256; ++i) {
      const double s = i / 255.0;
      const double l = s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
      linear[i] = static_cast<std::uint16_t>(std::lround(l * 65535));
    }
    // Entry e represents the linear values 16 e ... 16 e + 15. It is computed for their middle; then the ends and the
    // exact inverses of the other table are set, so that a plain colour comes back unchanged.
    for (int e = 0; e < 4096; ++e) {
      const double l = (e * 16 + 8) / 65536.0;
      const double s = l <= 0.0031308 ? 12.92 * l : 1.055 * std::pow(l, 1 / 2.4) - 0.055;
      srgb[e] = static_cast<std::uint8_t>(std::clamp<long>(std::lround(s * 255), 0, 255));
    }
    for (int i = 0; i < 256; ++i) srgb[linear[i] >> 4] = static_cast<std::uint8_t>(i);
  }
};

const Tables& tables() {
  static const Tables made;
  return made;
}

}  // namespace

std::optional<Colour> parse_colour(const std::string& text) {
  for (const auto& [name, colour] : named) {
    if (text == name) return colour;
  }
  if (text.empty() || text[0] != '#' || (text.size() != 7 && text.size() != 4)) return std::nullopt;
  std::array<int, 3> value{};
  const std::size_t width = text.size() == 7 ? 2 : 1;
  for (std::size_t c = 0; c < 3; ++c) {
    const int high = digit(text[1 + c * width]), low = digit(text[c * width + width]);
    if (high < 0 || low < 0) return std::nullopt;
    value[c] = high * 16 + low;
  }
  return Colour{static_cast<std::uint8_t>(value[0]), static_cast<std::uint8_t>(value[1]),
                static_cast<std::uint8_t>(value[2])};
}

std::vector<std::string> colour_names() {
  std::vector<std::string> names;
  for (const auto& entry : named) names.emplace_back(entry.first);
  return names;
}

std::uint16_t to_linear(std::uint8_t value) { return tables().linear[value]; }

std::uint8_t to_srgb(std::uint32_t value) { return tables().srgb[std::min<std::uint32_t>(value, 65535) >> 4]; }

Colour mix(Colour a, Colour b, double t) {
  const auto channel = [t](std::uint8_t x, std::uint8_t y) {
    const double l = to_linear(x) * (1 - t) + to_linear(y) * t;
    return to_srgb(static_cast<std::uint32_t>(std::clamp(l, 0.0, 65535.0)));
  };
  return {channel(a.red, b.red), channel(a.green, b.green), channel(a.blue, b.blue)};
}

Colour ink_on(Colour background) {
  const double light =
      0.2126 * to_linear(background.red) + 0.7152 * to_linear(background.green) + 0.0722 * to_linear(background.blue);
  // 18 % is where black and white text have about the same contrast.
  return light > 0.18 * 65535 ? Colour{34, 38, 44} : Colour{236, 238, 242};
}

namespace {

/// 33 evenly spaced samples of each map, six hexadecimal digits each; linear interpolation stays within 6 of 255 of the
/// original.
constexpr std::pair<std::string_view, std::string_view> samples[] = {
    {"viridis",
     "440154470d6048186a482374472d7b4536814240863f49893b528b375a8d33638d2f6a8e2c728e297a8e26818e23898e21908c"
     "1f988b1f9f8821a68528ae8031b57b3ebc744cc26c5dc9636ece5882d34c96d83fabdc32c0df24d5e21aeae51afde725"},
    {"inferno",
     "0000040403120b0724150b37210c4a2e0a5a3c09654a0c6b57106d63146e70196e7d1e6d89226a962766a32b61af315cbb3755"
     "c63e4dd14644db4f3be35932eb6528f1711ef67f14f98d0afb9c06fcab0ffbba1ff9ca32f5d949f2e865f3f586fcffa4"},
    {"magma",
     "0000040303110a0822130d331d114628115a36106a430f7650127c5d177f691c817621818226818f2a819c2e7fa9327db63779"
     "c33b75cf4170db486ae65163ee5c5ef5695cf9785dfb8761fd9668fea571feb47bfec387fed194fde0a2fceeb0fcfdbf"},
    {"plasma",
     "0d08872206903105963f049c4c02a15901a56600a77201a87e03a88909a69511a29f1a9ca92396b22c8ebb3587c33e80cb4778"
     "d25071d9596ae06263e66c5ceb7555f07f4ff48a48f89441fb9f3afdab33feb72dfdc328fcd025f9dd25f5eb27f0f921"},
    {"cividis",
     "00224e00285b002e6a0433711a386f273e6e32436d3b496c434e6c4b546c52596d5a5f6e61656f686a716f70737576767c7b78"
     "8481798b8778938d789b9376a39a75aba072b3a670bbad6cc3b469ccba64d4c15fddc958e6d051efd748f8df3cfee838"},
    {"coolwarm",
     "3b4cc0445acc4d68d75775e16282ea6c8ef1779af782a5fb8db0fe98b9ffa3c2feaec9fcb8d0f9c2d5f4ccd9eed5dbe6dddddd"
     "e5d8d1ecd3c5f1ccb9f4c4adf7bba0f7b194f7a687f49a7bf18d6fec7f63e57058de604dd55042cb3e38c0282fb40426"},
    {"grey",
     "000000080808101010181818202020282828303030383838404040484848505050585858606060686868707070787878808080"
     "8787878f8f8f9797979f9f9fa7a7a7afafafb7b7b7bfbfbfc7c7c7cfcfcfd7d7d7dfdfdfe7e7e7efefeff7f7f7ffffff"},
    {"twilight",
     "e2d9e2d6d7ddc2ced4aac2cc93b4c680a5c37297c16887be6276ba5f64b55e51ad5d3da1592a8f511b7745135c381145301437"
     "3a113a4a13425f174a741e4f872750983550a64550b25652bb6958c27c63c78f72cca287d1b5a1d8c6bdded3d4e2d9e2"},
};

int hexadecimal(std::string_view text) {
  int value = 0;
  for (const char c : text) value = value * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
  return value;
}

std::uint8_t interpolate(std::string_view table, std::size_t sample, std::size_t channel, double fraction) {
  const std::size_t next = sample + 1 < table.size() / 6 ? sample + 1 : sample;
  const int a = hexadecimal(table.substr(sample * 6 + channel * 2, 2));
  const int b = hexadecimal(table.substr(next * 6 + channel * 2, 2));
  return static_cast<std::uint8_t>(std::lround(a + (b - a) * fraction));
}

}  // namespace

ColourMap::ColourMap(const std::string& name) {
  for (const auto& [known, table] : samples) {
    if (name != known) continue;
    const double last = static_cast<double>(table.size() / 6 - 1);
    for (int e = 0; e < entries; ++e) {
      const double place = last * e / (entries - 1);
      const auto sample = static_cast<std::size_t>(place);
      const double fraction = place - static_cast<double>(sample);
      table_[e] = {interpolate(table, sample, 0, fraction), interpolate(table, sample, 1, fraction),
                   interpolate(table, sample, 2, fraction)};
    }
    return;
  }
  fail(Code::usage, "there is no colour map '{}'; take one of {}", name, fmt::join(colour_map_names(), ", "));
}

ColourMap::ColourMap(std::span<const ColourStop> stops) {
  std::size_t above = 1;
  for (int e = 0; e < entries; ++e) {
    const double place = static_cast<double>(e) / (entries - 1);
    while (above + 1 < stops.size() && stops[above].position < place) ++above;
    const ColourStop &a = stops[above - 1], &b = stops[above];
    const double width = b.position - a.position;
    const double t = width > 0 ? std::clamp((place - a.position) / width, 0.0, 1.0) : 1;
    const auto channel = [&](std::size_t c) {
      return static_cast<std::uint8_t>(std::lround(255 * std::clamp(a.rgb[c] + t * (b.rgb[c] - a.rgb[c]), 0.0, 1.0)));
    };
    table_[e] = {channel(0), channel(1), channel(2)};
  }
}

ColourRange usable_range(double low, double high) noexcept {
  if (low > high) return {0, 1};
  // No ticks fit between ends that are nearly equal.
  const double least = 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(low), std::abs(high));
  if (high - low > least && std::isfinite(high - low)) return {low, high};
  if (!std::isfinite(high - low)) {
    constexpr double most = std::numeric_limits<double>::max() / 4;
    return {std::max(low, -most), std::min(high, most)};
  }
  const double half = low == 0 ? 1 : 0.1 * std::abs(low);
  return {low - half, high + half};
}

ColourRange logarithmic_range(double low, double high) noexcept {
  constexpr double least = std::numeric_limits<double>::min(), most = std::numeric_limits<double>::max();
  if (!(high > 0)) return {1, 10, 0, 1};
  high = std::clamp(high, 16 * least, most);
  low = low > 0 ? std::clamp(low, least, high) : std::max(least, 1e-6 * high);
  // No ticks fit between ends that are nearly equal.
  if (high - low <= 16 * std::numeric_limits<double>::epsilon() * high) {
    low *= 0.9;
    high = std::min(1.1 * high, most);
  }
  return {low, high, std::log10(low), std::log10(high)};
}

ColourRange usable_range(double low, double high, ColourScaling scaling) noexcept {
  if (scaling == ColourScaling::logarithmic) return logarithmic_range(low, high);
  if (scaling == ColourScaling::linear || scaling == ColourScaling::cyclic) return usable_range(low, high);
  if (low > high) return {-1, 1};
  constexpr double most = std::numeric_limits<double>::max() / 4;
  const double half = std::min(std::max(std::abs(low), std::abs(high)), most);
  return half > 0 ? ColourRange{-half, half} : ColourRange{-1, 1};
}

namespace {

constexpr std::size_t most_colours = 65536;

/// A line of the file.
struct ColourLine {
  std::optional<double> position;
  std::array<double, 3> rgb{};
  bool in_bytes = false;  ///< from `#rrggbb` or a name: 0 to 255, whatever the numbers of other lines are
};

std::vector<std::string> words_of(std::string_view line) {
  constexpr std::string_view between = " \t\r,;";
  std::vector<std::string> words;
  for (;;) {
    const std::size_t first = line.find_first_not_of(between);
    if (first == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(between, first), line.size());
    words.emplace_back(line.substr(first, end - first));
    line.remove_prefix(end);
  }
}

bool is_comment(std::string_view line) {
  const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
  const std::string_view text = line.substr(first);
  return text.starts_with("//") || text == "#" || text.starts_with("# ");
}

/// The colour in the words of a line; nothing if they are none.
std::optional<ColourLine> colour_from(std::vector<std::string> words) {
  ColourLine line;
  const bool positioned = words.size() == 2 || words.size() == 4;
  if (positioned) {
    line.position = real_of(words.front());
    if (!line.position || !std::isfinite(*line.position)) return std::nullopt;
    words.erase(words.begin());
  }
  if (words.size() == 1) {
    const std::optional<Colour> colour = parse_colour(words[0]);
    if (!colour) return std::nullopt;
    line.rgb = {static_cast<double>(colour->red), static_cast<double>(colour->green),
                static_cast<double>(colour->blue)};
    line.in_bytes = true;
    return line;
  }
  if (words.size() != 3) return std::nullopt;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::optional<double> channel = real_of(words[c]);
    if (!channel || !(*channel >= 0 && *channel <= 255)) return std::nullopt;
    line.rgb[c] = *channel;
  }
  return line;
}

std::vector<ColourLine> read_lines(std::string_view text, const std::string& file) {
  std::vector<ColourLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || is_comment(line)) continue;
    const std::optional<ColourLine> colour = colour_from(words);
    if (!colour) {
      fail(Code::configuration,
           "{}:{}: found '{}', expected a colour: '#rrggbb' or three numbers from 0 to 1 or from 0 to 255, perhaps "
           "after a position; correct the line, or begin it with '//'",
           file, number, line.substr(0, 80));
    }
    const bool other_form = !lines.empty() && colour->position.has_value() != lines.front().position.has_value();
    const bool descends = !lines.empty() && !other_form && colour->position < lines.back().position;
    if (other_form || descends) {
      fail(Code::configuration, "{}:{}: found a colour {}, expected {}; correct the file", file, number,
           descends           ? "whose position is below that of the line before"
           : colour->position ? "with a position after one without"
                              : "without a position after one with a position",
           descends ? "positions that ascend" : "positions in all lines or in none");
    }
    lines.push_back(*colour);
  }
  return lines;
}

}  // namespace

std::vector<ColourStop> evenly_spaced(const std::vector<Colour>& colours) {
  std::vector<ColourStop> stops;
  const double last = static_cast<double>(colours.size()) - 1;
  for (const Colour& colour : colours) {
    stops.push_back(
        {static_cast<double>(stops.size()) / last, {colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0}});
  }
  return stops;
}

std::vector<ColourStop> colours_in(const std::string& text, const std::string& file) {
  const std::vector<ColourLine> lines = read_lines(text, file);
  if (lines.size() < 2 || lines.size() > most_colours) {
    fail(Code::configuration, "{}: found {} colours, expected 2 to {}, one a line; {}", file, lines.size(),
         most_colours, lines.size() < 2 ? "add some" : "remove some");
  }
  const double first = lines.front().position.value_or(0);
  const double width = lines.back().position.value_or(static_cast<double>(lines.size() - 1)) - first;
  if (!(width > 0) || !std::isfinite(width)) {
    fail(Code::configuration,
         "{}: found {} for the positions of the first and the last colour, expected two of a "
         "finite distance; correct the file",
         file, first);
  }
  const bool bytes = std::ranges::any_of(
      lines, [](const ColourLine& line) { return !line.in_bytes && *std::ranges::max_element(line.rgb) > 1; });
  std::vector<ColourStop> stops;
  for (const ColourLine& line : lines) {
    const double place = line.position.value_or(static_cast<double>(stops.size()));
    const double most = bytes || line.in_bytes ? 255 : 1;
    stops.push_back({(place - first) / width, {line.rgb[0] / most, line.rgb[1] / most, line.rgb[2] / most}});
  }
  return stops;
}

}  // namespace sidestream::rendering
