#include "visualisation/graphics/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sidestream/kit/base/numbers.hpp"

namespace sidestream::rendering {
namespace {

/// The number in superscript.
std::string raised_digits(int number) {
  constexpr std::string_view raised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                         "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text = number < 0 ? "\u207b" : "";
  for (const char digit : std::to_string(std::abs(number))) text += raised[digit - '0'];
  return text;
}

struct Step {
  int mantissa, exponent;  ///< mantissa * 10^exponent
  [[nodiscard]] double value() const { return mantissa * std::pow(10.0, exponent); }
};

/// The smallest of 1, 2, 5 times a power of ten that is not below `least`.
Step round_step(double least) {
  int exponent = static_cast<int>(std::floor(std::log10(least)));
  for (;; ++exponent) {
    for (const int mantissa : {1, 2, 5}) {
      // A tolerance lets a range of 10 in 5 steps have steps of 2.
      const Step step{mantissa, exponent};
      if (step.value() >= least * (1 - 1e-9)) return step;
    }
  }
}

/// The exponent for labels that would be longer than about six digits, otherwise 0.
int scale_exponent(const ColourRange& range) {
  const double most = std::max(std::abs(range.low), std::abs(range.high));
  const int magnitude = static_cast<int>(std::floor(std::log10(most)));
  return magnitude >= 5 || magnitude <= -4 ? magnitude : 0;
}

/// The common part of all numbers of a range that differ only in their last digits, otherwise 0. It is the number with
/// the fewest digits that leaves at most three for the labels.
double common_offset(const ColourRange& range, const Step& step) {
  const double most = std::max(std::abs(range.low), std::abs(range.high));
  if (std::floor(std::log10(most)) - step.exponent < 6) return 0;
  const double middle = range.low + 0.5 * (range.high - range.low);
  double offset = middle;
  for (int digits = 0; digits < 17; ++digits) {
    offset = real_of(fmt::format("{:.{}e}", middle, digits)).value_or(middle);
    if (std::abs(middle - offset) <= 500 * step.value()) break;
  }
  return offset;
}

/// Ticks of a range whose numbers need no offset.
Ticks plain_ticks(const ColourRange& range, int wanted) {
  Ticks result;
  const Step step = round_step((range.high - range.low) / wanted);
  const double size = step.value();
  result.exponent = scale_exponent(range);
  const int decimals = std::clamp(result.exponent - step.exponent, 0, 12);
  const double unit = std::pow(10.0, result.exponent);
  const double slack = 1e-9 * (range.high - range.low);
  const double first = std::ceil((range.low - slack) / size);
  for (int i = 0; i <= 2 * wanted + 2; ++i) {
    const double value = (first + i) * size;
    if (value > range.high + slack) break;
    std::string label = fmt::format("{:.{}f}", value / unit, decimals);
    // Avoids "-0.0".
    if (label.find_first_not_of("-0.") == std::string::npos && label[0] == '-') label.erase(0, 1);
    result.ticks.push_back({std::clamp(value, range.low, range.high), std::move(label)});
  }
  return result;
}

/// A number mantissa * 10^exponent of a logarithmic range.
using Round = Step;

std::string label_of(const Round& number, bool as_power) {
  if (!as_power) return fmt::format("{:.{}f}", number.value(), std::max(0, -number.exponent));
  const std::string ten = "10" + raised_digits(number.exponent);
  return number.mantissa == 1 ? ten : fmt::format("{}\u00d7{}", number.mantissa, ten);
}

/// The numbers in a logarithmic range with one of these mantissas and an exponent that is a multiple of `stride`.
std::vector<Round> numbers_within(const ColourRange& range, std::string_view mantissas, int stride) {
  constexpr double slack = 1e-9;
  std::vector<Round> numbers;
  const int first = static_cast<int>(std::floor(range.low_power)), last = static_cast<int>(std::ceil(range.high_power));
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % stride != 0) continue;
    for (const char digit : mantissas) {
      const Round number{digit - '0', exponent};
      const double power = std::log10(number.mantissa) + exponent;
      if (power < range.low_power - slack || power > range.high_power + slack) continue;
      numbers.push_back(number);
    }
  }
  return numbers;
}

Ticks ticks_at(const ColourRange& range, const std::vector<Round>& labelled, const std::vector<Round>& others) {
  const bool as_power = labelled.front().exponent < -3 || labelled.back().exponent > 3;
  const auto place = [&](const Round& number) { return std::clamp(number.value(), range.low, range.high); };
  Ticks result;
  for (const Round& number : labelled) result.ticks.push_back({place(number), label_of(number, as_power)});
  for (const Round& number : others) {
    const auto same = [&](const Round& l) { return l.mantissa == number.mantissa && l.exponent == number.exponent; };
    if (std::none_of(labelled.begin(), labelled.end(), same)) result.minor.push_back(place(number));
  }
  return result;
}

/// Ticks of a logarithmic range; none if it has too few round numbers.
Ticks power_ticks(const ColourRange& range, int wanted) {
  const auto most = static_cast<std::size_t>(wanted) + 1;
  const std::vector<Round> all = numbers_within(range, "123456789", 1);
  if (numbers_within(range, "1", 1).size() < 3) {
    for (const char* mantissas : {"125", "13"}) {
      const std::vector<Round> labelled = numbers_within(range, mantissas, 1);
      if (labelled.size() >= 2 && labelled.size() <= most) return ticks_at(range, labelled, all);
    }
  }
  for (const int stride : {1, 2, 3, 4, 5, 6, 8, 10, 20, 25, 50, 100, 200}) {
    const std::vector<Round> labelled = numbers_within(range, "1", stride);
    if (labelled.size() > most) continue;
    if (labelled.size() < 2) return {};
    std::vector<Round> others = stride == 1 ? all : numbers_within(range, "1", 1);
    // So many marks would be a grey area.
    if (others.size() > 72) others.clear();
    return ticks_at(range, labelled, others);
  }
  return {};
}

}  // namespace

Ticks make_ticks(const ColourRange& range, int wanted) {
  if (range.is_logarithmic()) {
    Ticks ticks = power_ticks(range, wanted);
    if (ticks.ticks.size() >= 2) return ticks;
  }
  const double offset = common_offset(range, round_step((range.high - range.low) / wanted));
  if (offset == 0) return plain_ticks(range, wanted);
  // Differences of numbers this near to each other are exact.
  Ticks result = plain_ticks({range.low - offset, range.high - offset}, wanted);
  result.offset = offset;
  for (Tick& tick : result.ticks) tick.value = std::clamp(offset + tick.value, range.low, range.high);
  return result;
}

std::string offset_text(double offset) { return offset == 0 ? "" : fmt::format("{:+}", offset); }

std::string power_text(int exponent) { return exponent == 0 ? "" : "\u00d710" + raised_digits(exponent); }

}  // namespace sidestream::rendering
