#include "config/options/option_text.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "config/options/document.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/numbers.hpp"

namespace sidestream {

namespace {

/// The noun for one or for several values of a type.
std::string noun(const Option& option, bool plural) {
  const char* ending = plural ? "s" : "";
  switch (option.type) {
    case OptionType::boolean:
      return plural ? "values true or false" : "true or false";
    case OptionType::integer:
      return fmt::format("whole number{}", ending);
    case OptionType::real:
      return fmt::format("number{}", ending);
    case OptionType::text:
      return fmt::format("{}{}", is_path(option) ? "path" : "text", ending);
    case OptionType::choice:
      return fmt::format("{} {}", plural ? "values out of" : "one of", listed(option.choices));
    case OptionType::bytes:
      return fmt::format("amount{} of memory", ending);
    case OptionType::file:
      return fmt::format("file name{}", ending);
    case OptionType::variable:
      return fmt::format("variable name{}", ending);
    case OptionType::mesh:
      return fmt::format("mesh name{}", ending);
    case OptionType::map:
      return fmt::format("map{} of options", ending);
    case OptionType::pairs:
      return fmt::format("map{} of names and values", ending);
    case OptionType::one_of:
      return fmt::format("map{} with one key out of {}", ending, listed(names_of(option.options)));
    case OptionType::schedule:
      return fmt::format("schedule{}", ending);
    case OptionType::event:
      return fmt::format("event name{}", ending);
  }
  return {};
}

std::string number_text(const Option& option, double value) {
  return option.type == OptionType::bytes ? format_byte_size(static_cast<std::int64_t>(value))
                                          : fmt::format("{}", value);
}

std::string entry_count(const Option& option) {
  const int least = option.least_entries, most = option.most_entries;
  if (least == most) return fmt::format("{} ", least);
  if (most < 0) return least > 0 ? fmt::format("at least {} ", least) : "";
  return least > 0 ? fmt::format("{} to {} ", least, most) : fmt::format("at most {} ", most);
}

}  // namespace

std::vector<std::string> names_of(const std::vector<Option>& options) {
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(option.name);
  return names;
}

std::string type_text(const Option& option) {
  if (!option.list) return noun(option, false);
  const bool single = option.least_entries == 1 && option.most_entries == 1;
  const bool words = option.type == OptionType::real && !option.choices.empty();
  return fmt::format("list of {}{}{}", entry_count(option), noun(option, !single),
                     words ? fmt::format(", or {}", listed(option.choices)) : "");
}

std::string range_text(const Option& option) {
  if (!option.range_text.empty()) return option.range_text;
  if (option.minimum && option.maximum) {
    return fmt::format("from {} to {}", number_text(option, *option.minimum), number_text(option, *option.maximum));
  }
  if (option.minimum) return fmt::format("at least {}", number_text(option, *option.minimum));
  if (option.maximum) return fmt::format("at most {}", number_text(option, *option.maximum));
  return {};
}

std::string expected_text(const Option& option) {
  const std::string type = type_text(option), range = range_text(option);
  const bool no_article = !option.list && (option.type == OptionType::boolean || option.type == OptionType::choice);
  const bool vowel = !option.list && option.type == OptionType::bytes;
  const char* article = no_article ? "" : vowel ? "an " : "a ";
  const char* each = option.list ? ", each " : " ";
  return fmt::format("{}{}{}{}", article, type, range.empty() ? "" : each, range);
}

namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr double kibi = 1024, kilo = 1000;
constexpr std::array<Unit, 10> units{{{"", 1},
                                      {"B", 1},
                                      {"KiB", kibi},
                                      {"MiB", kibi* kibi},
                                      {"GiB", kibi* kibi* kibi},
                                      {"TiB", kibi* kibi* kibi* kibi},
                                      {"kB", kilo},
                                      {"MB", kilo* kilo},
                                      {"GB", kilo* kilo* kilo},
                                      {"TB", kilo* kilo* kilo* kilo}}};

}  // namespace

std::int64_t parse_byte_size(const std::string& text, const std::string& what, const Location& where) {
  const char* end = text.data() + text.size();
  double amount = 0;
  const auto read = std::from_chars(text.data(), end, amount);
  std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const Unit* known = nullptr;
  for (const Unit& candidate : units) {
    if (candidate.name == unit) known = &candidate;
  }
  if (read.ec != std::errc() || known == nullptr || !std::isfinite(amount) || amount < 0) {
    fail_at(where,
            "found '{}' for {}, expected an amount of memory; write a number, if need be followed by B, KiB, "
            "MiB, GiB, "
            "TiB, kB, MB, GB or TB, such as '64 MiB'",
            text, what);
  }
  constexpr double limit = 9.2e18;  // below 2^63
  const double bytes = std::floor(amount * known->bytes);
  if (bytes > limit) fail_at(where, "found '{}' for {}, which does not fit in 64 bits; write less", text, what);
  return static_cast<std::int64_t>(bytes);
}

std::string format_byte_size(std::int64_t bytes) {
  for (const std::string_view name : {"TiB", "GiB", "MiB", "KiB"}) {
    for (const Unit& unit : units) {
      const auto size = static_cast<std::int64_t>(unit.bytes);
      if (unit.name == name && bytes >= size && bytes % size == 0) return fmt::format("{} {}", bytes / size, name);
    }
  }
  return fmt::format("{} B", bytes);
}

std::string rounded_byte_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> names{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < names.size(); ++unit) amount /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", amount, names[unit]);
}

std::optional<double> parse_seconds(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::optional<double> number = take_real(text);
  std::string unit(text);
  std::erase(unit, ' ');
  const std::map<std::string, double> units{{"ms", 0.001}, {"s", 1}, {"min", 60}, {"h", 3600}};
  const auto found = units.find(unit);
  if (!number || found == units.end() || !(*number > 0) || !std::isfinite(*number)) return std::nullopt;
  return *number * found->second;
}

}  // namespace sidestream
