// Implementation of options.hpp: places and checked values.
#include <utility>

#include "config/options/document.hpp"
#include "sidestream/extend/options.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

std::string Location::text() const {
  if (file.empty()) return {};  // a default, or a value set by a call
  if (line == 0) return file;
  return fmt::format("{}:{}:{}", file, line, column);
}

namespace {

using Content = decltype(Settings::Value::content);

/// The value as T. Throws Error(internal) if the reading code and the declaration disagree.
template <class T>
const T& content_as(const Content& content, std::string_view name, std::string_view wanted) {
  if (const T* value = std::get_if<T>(&content)) return *value;
  if (std::holds_alternative<std::monostate>(content)) {
    fail(Code::internal, "the option '{}' is read as {} but has no value; ask Settings::has first", name, wanted);
  }
  fail(Code::internal, "the option '{}' is read as {}, which is not how it is declared", name, wanted);
}

/// The entries of a list; none if the option has no value.
const Settings::List& list_of(const Content& content, std::string_view name) {
  static const Settings::List none;
  if (std::holds_alternative<std::monostate>(content)) return none;
  return *content_as<std::shared_ptr<Settings::List>>(content, name, "a list");
}

Settings as_map(const Settings::Value& value, std::string_view name) {
  return {content_as<std::shared_ptr<Settings::Map>>(value.content, name, "a map"), value.location};
}

std::pair<std::string, Settings> as_one_of(const Settings::Value& value, std::string_view name) {
  const auto& map = *content_as<std::shared_ptr<Settings::Map>>(value.content, name, "one of several maps");
  if (map.size() != 1) fail(Code::internal, "the option '{}' is read as one_of, which is not how it is declared", name);
  return {map.begin()->first, as_map(map.begin()->second, name)};
}

void check_holds(std::int64_t number, std::int64_t least, std::int64_t most, std::string_view name,
                 const Location& where) {
  if (number >= least && number <= most) return;
  fail_at(where, "found {} for '{}', expected a whole number from {} to {}; change it", number, name, least, most);
}

}  // namespace

const Settings::Value& Settings::value(std::string_view name) const {
  const auto found = values_->find(name);
  if (found == values_->end()) {
    sidestream::fail(Code::internal, "the option '{}' is read but not declared; add it to the options of its kind",
                     name);
  }
  return found->second;
}

bool Settings::has(std::string_view name) const { return !std::holds_alternative<std::monostate>(value(name).content); }

bool Settings::given(std::string_view name) const { return value(name).given; }

bool Settings::boolean(std::string_view name) const { return content_as<bool>(value(name).content, name, "a boolean"); }

std::int64_t Settings::integer_between(std::string_view name, std::int64_t least, std::int64_t most) const {
  const Value& found = value(name);
  const auto number = content_as<std::int64_t>(found.content, name, "an integer");
  check_holds(number, least, most, name, found.given ? found.location : location_);
  return number;
}

double Settings::real(std::string_view name) const { return content_as<double>(value(name).content, name, "a real"); }

const std::string& Settings::text(std::string_view name) const {
  static const std::string none;
  const Content& content = value(name).content;
  if (std::holds_alternative<std::monostate>(content)) return none;
  return content_as<std::string>(content, name, "a text");
}

std::vector<std::int64_t> Settings::integers_between(std::string_view name, std::int64_t least,
                                                     std::int64_t most) const {
  std::vector<std::int64_t> numbers;
  for (const Value& entry : list_of(value(name).content, name)) {
    numbers.push_back(content_as<std::int64_t>(entry.content, name, "a list of integers"));
    check_holds(numbers.back(), least, most, name, entry.location);
  }
  return numbers;
}

std::vector<double> Settings::reals(std::string_view name) const {
  std::vector<double> numbers;
  for (const Value& entry : list_of(value(name).content, name)) {
    numbers.push_back(content_as<double>(entry.content, name, "a list of reals"));
  }
  return numbers;
}

std::vector<std::string> Settings::texts(std::string_view name) const {
  std::vector<std::string> texts;
  for (const Value& entry : list_of(value(name).content, name)) {
    texts.push_back(content_as<std::string>(entry.content, name, "a list of texts"));
  }
  return texts;
}

Settings Settings::map(std::string_view name) const { return as_map(value(name), name); }

std::vector<Settings> Settings::maps(std::string_view name) const {
  std::vector<Settings> maps;
  for (const Value& entry : list_of(value(name).content, name)) maps.push_back(as_map(entry, name));
  return maps;
}

std::map<std::string, std::string> Settings::pairs(std::string_view name) const {
  std::map<std::string, std::string> texts;
  const Content& content = value(name).content;
  if (std::holds_alternative<std::monostate>(content)) return texts;
  for (const auto& [key, one] : *content_as<std::shared_ptr<Map>>(content, name, "pairs of names and texts")) {
    texts[key] = content_as<std::string>(one.content, name, "pairs of names and texts");
  }
  return texts;
}

std::pair<std::string, Settings> Settings::one_of(std::string_view name) const { return as_one_of(value(name), name); }

std::vector<std::pair<std::string, Settings>> Settings::ones_of(std::string_view name) const {
  std::vector<std::pair<std::string, Settings>> entries;
  for (const Value& entry : list_of(value(name).content, name)) entries.push_back(as_one_of(entry, name));
  return entries;
}

Location Settings::where(std::string_view name) const {
  const Value& found = value(name);
  return found.given ? found.location : location_;
}

void Settings::fail(std::string_view name, const std::string& message) const { fail_at(where(name), "{}", message); }

}  // namespace sidestream
