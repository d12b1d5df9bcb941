#include "climate/cf/time_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

/// True for a unit of time that readers of CF know, in one or many.
bool is_unit_of_time(std::string_view word) {
  static constexpr std::array units{"nanosecond", "microsecond", "millisecond", "second", "sec", "s", "minute",
                                    "min",        "hour",        "hr",          "h",      "day", "d"};
  return std::any_of(units.begin(), units.end(), [&](std::string_view unit) {
    return word == unit ||
           (unit.size() > 1 && word.size() == unit.size() + 1 && word.starts_with(unit) && word.back() == 's');
  });
}

/// Takes parts from the beginning of a text. Each function returns false, and takes nothing, if the text has no such
/// part there.
class Remaining {
 public:
  explicit Remaining(std::string_view text) : text_(text) {}
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  [[nodiscard]] bool at_digit() const noexcept { return !empty() && is_digit(text_.front()); }

  bool number(int& value, std::size_t most_digits) {
    std::size_t digits = 0;
    int found = 0;
    for (; digits < text_.size() && is_digit(text_[digits]); ++digits) {
      if (digits == most_digits) return false;
      found = 10 * found + (text_[digits] - '0');
    }
    if (digits == 0) return false;
    value = found;
    text_.remove_prefix(digits);
    return true;
  }
  bool any_of(std::string_view characters) {
    if (empty() || characters.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void blanks() {
    while (any_of(" ")) continue;
  }

 private:
  std::string_view text_;
};

/// Reads `12`, `12:00`, `12:00:00` or `12:00:00.5`.
bool take_clock(Remaining& text, ZeroOfTime& zero) {
  if (!text.number(zero.hour, 2)) return false;
  if (!text.any_of(":")) return true;
  if (!text.number(zero.minute, 2)) return false;
  if (!text.any_of(":")) return true;
  int fraction = 0;
  return text.number(zero.second, 2) && (!text.any_of(".") || text.number(fraction, 9));
}

/// Reads `Z`, `UTC`, `GMT`, `+1`, `+1:00` or `+0100`.
bool take_zone(Remaining& text, ZeroOfTime& zero) {
  if (text.word("Z") || text.word("UTC") || text.word("GMT")) return true;
  if (!text.any_of("+-")) return false;
  int number = 0;
  Remaining short_form = text;
  if (short_form.number(zero.zone_hour, 2)) {
    text = short_form;
    return !text.any_of(":") || text.number(zero.zone_minute, 2);
  }
  if (!text.number(number, 4)) return false;
  zero.zone_hour = number / 100, zero.zone_minute = number % 100;
  return true;
}

int days_of_month(int year, int month) {
  if (month == 4 || month == 6 || month == 9 || month == 11) return 30;
  if (month != 2) return 31;
  const bool is_century = year > 1582 && year % 100 == 0;
  return year % (is_century ? 400 : 4) == 0 ? 29 : 28;
}

}  // namespace

std::optional<ZeroOfTime> zero_of_time(std::string_view given) {
  ZeroOfTime zero;
  Remaining text(given);
  const bool has_date = text.number(zero.year, 6) && text.any_of("-") && text.number(zero.month, 2) &&
                        text.any_of("-") && text.number(zero.day, 2);
  if (!has_date) return {};
  const bool needs_clock = text.any_of("T");
  text.blanks();
  if (needs_clock && !text.at_digit()) return {};
  if (text.at_digit() && !take_clock(text, zero)) return {};
  text.blanks();
  if (!text.empty() && !take_zone(text, zero)) return {};
  if (!text.empty()) return {};
  return zero;
}

std::string wrong_in(const ZeroOfTime& zero) {
  constexpr int last_year = 999'999, most_zone_hours = 14;
  const int days = days_of_month(zero.year, zero.month);
  const std::array<std::tuple<const char*, int, int, int>, 8> parts{
      {{"year", zero.year, 1, last_year},
       {"month", zero.month, 1, 12},
       {"day", zero.day, 1, days},
       {"hour", zero.hour, 0, 23},
       {"minute", zero.minute, 0, 59},
       {"second", zero.second, 0, 59},
       {"zone's hour", zero.zone_hour, 0, most_zone_hours},
       {"zone's minute", zero.zone_minute, 0, 59}}};
  for (const auto& [name, value, low, high] : parts) {
    if (value < low || value > high) return fmt::format("the {} {}, expected {} to {}", name, value, low, high);
  }
  const bool is_left_out = zero.year == 1582 && zero.month == 10 && zero.day > 4 && zero.day < 15;
  return is_left_out ? "a day that the calendar leaves out, expected none from 1582-10-05 to 1582-10-14" : "";
}

void check_time_units(const Settings& settings, const std::string& units) {
  constexpr std::string_view between = " since ";
  if (units.empty()) return;
  const std::size_t place = units.find(between);
  const std::string_view all = units;
  const bool has_unit = place != std::string::npos && is_unit_of_time(all.substr(0, place));
  const std::optional<ZeroOfTime> zero = has_unit ? zero_of_time(all.substr(place + between.size())) : std::nullopt;
  if (!zero) {
    settings.fail("time_units", fmt::format("found '{}', expected a unit and the time of its zero, as `seconds since "
                                            "2000-01-01 12:00:00`; leave it out if the times have none",
                                            units));
  }
  const std::string wrong = wrong_in(*zero);
  if (wrong.empty()) return;
  settings.fail(
      "time_units",
      fmt::format("found '{}', which has {}, since the calendar is `standard`; correct it, or leave it out if "
                  "the times have no zero",
                  units, wrong));
}

}  // namespace sidestream
