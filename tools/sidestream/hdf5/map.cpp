// Drafts a mapping: which files count, what ends an iteration, which datasets become which variables.
#include <fmt/format.h>

#include <algorithm>

#include "commands.hpp"
#include "hdf5/points.hpp"
#include "hdf5/records.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

constexpr const char* number_place = "{cycle}";
constexpr std::int64_t most_components = 9;

/// The names in which a run of digits is replaced, each once for each run.
std::vector<std::string> general_names(const std::string& name) {
  std::vector<std::string> all;
  for (std::size_t n = 0; n < name.size(); ++n) {
    if (!is_digit(name[n])) continue;
    const std::size_t first = n;
    while (n < name.size() && is_digit(name[n])) ++n;
    all.push_back(name.substr(0, first) + number_place + name.substr(n));
  }
  return all;
}

/// The general name that most names have; empty if fewer than two have it.
std::string series_of(const std::vector<std::string>& names) {
  std::map<std::string, int> counted;
  for (const std::string& name : names) {
    for (const std::string& general : general_names(name)) ++counted[general];
  }
  const auto most = std::max_element(counted.begin(), counted.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counted.end() || most->second < 2 ? "" : most->first;
}

bool belongs(const std::string& name, const std::string& general) {
  const std::vector<std::string> all = general_names(name);
  return name == general || std::find(all.begin(), all.end(), general) != all.end();
}

/// The draft's steps, and the datasets by their general names.
struct Steps {
  std::string pattern, kind, why, path;
  std::map<std::string, RecordedDataset> datasets;
};

/// The pattern of paths that have a number in the same component: `/step{cycle}/*`.
std::string path_pattern(const std::string& general) {
  const std::size_t behind = general.find('/', general.find(number_place));
  if (behind != std::string::npos) return general.substr(0, behind) + "/*";
  return "*" + general.substr(general.find(number_place));
}

std::string pattern_of_one(const HdfRecords& records, bool endless) {
  std::map<std::string, int> counted;
  for (const auto& [path, set] : records.datasets) {
    for (const std::string& file : set.files) counted[file] += !endless || set.endless ? 1 : 0;
  }
  return std::max_element(counted.begin(), counted.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

Steps steps_of(const HdfRecords& records) {
  Steps steps;
  const auto grows = [](const auto& set) {
    return set.second.endless && (set.second.single_indices || adds_points(set.second));
  };
  std::vector<std::string> paths;
  for (const auto& [path, set] : records.datasets) paths.push_back(path);
  if (steps.pattern = series_of(records.files); !steps.pattern.empty()) {
    steps.kind = "file";
    steps.why = "an iteration ends when a file of the series is closed";
  } else if (std::any_of(records.datasets.begin(), records.datasets.end(), grows)) {
    steps.kind = "index";
    steps.why = "an iteration ends at a new index of the datasets that grow, or where points are added again";
    steps.pattern = pattern_of_one(records, true);
  } else if (const std::string general = series_of(paths); !general.empty()) {
    steps.kind = "path";
    steps.why = "an iteration ends when datasets with another number come";
    steps.pattern = pattern_of_one(records, false);
    steps.path = path_pattern(general);
  } else {
    steps.kind = "file";
    steps.why = "an iteration ends when the file is closed";
    steps.pattern = pattern_of_one(records, false);
  }
  for (const auto& [path, set] : records.datasets) {
    const bool in_files = std::any_of(set.files.begin(), set.files.end(),
                                      [&](const std::string& file) { return belongs(file, steps.pattern); });
    if (!in_files) continue;
    std::string name = path;
    for (const std::string& general : general_names(path)) {
      if (steps.kind == "path" && path_pattern(general) == steps.path) name = general;
    }
    RecordedDataset& general = steps.datasets[name];
    const std::int64_t before = general.writes;
    const std::string why = general.why;
    general = set;
    general.writes += before;
    if (general.why.empty()) general.why = why;
  }
  return steps;
}

/// A dataset's axes without the one of steps.
std::vector<std::int64_t> shape_of(const RecordedDataset& set, const Steps& steps) {
  std::vector<std::int64_t> shape = set.size;
  if (steps.kind == "index" && set.endless && !adds_points(set) && !shape.empty()) shape.erase(shape.begin());
  return shape;
}

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t n : shape) count *= n;
  return count;
}

std::string times(const std::vector<std::int64_t>& shape) { return fmt::format("{}", fmt::join(shape, " x ")); }

std::string plain_name(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  for (char& c : name) {
    if (!is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) c = '_';
  }
  return name.empty() || is_digit(name.front()) ? "array_" + name : name;
}

/// The meshes and arrays of a draft.
class Draft {
 public:
  explicit Draft(const Steps& steps) : steps_(steps) {
    for (const FoundPoints& points : find_points(steps.datasets, steps.kind == "index")) add_points(points);
    for (const auto& [name, set] : steps.datasets) {
      if (of_points_.count(name) > 0) continue;
      const std::vector<std::int64_t> shape = shape_of(set, steps);
      if (set.why.empty() && shape.size() <= 3) shapes_.insert(shape);
      most_axes_ = std::max(most_axes_, set.why.empty() ? std::min<std::size_t>(shape.size(), 3) : 0);
    }
  }

  void add(const std::string& name, const RecordedDataset& set) {
    if (of_points_.count(name) > 0) return;
    std::vector<std::int64_t> shape = shape_of(set, steps_);
    if (!set.why.empty()) {
      arrays_ += fmt::format("  # \"{}\": cannot be published: {}\n", name, set.why);
      return;
    }
    if (set.boxes.empty() || count_of(shape) == 1) {
      if (time_.empty() && count_of(shape) == 1 && lower(plain_name(name)).find("time") != std::string::npos)
        time_ = name;
      return;
    }
    const std::string found = found_in(set);
    const bool vector = has_components(shape);
    if (vector) shape.pop_back();
    if (shape.empty() || shape.size() > 3) {
      arrays_ += fmt::format("  # \"{}\": has too many axes: {}\n", name, found);
      return;
    }
    // Axes, counters and the like have fewer axes than fields.
    const bool field = shape.size() == most_axes_;
    const std::string mesh = field ? mesh_for(shape) : "";
    arrays_ += fmt::format("  {}\"{}\": {{mesh: {}, variable: {}{}}}  # {}\n", field ? "" : "# ", name,
                           field ? mesh : "NAME", variable_for(name), vector ? ", components: last" : "", found);
  }

  [[nodiscard]] std::string text(const HdfRecords& records) const {
    std::string text = fmt::format(
        "# Drafted by `sidestream hdf5-map` from {} file(s) that {} process(es) wrote. Lines with # are no rules.\n"
        "files:\n  pattern: \"{}\"  # of names, without folders\n  steps: {}  # {}\n",
        records.files.size(), records.processes, steps_.pattern, steps_.kind, steps_.why);
    if (!steps_.path.empty()) text += fmt::format("  path: \"{}\"  # the number is the cycle\n", steps_.path);
    text += time_.empty()
                ? "  # time: /PATH  a dataset with one number in each step; without it the cycle is the time\n"
                : fmt::format("  time: \"{}\"\n", time_);
    text += "  write: both  # or only: the arrays below are published and not written\n";
    text += "meshes:  # the lower corner and the distances of nodes along x, y, z: the fastest axis is x\n" + meshes_;
    return text + "arrays:\n" + arrays_;
  }

  [[nodiscard]] bool is_empty() const { return meshes_.empty(); }

 private:
  static std::string found_in(const RecordedDataset& set) {
    const bool converted = !set.stored.empty() && set.stored != set.type;
    return fmt::format("{}{}, {} in the file, {} writes{}", set.type,
                       converted ? fmt::format(" (in the file {})", set.stored) : "", times(set.size), set.writes,
                       set.most_boxes > 1 ? fmt::format(" of up to {} boxes", set.most_boxes) : "");
  }

  /// Adds a mesh of points. Its coordinates need no rules.
  void add_points(const FoundPoints& points) {
    const std::string name = meshes_.empty() ? "points" : fmt::format("points_{}", ++point_meshes_);
    std::string places;
    for (const std::string& one : points.coordinates) places += (places.empty() ? "\"" : ", \"") + one + '"';
    meshes_ += fmt::format("  {}: {{type: points{}{}}}  # {} points{}\n", name,
                           places.empty() ? "" : fmt::format(", coordinates: [{}]", places),
                           points.grows ? ", grows: yes" : "", points.count,
                           points.grows ? " in all steps: each adds its own" : "");
    of_points_.insert(points.coordinates.begin(), points.coordinates.end());
    for (const std::string& array : points.arrays) {
      const RecordedDataset& set = steps_.datasets.at(array);
      of_points_.insert(array);
      arrays_ += fmt::format("  \"{}\": {{mesh: {}, variable: {}{}}}  # {}\n", array, name, variable_for(array),
                             set.size.size() > 1 ? ", components: last" : "", found_in(set));
    }
  }

  static std::string lower(std::string text) {
    for (char& c : text) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
  }

  /// The last axis counts components if it is short, and the others match another array or are too many.
  [[nodiscard]] bool has_components(std::vector<std::int64_t> shape) const {
    if (shape.size() < 2 || shape.back() > most_components) return false;
    shape.pop_back();
    return shape.size() == 3 || shapes_.count(shape) > 0;
  }

  std::string mesh_for(const std::vector<std::int64_t>& shape) {
    auto found = mesh_names_.find(shape);
    if (found == mesh_names_.end()) {
      const std::string name = mesh_names_.empty() ? "grid" : fmt::format("grid_{}", mesh_names_.size() + 1);
      found = mesh_names_.emplace(shape, name).first;
      const std::vector<int> zeros(shape.size(), 0), ones(shape.size(), 1);
      meshes_ += fmt::format("  {}: {{origin: [{}], spacing: [{}]}}  # {} cells (x, y, z)\n", name,
                             fmt::join(zeros, ", "), fmt::join(ones, ", "), times({shape.rbegin(), shape.rend()}));
    }
    return found->second;
  }

  std::string variable_for(const std::string& path) {
    std::string name = plain_name(path);
    for (int n = 2; !variables_.insert(name).second; ++n) name = fmt::format("{}_{}", plain_name(path), n);
    return name;
  }

  const Steps& steps_;
  std::set<std::vector<std::int64_t>> shapes_;
  std::map<std::vector<std::int64_t>, std::string> mesh_names_;
  std::set<std::string> variables_;
  std::set<std::string> of_points_;  ///< datasets that meshes of points have
  int point_meshes_ = 1;
  std::size_t most_axes_ = 0;
  std::string meshes_, arrays_, time_;
};

}  // namespace

Answer draft_hdf5_map(const std::string& folder) {
  const HdfRecords records = read_records(folder);
  const Steps steps = steps_of(records);
  Draft draft(steps);
  for (const auto& [name, set] : steps.datasets) draft.add(name, set);
  return {draft.text(records), draft.is_empty() ? 1 : 0};
}

}  // namespace sidestream
