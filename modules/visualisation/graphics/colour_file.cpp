#include "visualisation/graphics/colour_file.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"

namespace sidestream::rendering {
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
