// Extremes of boxes in Cell_H: two tables, each with BOXES,COMPONENTS and a line of numbers per box.
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "importers/amrex/level_data.hpp"
#include "importers/amrex/text_reader.hpp"

namespace sidestream::amrex {

namespace {

/// A printed number and the unit of its last digit, since it was rounded there.
struct Written {
  double number = 0, last_digit = 0;
};

Written read_written(std::string_view text, double number) {
  if (!std::isfinite(number)) return {number, 0};
  const std::size_t e = text.find_first_of("eE"), point = text.find('.');
  const std::string_view mantissa = text.substr(0, e);
  const auto behind = point == std::string_view::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
  int exponent = 0;
  if (e != std::string_view::npos) {
    const std::string_view digits = text.substr(text[e + 1] == '+' ? e + 2 : e + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  }
  return {number, std::pow(10.0, exponent - behind)};
}

/// Reads numbers followed by commas, independent of line ends, up to the first that is invalid.
class Table {
 public:
  explicit Table(std::string_view text) : text_(text) {}

  /// Returns the table if it has the expected numbers of rows and columns; empty otherwise.
  std::vector<std::vector<Written>> take(std::size_t rows, std::size_t columns) {
    const auto first = next(','), second = next('\n');
    if (!first || first->number != static_cast<double>(rows)) return {};
    if (!second || second->number != static_cast<double>(columns)) return {};
    std::vector<std::vector<Written>> found(rows);
    for (auto& row : found) {
      for (std::size_t c = 0; c < columns; ++c) {
        const auto number = next(',');
        if (!number) return {};
        row.push_back(*number);
      }
    }
    return found;
  }

 private:
  std::optional<Written> next(char behind) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
    if (at_ < text_.size() && text_[at_] == '+') ++at_;
    double number = 0;
    const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (problem != std::errc()) return std::nullopt;
    const std::size_t begin = at_;
    at_ = static_cast<std::size_t>(end - text_.data());
    const Written written = read_written(text_.substr(begin, at_ - begin), number);
    while (behind == '\n' && at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\r')) ++at_;
    if (at_ >= text_.size() || text_[at_++] != behind) return std::nullopt;
    return written;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

double beyond(const Written& x, double sign, Type type) {
  const double part = type == Type::float32 ? 1e-6 : 1e-14, least = type == Type::float32 ? 1e-44 : 1e-322;
  return std::isinf(x.number) ? x.number : x.number + sign * (std::fabs(x.number) * part + x.last_digit + least);
}

}  // namespace

std::vector<std::vector<Range>> read_ranges(const LevelData& level) {
  if (!level.extremes || level.fabs.empty()) return {};
  const std::string text = read_text(level.folder + "/" + level.name + "_H", most_text);
  if (*level.extremes > text.size()) return {};
  Table table(std::string_view(text).substr(*level.extremes));
  const auto components = static_cast<std::size_t>(level.components);
  const auto least = table.take(level.fabs.size(), components);
  const auto greatest = least.empty() ? least : table.take(level.fabs.size(), components);
  if (greatest.empty()) return {};
  const Type type = type_of(level, 0);
  std::vector<std::vector<Range>> ranges(level.fabs.size(), std::vector<Range>(components));
  for (std::size_t box = 0; box < ranges.size(); ++box) {
    for (std::size_t c = 0; c < components; ++c) {
      const Written &low = least[box][c], &high = greatest[box][c];
      if (!(low.number <= high.number)) return {};
      ranges[box][c] = {beyond(low, -1, type), beyond(high, 1, type)};
    }
  }
  return ranges;
}

}  // namespace sidestream::amrex
