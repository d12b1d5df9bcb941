#include "mapping.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sidestream/error.hpp>
#include <sidestream/kit/base/names.hpp>
#include <string_view>

namespace sidestream::arrays {

namespace {

using Json = nlohmann::json;

/// True if the pattern fits the whole name. Goes back to the last `*` where it fails.
bool fits(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, after = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*') {
      ++p, ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++after;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// A node of the file, and its place for messages.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void fail(const YAML::Node& node, const std::string& what) const {
    const int line = node.Mark().line;
    throw Error(Code::configuration, file_ + (line < 0 ? "" : ", line " + std::to_string(line + 1)) + ": " + what);
  }
  /// Calls `entry(key, value)` for each entry of a map. `keys` says which there are.
  template <class Entry>
  void each(const YAML::Node& node, const std::string& what, const Entry& entry, const std::string& keys = "") const {
    if (!node.IsMap()) fail(node, "found no map, expected " + what);
    for (const auto& pair : node) {
      const auto key = pair.first.as<std::string>();
      if (!entry(key, pair.second)) fail(pair.first, "found '" + key + "', expected one of " + keys);
    }
  }
  template <class T>
  void read(const YAML::Node& node, T& value, const char* expected) const {
    try {
      value = node.as<T>();
    } catch (const YAML::Exception&) {
      fail(node, std::string("found something else, expected ") + expected);
    }
  }
  void read_numbers(const YAML::Node& node, bool positive, std::vector<double>& numbers) const {
    std::vector<std::string> words;
    read(node, words, "a list of numbers, [x, y, z]");
    for (const std::string& word : words) {  // whatever the program's locale
      double number = 0;
      const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (code != std::errc() || end != word.data() + word.size())
        fail(node, "found '" + word + "', expected a number");
      numbers.push_back(number);
    }
    const bool good =
        std::all_of(numbers.begin(), numbers.end(), [&](double x) { return std::isfinite(x) && (!positive || x > 0); });
    if (!good || numbers.empty() || numbers.size() > 3) {
      fail(node, positive ? "expected one to three positive numbers" : "expected one to three finite numbers");
    }
  }

 private:
  std::string file_;
};

MeshRule read_mesh(const Reader& reader, const YAML::Node& node) {
  MeshRule rule;
  const auto entry = [&](const std::string& key, const YAML::Node& value) {
    if (key == "type") {
      std::string type;
      reader.read(value, type, "uniform or points");
      if (type != "uniform" && type != "points") reader.fail(value, "found '" + type + "', expected uniform or points");
      rule.points = type == "points";
    } else if (key == "origin") {
      reader.read_numbers(value, false, rule.origin);
    } else if (key == "spacing") {
      reader.read_numbers(value, true, rule.spacing);
    } else if (key == "axes") {
      reader.read(value, rule.axes, "names of axes, the slowest first: [z, y, x]");
    } else if (key == "coordinates") {
      reader.read(value, rule.coordinates, "names of arrays: [x, y, z]");
    } else if (key == "grows") {
      reader.read(value, rule.grows, "yes or no");
    } else {
      return false;
    }
    return true;
  };
  reader.each(node, "the geometry of a mesh", entry, "type, origin, spacing, axes, coordinates, grows");
  if (rule.points && !(rule.origin.empty() && rule.spacing.empty() && rule.axes.empty())) {
    reader.fail(node, "found origin, spacing or axes for a mesh of points, expected only coordinates");
  }
  if (!rule.points && (rule.grows || !rule.coordinates.empty())) {
    reader.fail(node,
                std::string("found ") + (rule.grows ? "grows" : "coordinates") + ", expected `type: points` then");
  }
  if (rule.coordinates.size() > 3) reader.fail(node, "found more than three coordinates");
  return rule;
}

ArrayRule read_array(const Reader& reader, const std::string& pattern, const YAML::Node& node) {
  ArrayRule rule;
  rule.pattern = pattern;
  const auto entry = [&](const std::string& key, const YAML::Node& value) {
    if (key == "mesh") {
      reader.read(value, rule.mesh, "the name of a mesh");
    } else if (key == "variable") {
      reader.read(value, rule.variable, "a name");
    } else if (key == "unit") {
      reader.read(value, rule.unit, "a text");
    } else if (key == "components") {
      std::string axis;
      reader.read(value, axis, "last");
      if (axis != "last") reader.fail(value, "found '" + axis + "', expected last: the axis that counts components");
      rule.components = true;
    } else if (key == "leave_out") {
      reader.read(value, rule.leave_out, "true or false");
    } else {
      return false;
    }
    return true;
  };
  reader.each(node, "the use of an array", entry, "mesh, variable, unit, components, leave_out");
  return rule;
}

/// Refuses a rule that wants what another one has.
void check_rule(const Reader& reader, const YAML::Node& node, const ArrayRule& rule, const Mapping& mapping) {
  for (const ArrayRule& other : mapping.arrays) {
    if (other.pattern == rule.pattern)
      reader.fail(node, "found '" + rule.pattern + "' twice, expected one rule for it");
    if (rule.variable.empty() || rule.variable != other.variable || rule.leave_out || other.leave_out) continue;
    reader.fail(node, "found the variable '" + rule.variable + "' for '" + rule.pattern + "' and for '" +
                          other.pattern + "', expected another one for each; rename one of them");
  }
}

/// Coordinates lie on their mesh; no rule needs to say so.
void add_coordinates(Mapping& mapping) {
  for (const auto& [mesh, rule] : mapping.meshes) {
    for (const std::string& name : rule.coordinates) {
      if (mapping.find(name) != nullptr) continue;
      ArrayRule& added = mapping.arrays.emplace_back();
      added.pattern = name;
      added.exact = true;
      added.mesh = mesh;
    }
  }
}

}  // namespace

