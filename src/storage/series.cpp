#include "storage/series.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "storage/formats/vtk_xml.hpp"
#include "storage/output_file.hpp"
#include "storage/replace_file.hpp"

namespace sidestream {

namespace fs = std::filesystem;

namespace {

bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

/// `part` without the fields that differ between iterations and without separators left hanging where they
/// were.
std::string without_fields(const std::string& part) {
  std::string out;
  for (std::size_t n = 0; n < part.size(); ++n) {
    if (part[n] != '{' || part.compare(n, 2, "{{") == 0 || part.compare(n, 7, "{server") == 0) {
      out += part[n];
      if (part[n] == '{' && part.compare(n, 2, "{{") == 0) out += part[++n];
      continue;
    }
    while (!out.empty() && is_separator(out.back())) out.pop_back();
    n = std::min(part.find('}', n), part.size());
    // A name that began with the field loses the separator after it as well.
    while (out.empty() && n + 1 < part.size() && is_separator(part[n + 1])) ++n;
  }
  return out;
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 32) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string ending_of(const std::string& pattern) { return fs::path(pattern).extension().string(); }

}  // namespace

std::string series_stem(const std::string& pattern) {
  const fs::path whole(pattern);
  fs::path kept;
  std::string name;
  bool varies = false;
  for (const fs::path& part : whole.parent_path() / whole.stem()) {
    const std::string text = part.string(), constant = without_fields(text);
    varies = varies || constant != text;
    if (!varies) {
      // The last part without a field is the name itself unless a later part follows; joined below.
      kept /= part;
      continue;
    }
    if (!name.empty() && !constant.empty()) name += '-';
    name += constant;
  }
  if (!varies) return kept.string();
  return (kept / (name.empty() ? "series" : name)).string();
}

Series::Series(std::shared_ptr<const OutputDirectory> directory, std::string pattern)
    : directory_(std::move(directory)), pattern_(std::move(pattern)), ending_(ending_of(pattern_)) {
  constexpr std::array vtk_endings{".vtp", ".vti", ".vtr", ".pvti", ".pvtr"};
  const std::string stem = directory_->path(series_stem(pattern_), {}, 0);
  json_path_ = stem + ending_ + ".series";
  if (std::find(vtk_endings.begin(), vtk_endings.end(), ending_) != vtk_endings.end()) pvd_path_ = stem + ".pvd";
}

void Series::resume(std::int64_t cycle) {
  if (!fs::exists(json_path_)) return;
  const std::string text = read_file(json_path_);
  try {
    // JSON is a subset of YAML.
    for (const auto& file : YAML::Load(text)["files"]) {
      Entry entry;
      entry.name = file["name"].as<std::string>();
      entry.iteration.time = file["time"].as<double>();
      entry.iteration.cycle = file["cycle"].as<std::int64_t>();
      entry.iteration.index = file["iteration"].as<std::int64_t>();
      entry.earlier = true;
      if (entry.iteration.cycle < cycle) put(std::move(entry));
    }
  } catch (const YAML::Exception& error) {
    fail(Code::file,
         "'{}', which this run should continue, is not an index that Sidestream wrote (line {}: {}); move it "
         "away or "
         "choose another file name",
         json_path_, error.mark.line + 1, error.msg);
  }
}

void Series::check(const Iteration& iteration, const std::string& path) {
  const auto found = by_name_.find(relative(path));
  if (found == by_name_.end()) return;
  const Entry& entry = entries_[found->second];
  if (entry.earlier) {
    fail(Code::file,
         "'{}' holds cycle {} of the run that is resumed; cycle {} must not overwrite it: use {{cycle}} in "
         "the file name "
         "'{}'",
         path, entry.iteration.cycle, iteration.cycle, pattern_);
  }
  if (entry.iteration.index == iteration.index) {
    fail(Code::configuration, "two results of iteration {} go to '{}'; give the analyses different file names",
         iteration.index, path);
  }
  if (!warned_) {
    log::warning("'{}' is overwritten: iterations {} and {} both are cycle {}; use {{index}} in the file name '{}'",
                 path, entry.iteration.index, iteration.index, iteration.cycle, pattern_);
  }
  warned_ = true;
}

void Series::add(const Iteration& iteration, const std::string& path) {
  put({iteration, relative(path), false});
  replace_file(*directory_, json_path_, as_json());
  if (!pvd_path_.empty()) replace_file(*directory_, pvd_path_, as_pvd());
}

std::string Series::relative(const std::string& path) const {
  return fs::path(path).lexically_relative(fs::path(json_path_).parent_path()).generic_string();
}

void Series::put(Entry entry) {
  const auto [place, is_new] = by_name_.try_emplace(entry.name, entries_.size());
  if (is_new) {
    entries_.push_back(std::move(entry));
  } else {
    entries_[place->second] = std::move(entry);
  }
}

std::string Series::as_json() const {
  std::string text = "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [";
  const char* separator = "\n";
  for (const Entry& entry : entries_) {
    const auto& [index, cycle, time] = entry.iteration;
    text += fmt::format("{}    {{\"name\": {}, \"time\": {}, \"cycle\": {}, \"iteration\": {}}}", separator,
                        json_text(entry.name), time, cycle, index);
    separator = ",\n";
  }
  return text + "\n  ]\n}\n";
}

std::string Series::as_pvd() const {
  std::string text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n";
  for (const Entry& entry : entries_) {
    text += fmt::format("<DataSet timestep=\"{}\" file=\"{}\"/>\n", entry.iteration.time, xml_escaped(entry.name));
  }
  return text + "</Collection>\n</VTKFile>\n";
}

Series& SeriesSet::of(const std::string& pattern, std::int64_t first_cycle) {
  const std::string key = series_stem(pattern) + ending_of(pattern);
  if (const auto found = by_stem_.find(key); found != by_stem_.end()) {
    if (found->second.pattern() == pattern) return found->second;
    fail(Code::configuration,
         "the files '{}' and '{}' would share the index '{}.series'; give them names that differ in more "
         "than the "
         "iteration",
         found->second.pattern(), pattern, key);
  }
  Series series(directory_, pattern);
  if (resume_) series.resume(first_cycle);
  return by_stem_.emplace(key, std::move(series)).first->second;
}

}  // namespace sidestream
