#include "conventions.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <locale>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace sidestream::adios2_engine {

namespace {

constexpr std::string_view base_path = "/data/";

using Attributes = std::map<std::string, adios2::Params>;

/// An attribute's numbers, with all their digits; empty if there is none.
std::vector<double> numbers(adios2::IO& io, const std::string& type, const std::string& name) {
  if (type == "double") return io.InquireAttribute<double>(name).Data();
  std::vector<double> values;
  if (type == "float") {
    for (const float x : io.InquireAttribute<float>(name).Data()) values.push_back(static_cast<double>(x));
  } else if (type == "long double") {
    for (const long double x : io.InquireAttribute<long double>(name).Data()) values.push_back(static_cast<double>(x));
  }
  return values;
}

std::vector<double> numbers(adios2::IO& io, const Attributes& all, const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? std::vector<double>() : numbers(io, found->second.at("Type"), name);
}

/// The last iteration with a time, of those with a number.
std::string last_iteration(adios2::IO& io) {
  std::string last;
  std::uint64_t most = 0;
  for (const auto& [name, about] : io.AvailableAttributes()) {
    const std::string iteration = iteration_of(name);
    if (iteration.empty() || name != iteration + "time") continue;
    std::uint64_t number = 0;
    const char* const digits = iteration.data() + base_path.size();
    static_cast<void>(std::from_chars(digits, iteration.data() + iteration.size(), number));
    if (last.empty() || number >= most) last = iteration;
    most = std::max(most, number);
  }
  return last;
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

/// Rules for the arrays of an image: on one mesh for values in cells, on another one for values at points, around which
/// cells lie. The fastest axis of an array is x.
void add_image(const std::vector<double>& origin, const std::vector<double>& spacing,
               const std::vector<std::pair<std::string, bool>>& arrays, arrays::Mapping& mapping) {
  for (const auto& [name, at_points] : arrays) {
    arrays::ArrayRule rule;
    rule.pattern = name;
    rule.exact = true;
    rule.mesh = at_points ? "image_points" : "image";
    mapping.arrays.push_back(rule);
    arrays::MeshRule& mesh = mapping.meshes[rule.mesh];
    mesh.spacing = spacing;
    mesh.origin = origin;
    mesh.origin.resize(3, 0);
    for (std::size_t a = 0; a < 3 && at_points; ++a) mesh.origin[a] -= a < spacing.size() ? spacing[a] / 2 : 0.5;
  }
}

/// The attributes of Fides for uniform meshes.
void add_fides(adios2::IO& io, const Attributes& all, arrays::Mapping& mapping) {
  const std::vector<std::string> model = texts(io, all, "Fides_Data_Model");
  if (model.empty() || model.front() != "uniform") return;
  const std::vector<std::string> names = texts(io, all, "Fides_Variable_List");
  const std::vector<std::string> places = texts(io, all, "Fides_Variable_Associations");
  std::vector<std::pair<std::string, bool>> arrays;
  for (std::size_t n = 0; n < std::min(names.size(), places.size()); ++n) {
    arrays.emplace_back(names[n], places[n] == "points");
  }
  add_image(numbers(io, all, "Fides_Origin"), numbers(io, all, "Fides_Spacing"), arrays, mapping);
}

/// The text from `begin` to the next `end`, behind `at`, which moves there; nothing if it is not there.
std::optional<std::string> between(const std::string& text, const std::string& begin, const std::string& end,
                                   std::size_t& at) {
  const std::size_t from = text.find(begin, at), to = text.find(end, from + begin.size());
  if (from == std::string::npos || to == std::string::npos) return std::nullopt;
  at = to;
  return text.substr(from + begin.size(), to - from - begin.size());
}

std::string vtk_text(adios2::IO& io, const Attributes& all) {
  const std::vector<std::string> given = texts(io, all, "vtk.xml");
  const bool image = !given.empty() && given.front().find("<ImageData") != std::string::npos;
  return image ? given.front() : std::string();
}

std::vector<double> three_numbers(const std::string& text, const std::string& name) {
  std::size_t at = 0;
  std::istringstream words(between(text, name + "=\"", "\"", at).value_or(""));
  words.imbue(std::locale::classic());
  std::vector<double> all;
  for (double x = 0; all.size() < 3 && words >> x;) all.push_back(x);
  return all;
}

/// VTK's description of an image, whose arrays are ADIOS2's.
void add_vtk(const std::string& text, arrays::Mapping& mapping) {
  std::vector<std::pair<std::string, bool>> arrays;
  for (const char* const place : {"CellData", "PointData"}) {
    std::size_t at = 0;
    const std::string part = between(text, std::string("<") + place, std::string("</") + place, at).value_or("");
    for (std::size_t in = 0; const auto name = between(part, "<DataArray Name=\"", "\"", in);) {
      if (*name != "TIME") arrays.emplace_back(*name, *place == 'P');
    }
  }
  add_image(three_numbers(text, "Origin"), three_numbers(text, "Spacing"), arrays, mapping);
}

}  // namespace

std::string time_name(adios2::IO& io) {
  const std::string text = vtk_text(io, io.AvailableAttributes());
  std::size_t at = text.find("\"TIME\"");
  std::string name;
  if (at != std::string::npos) std::istringstream(between(text, ">", "<", at).value_or("")) >> name;
  return name.empty() ? "time" : name;
}

std::string iteration_of(const std::string& name) {
  if (name.compare(0, base_path.size(), base_path) != 0) return {};
  const std::size_t end = name.find_first_not_of("0123456789", base_path.size());
  if (end == base_path.size() || end == std::string::npos || name[end] != '/') return std::string(base_path);
  return name.substr(0, end + 1);
}

std::string plain_name(const std::string& name) {
  const std::string iteration = iteration_of(name);
  return iteration.empty() ? name : std::string(base_path) + name.substr(iteration.size());
}

std::optional<double> openpmd_time(adios2::IO& io, const std::string& iteration) {
  if (io.AttributeType("openPMD").empty() && io.AttributeType("/openPMD").empty()) return std::nullopt;
  const std::string of = iteration.empty() ? last_iteration(io) : iteration;
  const auto number = [&](const char* name, double otherwise) {
    const std::vector<double> found = numbers(io, io.AttributeType(of + name), of + name);
    return found.empty() ? otherwise : found.front();
  };
  const double time = number("time", std::nan("")) * number("timeUnitSI", 1);
  return std::isfinite(time) ? std::optional(time) : std::nullopt;
}

arrays::Mapping conventions(adios2::IO& io, const std::set<std::string>& names) {
  arrays::Mapping mapping;
  const Attributes all = io.AvailableAttributes();
  if (all.count("openPMD") == 0 && all.count("/openPMD") == 0) {  // the latter by openPMD-api
    add_fides(io, all, mapping);
    if (mapping.arrays.empty()) add_vtk(vtk_text(io, all), mapping);
    return mapping;
  }
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