const ArrayRule* Mapping::find(const std::string& name) const {
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const ArrayRule& rule) {
    return rule.exact ? rule.pattern == name : fits(rule.pattern, name);
  });
  return found == arrays.end() ? nullptr : &*found;
}

void Mapping::add(const Mapping& other) {
  meshes.insert(other.meshes.begin(), other.meshes.end());
  arrays.insert(arrays.end(), other.arrays.begin(), other.arrays.end());
}

Mapping read_mapping(const std::string& text, const std::string& file) {
  const Reader reader(file);
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw Error(Code::configuration, file + ", line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
  Mapping mapping;
  const auto section = [&](const std::string& key, const YAML::Node& value) {
    const auto mesh = [&](const std::string& name, const YAML::Node& node) {
      mapping.meshes[name] = read_mesh(reader, node);
      return true;
    };
    const auto array = [&](const std::string& name, const YAML::Node& node) {
      const ArrayRule rule = read_array(reader, name, node);
      check_rule(reader, node, rule, mapping);
      mapping.arrays.push_back(rule);
      const std::string& of = mapping.arrays.back().mesh;
      if (!of.empty() && mapping.meshes.find(of) == mapping.meshes.end()) mapping.meshes[of];
      return true;
    };
    const bool empty = value.IsNull();  // it may have only comments
    if (key == "meshes" && !empty) reader.each(value, "meshes by name", mesh);
    if (key == "arrays" && !empty) reader.each(value, "rules by name of array", array);
    return key == "meshes" || key == "arrays" || key == "files";  // interop/hdf5 reads the last one
  };
  if (!root.IsNull()) reader.each(root, "the sections `meshes` and `arrays`", section, "meshes, arrays");
  add_coordinates(mapping);
  return mapping;
}

std::string some_of(const std::set<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  std::size_t n = 0;
  for (const std::string& name : names) {
    if (n++ == most) break;
    text += (text.empty() ? "'" : ", '") + name + "'";
  }
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text.empty() ? "none" : text;
}

std::vector<std::string> unused(const Mapping& mapping, const std::set<std::string>& arrays, const std::string& file,
                                const Mapping& others) {
  std::vector<std::string> sentences;
  for (const ArrayRule& rule : mapping.arrays) {
    const auto suits = [&](const std::string& name) {
      return rule.exact ? rule.pattern == name : fits(rule.pattern, name);
    };
    if (rule.leave_out || std::any_of(arrays.begin(), arrays.end(), suits)) continue;
    sentences.push_back(
        file + ": the rule for '" + rule.pattern + "' fits nothing that the program has written so far (found " +
        some_of(arrays) + "), expected an array of the first step; " +
        suggestion(rule.pattern, {arrays.begin(), arrays.end()}, "correct the name, or remove the rule"));
  }
  std::set<std::string> named;
  for (const Mapping* const rules : {&mapping, &others}) {
    for (const ArrayRule& rule : rules->arrays) {
      if (!rule.mesh.empty()) named.insert(rule.mesh);
    }
  }
  for (const auto& [mesh, rule] : mapping.meshes) {
    if (named.count(mesh) != 0) continue;
    sentences.push_back(file + ": no rule names the mesh '" + mesh + "', expected one for an array on it (rules name " +
                        some_of(named) + "); correct the names, or remove the mesh");
  }
  return sentences;
}

std::string to_text(const Mapping& mapping) {
  Json meshes = Json::object(), rules = Json::array();
  for (const auto& [name, m] : mapping.meshes) {
    meshes[name] = {m.points, m.origin, m.spacing, m.axes, m.coordinates, m.grows};
  }
  for (const ArrayRule& r : mapping.arrays) {
    rules.push_back({r.pattern, r.exact, r.mesh, r.variable, r.unit, r.components, r.leave_out});
  }
  return Json{meshes, rules}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Mapping from_text(const std::string& text) {
  const Json json = Json::parse(text);
  Mapping mapping;
  for (const auto& [name, m] : json.at(0).items()) {
    mapping.meshes[name] = {m.at(0), m.at(1), m.at(2), m.at(3), m.at(4), m.at(5)};
  }
  for (const Json& r : json.at(1)) {
    mapping.arrays.push_back({r.at(0), r.at(1), r.at(2), r.at(3), r.at(4), r.at(5), r.at(6)});
  }
  return mapping;
}

}  // namespace sidestream::arrays
