#include "config/options/option_text.hpp"

#include <fmt/format.h>

#include "config/options/byte_size.hpp"
#include "config/options/names.hpp"
#include "config/options/path_option.hpp"

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

}  // namespace sidestream
