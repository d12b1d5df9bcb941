#include "mapped_files.hpp"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <sidestream/error.hpp>

namespace sidestream::interposed {

namespace {

constexpr std::string_view number_place = "{cycle}";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Compares what is left of a pattern and a name; `done` is what was compared of the name, in general terms.
bool fits(std::string_view pattern, std::string_view name, Fit& fit, std::string done) {
  if (pattern.empty()) {
    fit.general = done;
    return name.empty();
  }
  if (pattern.front() == '*') {
    for (std::size_t n = 0; n <= name.size(); ++n) {
      if (fits(pattern.substr(1), name.substr(n), fit, done + std::string(name.substr(0, n)))) return true;
    }
    return false;
  }
  if (pattern.substr(0, number_place.size()) == number_place) {
    std::size_t n = 0;
    while (n < name.size() && is_digit(name[n])) ++n;
    for (; n > 0; --n) {  // digits may also follow in the pattern
      std::int64_t cycle = 0;
      const auto [end, code] = std::from_chars(name.data(), name.data() + n, cycle);
      if (code != std::errc() || end != name.data() + n) continue;
      Fit rest;
      if (!fits(pattern.substr(number_place.size()), name.substr(n), rest, done + std::string(number_place))) continue;
      fit = rest;
      fit.cycle = cycle;
      return true;
    }
    return false;
  }
  if (name.empty() || (pattern.front() != '?' && pattern.front() != name.front())) return false;
  return fits(pattern.substr(1), name.substr(1), fit, done + name.front());
}

[[noreturn]] void wrong(const std::string& file, const YAML::Node& node, const std::string& what) {
  throw Error(Code::configuration, file + ", line " + std::to_string(node.Mark().line + 1) + ": " + what);
}

void read_entry(const std::string& file, const std::string& key, const YAML::Node& value, MappedFiles& rules) {
  if (!value.IsScalar()) wrong(file, value, "found no text for '" + key + "', expected one");
  const std::string& text = value.Scalar();
  if (key == "pattern") {
    rules.pattern = text;
  } else if (key == "path") {
    rules.path = text;
  } else if (key == "time") {
    rules.time = text;
  } else if (key == "steps") {
    if (text != "file" && text != "index" && text != "path") {
      wrong(file, value, "found '" + text + "', expected file, index or path: what ends an iteration");
    }
    rules.steps = text == "file" ? Steps::file : text == "index" ? Steps::index : Steps::path;
  } else if (key == "write") {
    if (text != "both" && text != "only") {
      wrong(file, value, "found '" + text + "', expected both, or only to publish and not to write");
    }
    rules.only = text == "only";
  } else {
    wrong(file, value, "found '" + key + "', expected pattern, steps, path, time or write");
  }
}

}  // namespace

std::optional<Fit> fit(std::string_view pattern, std::string_view name) {
  Fit found;
  if (!fits(pattern, name, found, "")) return std::nullopt;
  return found;
}

MappedFiles MappedFiles::read(const std::string& text, const std::string& file) {
  MappedFiles rules;
  try {
    const YAML::Node root = YAML::Load(text);
    const YAML::Node section = root.IsMap() ? root["files"] : YAML::Node();
    if (!section) return rules;
    if (!section.IsMap()) wrong(file, section, "found no map, expected the rules for files");
    for (const auto& entry : section) read_entry(file, entry.first.Scalar(), entry.second, rules);
    if ((rules.steps == Steps::path) != (rules.path.find(number_place) != std::string::npos)) {
      wrong(file, section, "expected `path`, with {cycle} for the number, and `steps: path` together");
    }
  } catch (const YAML::Exception& error) {
    throw Error(Code::configuration, file + ", line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
  return rules;
}

}  // namespace sidestream::interposed
