#include "storage/hdf5/named_arrays.hpp"

#include <algorithm>
#include <span>

#include "sidestream/kit/storage/hdf5/cf_axes.hpp"
#include "storage/hdf5/hdf5_layout.hpp"

namespace sidestream {

/// The names of the mesh's dimensions, slowest first, each with its axis; -1: a list.
std::vector<std::pair<std::string, int>> NamedArrays::axes_of(const Variable& variable) const {
  const Mesh& mesh = metadata_.mesh_of(variable);
  const std::string prefix = has_prefix_ ? mesh.name + "_" : "";
  if (variable.role == Role::connectivity || variable.role == Role::faces) return {{variable.name + "_entry", -1}};
  if (mesh.is_list()) return {{prefix + (variable.centering == Centering::cell ? "cell" : "point"), -1}};
  std::vector<std::pair<std::string, int>> names;
  for (int n = 0; n < mesh.dimensions; ++n) {
    const int axis = variable.order == Order::column ? mesh.dimensions - 1 - n : n;
    const std::string name(1, static_cast<char>('x' + axis));
    names.emplace_back(prefix + name + (at_nodes(variable.centering, axis) ? "_node" : ""), axis);
  }
  return names;
}

/// The dimension of that name, or a separate one for the variable if that has another length.
std::string NamedArrays::dimension(const std::string& name, const Variable& variable, int axis, const Box& whole,
                                   Index length) {
  const auto [found, is_new] = lengths_.emplace(name, length);
  if (!is_new && found->second == length) return name;
  if (!is_new)
    return dimension(cf_name(variable.group + "_" + variable.name) + "_" + name, variable, -1, whole, length);
  const Mesh& mesh = metadata_.mesh_of(variable);
  if (axis < 0 || mesh.axes() == nullptr) {
    dimensions_.add(name, static_cast<hsize_t>(length));
    return name;
  }
  const CfAxis made = cf_axis(name, mesh, axis, at_nodes(variable.centering, axis), whole);
  hdf5::Dataset scale = root_.dataset(name, Type::float64, {made.positions.size()}, {});
  scale.write(Type::float64, {{0}, {made.positions.size()}}, std::as_bytes(std::span(made.positions)));
  put(scale, made.attributes);
  dimensions_.add(name, std::move(scale));
  return name;
}

void NamedArrays::add(hdf5::Dataset& array, const Variable& variable, const Box& whole) {
  std::vector<std::string> names;
  for (const auto& [name, axis] : axes_of(variable)) {
    const Index length = whole.extent(axis < 0 ? 0 : axis);
    names.push_back(dimension(name, variable, axis, whole, length));
  }
  if (variable.components > 1) {
    const std::string name = component_dimension(variable.components);
    names.push_back(dimension(name, variable, -1, whole, variable.components));
  }
  dimensions_.attach(array, names);
  named_.push_back(&variable);
}

void NamedArrays::finish() {
  dimensions_.finish();
  std::set<std::string> taken{"meshes", "variables", "VTKHDF"};
  for (const auto& [name, length] : lengths_) taken.insert(name);
  std::map<std::string, int> uses;
  for (const Variable* variable : named_) ++uses[variable->name];
  for (const Variable* variable : named_) {
    const bool is_alone = uses[variable->name] == 1 || variable->group.empty();
    std::string name = is_alone ? variable->name : variable->group + "_" + variable->name;
    std::replace(name.begin(), name.end(), '/', '_');
    if (taken.insert(name).second) root_.link(name, variable_path(*variable));
  }
}

bool on_several_meshes(const Metadata& metadata, const std::vector<std::int32_t>& variables) {
  return std::any_of(variables.begin(), variables.end(), [&](std::int32_t id) {
    return metadata.variables[static_cast<std::size_t>(id)].mesh !=
           metadata.variables[static_cast<std::size_t>(variables.front())].mesh;
  });
}

}  // namespace sidestream
