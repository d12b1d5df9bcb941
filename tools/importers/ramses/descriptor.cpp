#include "importers/ramses/descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "sidestream/kit/base/text.hpp"

namespace sidestream::ramses {

namespace {

constexpr std::size_t most_lines = 100'000;  ///< a longer file is not a descriptor

std::string without_blanks(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(without_blanks(part));
  return parts;
}

/// Replaces the word `to` in a name by `from`; empty if it has no such word.
std::string with_word(const std::string& name, const std::string& from, const std::string& to) {
  std::vector<std::string> words = split(name, '_');
  const auto found = std::find(words.begin(), words.end(), from);
  if (found == words.end()) return {};
  if (to.empty()) {
    words.erase(found);
  } else {
    *found = to;
  }
  std::string made;
  for (const std::string& word : words) made += (made.empty() ? "" : "_") + word;
  return made;
}

std::string plain(const std::string& name) {
  std::string made;
  for (const char c : name) made += is_letter_or_digit(c) ? c : '_';
  return made.empty() ? "unnamed" : made;
}

/// The number of columns from `first` on that are the components of a vector; 1: none.
std::size_t components_from(const std::vector<Column>& columns, std::size_t first) {
  std::size_t count = 1;
  for (const std::string& word : split(columns[first].name, '_')) {
    if (word == "left" || word == "right") return 1;  // relations between faces belong to each face
  }
  for (const char* axis : {"y", "z"}) {
    const std::string next = with_word(columns[first].name, "x", axis);
    if (next.empty() || first + count == columns.size()) break;
    const Column& column = columns[first + count];
    if (column.name != next || column.type != columns[first].type) break;
    ++count;
  }
  return count;
}

std::string numbered(const char* name, std::size_t number) { return fmt::format("{}_{:02}", name, number); }

void add_vector(std::vector<Column>& columns, const std::string& name, int dimensions) {
  for (int a = 0; a < dimensions; ++a) columns.push_back({name + "_" + "xyz"[a], 0});
}

}  // namespace

std::vector<Column> parse_descriptor(const std::string& text) {
  std::vector<Column> columns;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && columns.size() < most_lines;) {
    const std::string kept = without_blanks(line);
    const auto colon = kept.find(':');
    if (kept.rfind("variable", 0) == 0 && colon != std::string::npos) {
      columns.push_back({without_blanks(kept.substr(colon + 1)), 0});
      continue;
    }
    if (kept.empty() || kept.front() == '#') continue;
    const std::vector<std::string> parts = split(kept, ',');
    if (parts.size() == 3 && !parts[1].empty() && parts[2].size() == 1) columns.push_back({parts[1], parts[2].front()});
  }
  return columns;
}

void fit_columns(std::vector<Column>& columns, std::size_t count, const std::string& prefix) {
  while (columns.size() < count) columns.push_back({numbered(prefix.c_str(), columns.size() + 1), 0});
  columns.resize(count);
}

std::vector<Column> hydro_columns(int dimensions, std::size_t count) {
  std::vector<Column> columns{{"density", 0}};
  add_vector(columns, "velocity", dimensions);
  columns.push_back({"pressure", 0});
  for (std::size_t n = 1; columns.size() < count; ++n) columns.push_back({numbered("scalar", n), 0});
  columns.resize(count);
  return columns;
}

std::vector<Column> gravity_columns(int dimensions, std::size_t count) {
  std::vector<Column> columns;
  if (count > static_cast<std::size_t>(dimensions)) columns.push_back({"potential", 0});
  add_vector(columns, "acceleration", dimensions);
  fit_columns(columns, count, "gravity");
  return columns;
}

std::vector<Column> radiation_columns(int dimensions, std::size_t count) {
  std::vector<Column> columns;
  for (std::size_t group = 1; columns.size() < count; ++group) {
    columns.push_back({numbered("photon_density", group), 0});
    add_vector(columns, numbered("photon_flux", group), dimensions);
  }
  columns.resize(count);
  return columns;
}

std::vector<JoinedColumns> join_columns(const std::vector<Column>& columns) {
  std::vector<JoinedColumns> joined;
  std::set<std::string> taken;
  for (const Column& column : columns) taken.insert(plain(column.name));
  std::set<std::string> used;
  for (std::size_t first = 0; first < columns.size();) {
    std::size_t count = components_from(columns, first);
    std::string name = plain(with_word(columns[first].name, "x", ""));
    if (count == 1 || taken.count(name) != 0 || used.count(name) != 0) {
      count = 1;
      name = plain(columns[first].name);
    }
    const std::string wanted = name;
    for (std::size_t n = 2; used.count(name) != 0; ++n) name = numbered(wanted.c_str(), n);
    used.insert(name);
    JoinedColumns& made = joined.emplace_back(JoinedColumns{name, {}});
    for (std::size_t n = 0; n < count; ++n) made.columns.push_back(first + n);
    first += count;
  }
  return joined;
}

}  // namespace sidestream::ramses
