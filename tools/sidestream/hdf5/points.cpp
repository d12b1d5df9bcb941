#include "hdf5/points.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sidestream {

namespace {

using Datasets = std::map<std::string, RecordedDataset>;

constexpr std::int64_t most_columns = 9;

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool is_named_position(const std::string& path) {
  const std::string text = lower(path);
  return text.find("pos") != std::string::npos || text.find("coord") != std::string::npos;
}

/// The name up to the letter of an axis: `/x`, `/gas/position/x`, `/gas.x`, `/pos_x`. Empty: it ends with none.
std::string stem_of(const std::string& path, char axis) {
  if (path.size() < 2 || lower(path).back() != axis) return "";
  const std::string stem = path.substr(0, path.size() - 1);
  const bool apart = stem.back() == '/' || stem.back() == '.';
  return apart || (stem.back() == '_' && is_named_position(stem)) ? stem : "";
}

/// A list: one value for each point, or a row of columns.
bool is_list(const RecordedDataset& set) {
  return set.why.empty() && !set.boxes.empty() &&
         (set.size.size() == 1 || (set.size.size() == 2 && set.size[1] > 1 && set.size[1] <= most_columns)) &&
         set.size[0] > 1;
}

/// Lengths of the axes of fields: datasets of that length tell where their cells are.
std::set<std::int64_t> lengths_of_fields(const Datasets& datasets) {
  std::set<std::int64_t> lengths;
  for (const auto& [name, set] : datasets) {
    if (set.why.empty() && set.size.size() > 1 && !is_list(set)) lengths.insert(set.size.begin(), set.size.end());
  }
  return lengths;
}

/// The dataset of a stem and an axis, if it is a list of as many points.
std::string axis_of(const Datasets& datasets, const std::string& stem, char axis, std::int64_t count) {
  for (const char letter : {axis, static_cast<char>(axis - 'a' + 'A')}) {
    const auto found = datasets.find(stem + letter);
    if (found == datasets.end() || !is_list(found->second) || found->second.size != std::vector{count}) continue;
    return found->first;
  }
  return "";
}

/// The coordinates that begin with a dataset; empty: none do.
std::vector<std::string> coordinates_from(const Datasets& datasets, const std::string& name,
                                          const RecordedDataset& set) {
  if (set.size.size() == 2)
    return set.size[1] <= 3 && is_named_position(name) ? std::vector{name} : std::vector<std::string>{};
  const std::string stem = stem_of(name, 'x');
  std::vector<std::string> found{name};
  for (const char axis : {'y', 'z'}) {
    const std::string next = stem.empty() ? "" : axis_of(datasets, stem, axis, set.size[0]);
    if (next.empty()) break;
    found.push_back(next);
  }
  return found.size() > 1 ? found : std::vector<std::string>{};
}

std::size_t common(const std::string& a, const std::string& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

/// The mesh of a list: of those with as many points, the one whose coordinates have the most similar name.
FoundPoints* mesh_of(std::vector<FoundPoints>& meshes, const std::string& name, const RecordedDataset& set,
                     bool grows) {
  FoundPoints* best = nullptr;
  for (FoundPoints& mesh : meshes) {
    if (mesh.count != set.size[0] || mesh.grows != grows) continue;
    const auto rank = [&](const FoundPoints& one) {
      return one.coordinates.empty() ? 0 : common(name, one.coordinates.front()) + 1;
    };
    if (best == nullptr || rank(mesh) > rank(*best)) best = &mesh;
  }
  return best;
}

}  // namespace

bool adds_points(const RecordedDataset& set) { return set.endless && set.grows && !set.single_indices; }

std::vector<FoundPoints> find_points(const Datasets& datasets, bool by_index) {
  const std::set<std::int64_t> taken = lengths_of_fields(datasets);
  const auto counts = [&](const RecordedDataset& set) {
    const bool steps = by_index && set.endless && !adds_points(set);  // the first axis counts steps
    return is_list(set) && !steps && taken.count(set.size[0]) == 0;
  };
  const auto grows = [&](const RecordedDataset& set) { return by_index && adds_points(set); };
  std::vector<FoundPoints> meshes;
  std::set<std::string> used;
  const auto has_named = [&](const RecordedDataset& set) {
    return std::any_of(meshes.begin(), meshes.end(), [&](const FoundPoints& mesh) {
      return mesh.count == set.size[0] && is_named_position(mesh.coordinates.front());
    });
  };
  for (const bool named : {true, false}) {  // what is named so comes first: momenta also have x and y
    for (const auto& [name, set] : datasets) {
      if (!counts(set) || is_named_position(name) != named) continue;
      if (!named && has_named(set)) continue;
      const std::vector<std::string> found = coordinates_from(datasets, name, set);
      if (found.empty()) continue;
      meshes.push_back({found, set.size[0], grows(set)});
      used.insert(found.begin(), found.end());
    }
  }
  for (const auto& [name, set] : datasets) {
    if (!counts(set) || used.count(name) > 0) continue;
    FoundPoints* mesh = mesh_of(meshes, name, set, grows(set));
    if (mesh == nullptr && grows(set)) mesh = &meshes.emplace_back(FoundPoints{{}, set.size[0], true});
    if (mesh != nullptr) mesh->arrays.push_back(name);
  }
  return meshes;
}

}  // namespace sidestream
