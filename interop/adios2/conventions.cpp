#include "conventions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace sidestream::adios2_engine {

namespace {

using Attributes = std::map<std::string, adios2::Params>;

/// An attribute's numbers, with all their digits; empty if there is none.
std::vector<double> numbers(adios2::IO& io, const Attributes& all, const std::string& name) {
  const auto found = all.find(name);
  if (found == all.end()) return {};
  const std::string& type = found->second.at("Type");
  if (type == "double") return io.InquireAttribute<double>(name).Data();
  std::vector<double> values;
  if (type == "float") {
    for (const float x : io.InquireAttribute<float>(name).Data()) values.push_back(static_cast<double>(x));
  } else if (type == "long double") {
    for (const long double x : io.InquireAttribute<long double>(name).Data()) values.push_back(static_cast<double>(x));
  }
  return values;
}

std::vector<std::string> texts(adios2::IO& io, const Attributes& all, const std::string& name) {
  const auto found = all.find(name);
  if (found == all.end() || found->second.at("Type") != "string") return {};
  return io.InquireAttribute<std::string>(name).Data();
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}
std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The geometry of a mesh record: cells lie around the places of the values, which are at `position` in openPMD's
/// cells. Lists of openPMD are in the order of the labels, which the arrays' axes have, too (`dataOrder` C) or reversed
/// (F).
arrays::MeshRule geometry(adios2::IO& io, const Attributes& all, const std::string& record, const std::string& array,
                          std::string& name) {
  arrays::MeshRule rule;
  const std::vector<double> spacing = numbers(io, all, record + "/gridSpacing");
  std::vector<double> offset = numbers(io, all, record + "/gridGlobalOffset");
  std::vector<double> position = numbers(io, all, array + "/position");
  const std::vector<double> unit = numbers(io, all, record + "/gridUnitSI");
  std::vector<std::string> labels = texts(io, all, record + "/axisLabels");
  offset.resize(spacing.size(), 0);
  position.resize(spacing.size(), 0.5);
  if (labels.size() != spacing.size()) {
    labels.clear();
    for (std::size_t a = spacing.size(); a-- > 0;) labels.emplace_back(1, "xyz"[std::min<std::size_t>(a, 2)]);
  }
  std::vector<std::size_t> order;  // of the labels: x before y
  for (std::size_t a = 0; a < labels.size(); ++a) order.push_back(a);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return labels[a] < labels[b]; });
  const double scale = unit.empty() ? 1 : unit.front();
  for (const std::size_t a : order) {
    rule.spacing.push_back(spacing[a] * scale);
    rule.origin.push_back((offset[a] + (position[a] - 0.5) * spacing[a]) * scale);
    if (!std::isfinite(rule.spacing.back()) || !std::isfinite(rule.origin.back())) {
      rule.spacing.back() = rule.origin.back() = 0;  // no mesh has that, as will be said
    }
    if (position[a] != 0.5) name += "_" + labels[a] + std::to_string(static_cast<int>(position[a] * 100));
  }
  const std::vector<std::string> data_order = texts(io, all, record + "/dataOrder");
  if (!data_order.empty() && data_order.front() == "F") std::reverse(labels.begin(), labels.end());
  rule.axes = labels;
  return rule;
}

/// Adds the rule for a variable of particles: SPECIES/RECORD or SPECIES/RECORD/COMPONENT. Positions make a mesh.
void add_particles(const std::string& variable, std::size_t at, const std::set<std::string>& names,
                   arrays::Mapping& mapping) {
  const std::string below = variable.substr(at);
  const std::string species = below.substr(0, below.find('/'));
  const std::string place = variable.substr(0, at) + species + "/position/";
  arrays::ArrayRule rule;
  rule.pattern = plain_name(variable);
  rule.exact = true;
  rule.mesh = species;
  rule.variable = below;
  mapping.arrays.push_back(rule);
  arrays::MeshRule& mesh = mapping.meshes[species];
  if (mesh.points) return;
  mesh.points = true;
  for (const char* axis : {"x", "y", "z"}) {
    if (names.count(place + axis) != 0) mesh.coordinates.push_back(plain_name(place + axis));
  }
}

}  // namespace

std::string plain_name(const std::string& name) {
  const std::string base = "/data/";
  if (name.compare(0, base.size(), base) != 0) return name;
  const std::size_t end = name.find_first_not_of("0123456789", base.size());
  if (end == base.size() || end == std::string::npos || name[end] != '/') return name;
  return base + name.substr(end + 1);
}

arrays::Mapping conventions(adios2::IO& io, const std::set<std::string>& names) {
  arrays::Mapping mapping;
  const Attributes all = io.AvailableAttributes();
  if (all.count("openPMD") == 0) return mapping;
  for (const std::string& name : names) {
    const std::size_t particles = name.find("/particles/");
    if (name.compare(0, 6, "/data/") == 0 && particles != std::string::npos) {
      add_particles(name, particles + std::string("/particles/").size(), names, mapping);
      continue;
    }
    const bool whole = all.count(name + "/gridSpacing") != 0;  // a record of one component
    const std::string record = whole ? name : parent_of(name);
    if (all.count(record + "/gridSpacing") == 0) continue;
    arrays::ArrayRule rule;
    rule.pattern = plain_name(name);
    rule.exact = true;
    rule.variable = whole ? last_of(name) : last_of(record) + "_" + last_of(name);
    rule.mesh = "fields";
    const std::size_t level = record.find("_lvl");  // levels have a spacing of their own
    if (level != std::string::npos) rule.mesh += record.substr(level);
    const arrays::MeshRule mesh = geometry(io, all, record, name, rule.mesh);
    if (mesh.spacing.size() > 3) continue;
    mapping.meshes.emplace(rule.mesh, mesh);
    mapping.arrays.push_back(rule);
  }
  return mapping;
}

}  // namespace sidestream::adios2_engine
