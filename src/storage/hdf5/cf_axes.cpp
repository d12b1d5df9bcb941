#include "sidestream/kit/storage/hdf5/cf_axes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sidestream {

namespace {

bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

void set_attribute(Attributes& all, const std::string& name, std::variant<std::int64_t, double, std::string> value) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Attribute& one) { return one.name == name; });
  if (found != all.end()) {
    found->value = std::move(value);
  } else {
    all.push_back({name, std::move(value)});
  }
}

void put(hdf5::Object& object, const Attributes& attributes) {
  for (const Attribute& one : attributes) {
    if (const auto* text = std::get_if<std::string>(&one.value)) {
      if (!text->empty()) object.set_ascii(one.name, *text);
    } else if (const auto* real = std::get_if<double>(&one.value)) {
      object.set(one.name, *real);
    } else {
      const std::int64_t number = std::get<std::int64_t>(one.value);
      const bool fits = number == static_cast<std::int32_t>(number);
      fits ? object.set_int32(one.name, static_cast<std::int32_t>(number)) : object.set(one.name, number);
    }
  }
}

std::string cf_name(const std::string& name) {
  std::string cleaned = name;
  for (char& c : cleaned) c = is_plain(c) ? c : '_';
  const bool begins_well = !cleaned.empty() && cleaned[0] != '_' && (cleaned[0] < '0' || cleaned[0] > '9');
  return begins_well ? cleaned : "v_" + cleaned;
}

Attributes about_axis(const Mesh& mesh, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  const std::string name(1, static_cast<char>('x' + axis));
  // No attribute `axis`: VTK's reader would take X and Y for degrees on a sphere.
  Attributes all{{"long_name", mesh.labels[a].empty() ? name + " of the points" : mesh.labels[a]},
                 {"units", mesh.units[a].empty() ? std::string("1") : mesh.units[a]}};
  if (axis == 2) all.push_back({"positive", std::string("up")});
  return all;
}

CfAxis cf_axis(const std::string& name, const Mesh& mesh, int axis, bool nodes, const Box& box) {
  CfAxis made{name, {}, {}, about_axis(mesh, axis)};
  const auto a = static_cast<std::size_t>(axis);
  for (Index index = box.lo[a]; index < box.hi[a]; ++index) {
    made.positions.push_back(nodes ? mesh.axes()->node(axis, index) : mesh.axes()->centre(axis, index));
    if (nodes) continue;
    made.bounds.push_back(mesh.axes()->node(axis, index));
    made.bounds.push_back(mesh.axes()->node(axis, index + 1));
  }
  return made;
}

std::string component_dimension(std::int32_t components) {
  return components == 3 ? "component" : fmt::format("component_{}", components);
}

}  // namespace sidestream
