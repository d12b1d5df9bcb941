// Writes a Damaris model as our configuration.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "translate/damaris.hpp"

namespace sidestream::damaris {

namespace {

/// Entries of a YAML map in one line.
using Entries = std::vector<std::string>;

std::string quoted(const std::string& text) {
  std::string made = "'";
  for (const char c : text) made += c == '\'' ? std::string("''") : std::string(1, c);
  return made + "'";
}

class Writer {
 public:
  Writer(const Model& model, Remarks& remarks) : model_(model), remarks_(remarks) {
    for (const Mesh& mesh : model.meshes) take(mesh);
  }

  std::string write() {
    std::string body = meshes_and_variables();
    body += analyses() + outputs();
    return head() + body;
  }

 private:
  /// Handles a mesh. Variables with its geometry are dropped, or become others.
  void take(const Mesh& mesh) {
    meshes_[mesh.name] = &mesh;
    for (const std::string& path : mesh.coordinates) taken_.insert(path);
    for (const auto& [role, path] : mesh.arrays) taken_.insert(path);
  }

  const Variable* find(const std::string& path) const {
    for (const Variable& variable : model_.variables) {
      if (variable.path == path) return &variable;
    }
    return nullptr;
  }

  const Layout* layout_of(const Variable& variable) const {
    const auto found = model_.layouts.find(variable.layout);
    return found == model_.layouts.end() ? nullptr : &found->second;
  }

  /// x first: the fastest dimension.
  std::vector<std::string> along_axes(const Layout& layout) const {
    std::vector<std::string> axes = layout.dimensions;
    if (!model_.fortran) std::reverse(axes.begin(), axes.end());
    return axes;
  }

  std::string head() const {
    std::string text = "# Made by `sidestream translate damaris " + remarks_.file() +
                       "`. Its messages say what it could not translate.\n";
    if (!assembled_.empty()) {
      text += fmt::format("# Put together by the program, by sidestream_set_rectilinear_block for each block: {}.\n",
                          fmt::join(assembled_, ", "));
    }
    text += "placement: " + (model_.placement.empty() ? std::string("{mode: inline}") : model_.placement) + "\n";
    if (!model_.parameters.empty()) {
      Entries entries;
      for (const auto& [name, value] : model_.parameters) entries.push_back(name + ": " + value);
      text += fmt::format("parameters: {{{}}}\n", fmt::join(entries, ", "));
    }
    return text;
  }

  std::string meshes_and_variables() {
    std::string meshes, variables;
    for (const Mesh& mesh : model_.meshes) write_mesh(mesh, meshes, variables);
    for (const Variable& variable : model_.variables) {
      if (taken_.count(variable.path) == 0) write_variable(variable, meshes, variables);
    }
    return (meshes.empty() ? "" : "meshes:\n" + meshes) + (variables.empty() ? "" : "variables:\n" + variables);
  }

  void write_mesh(const Mesh& mesh, std::string& meshes, std::string& variables) {
    if (mesh.type == "rectilinear") {
      assembled_.push_back(mesh.name);
      for (std::size_t a = 0; a < mesh.coordinates.size(); ++a) {
        const Variable* variable = find(mesh.coordinates[a]);
        remarks_.add(variable ? variable->line : mesh.line,
                     fmt::format("'{}' has the nodes of a block along {}: pass it to set_rectilinear_block instead of "
                                 "writing it",
                                 mesh.coordinates[a], "xyz"[std::min<std::size_t>(a, 2)]));
      }
      say_names_of_axes(mesh);
    } else if (is_curvilinear(mesh)) {
      write_curvilinear(mesh, meshes, variables);
    } else if (mesh.type == "curvilinear") {
      meshes += fmt::format("  {}: {{type: curvilinear, size: [{}], coordinates: {}{}}}\n", mesh.name,
                            fmt::join(cells_of(mesh), ", "), gathered_coordinates(mesh, "node", variables),
                            names_of_axes(mesh));
    } else if (mesh.type == "point" || mesh.type == "unstructured") {
      write_list(mesh, meshes, variables);
    } else {
      lost_.insert(mesh.name);
      remarks_.add(mesh.line, fmt::format("<mesh type=\"{}\"> has no counterpart and was left out, with its variables",
                                          mesh.type));
    }
  }

  /// Remarks on names of axes, since the mesh is not declared in the file.
  void say_names_of_axes(const Mesh& mesh) {
    for (std::size_t a = 0; a < mesh.coordinates.size(); ++a) {
      if (mesh.units[a].empty() && mesh.labels[a].empty()) continue;
      remarks_.add(mesh.line,
                   fmt::format("<coord unit=\"...\" label=\"...\"> of '{}': axes that the program gives by "
                               "set_rectilinear_block have neither; give variables theirs, or declare the mesh",
                               mesh.name));
    }
  }

  /// Number of axes: dimensions of the first coordinate's nodes, without those of one node.
  std::size_t axes_of(const Mesh& mesh) const {
    const Variable* variable = mesh.coordinates.empty() ? nullptr : find(mesh.coordinates.front());
    const Layout* layout = variable ? layout_of(*variable) : nullptr;
    if (!layout) return 0;
    return static_cast<std::size_t>(
        std::count_if(layout->dimensions.begin(), layout->dimensions.end(), [](const auto& n) { return n != "1"; }));
  }

  /// True for curvilinear meshes that have more coordinates than axes, unless the layout gives all axes one by one.
  bool is_curvilinear(const Mesh& mesh) const {
    if (mesh.type != "curvilinear" || axes_of(mesh) == mesh.coordinates.size()) return false;
    const Variable* variable = mesh.coordinates.empty() ? nullptr : find(mesh.coordinates.front());
    const Layout* layout = variable ? layout_of(*variable) : nullptr;
    return !layout || axes_of(mesh) > mesh.coordinates.size() || layout->dimensions.size() != axes_of(mesh);
  }

  /// Writes a surface or a line in space whose layout has axes of one node.
  void write_curvilinear(const Mesh& mesh, std::string& meshes, std::string& variables) {
    if (axes_of(mesh) == 0 || axes_of(mesh) > mesh.coordinates.size()) {
      lost_.insert(mesh.name);
      remarks_.add(
          mesh.line,
          fmt::format("the mesh '{}' was left out, with its variables: it has {} coordinates, and the layout of "
                      "the first {} axes",
                      mesh.name, mesh.coordinates.size(), axes_of(mesh)));
      return;
    }
    write_list(mesh, meshes, variables);
    remarks_.add(mesh.line,
                 fmt::format("'{}' has {} axes and {} coordinates: it became an unstructured mesh, whose cells "
                             "the program lists ({} of VTK)",
                             mesh.name, axes_of(mesh), mesh.coordinates.size(),
                             axes_of(mesh) == 2 ? "quadrilaterals, type 9" : "lines, type 3"));
  }

  /// Numbers of cells, from the nodes of the first coordinate.
  std::vector<std::string> cells_of(const Mesh& mesh) const {
    const Variable* variable = mesh.coordinates.empty() ? nullptr : find(mesh.coordinates.front());
    const Layout* layout = variable ? layout_of(*variable) : nullptr;
    if (!layout) return {};
    std::vector<std::string> cells;
    for (const std::string& nodes : along_axes(*layout)) cells.push_back("(" + nodes + ") - 1");
    return cells;
  }

  /// Writes one variable with a component per coordinate in the file; returns its name.
  std::string gathered_coordinates(const Mesh& mesh, const char* centering, std::string& variables) {
    const std::string name = mesh.name + "_coordinates";
    const Variable* first = mesh.coordinates.empty() ? nullptr : find(mesh.coordinates.front());
    const Layout* layout = first ? layout_of(*first) : nullptr;
    variables +=
        fmt::format("  {}: {{mesh: {}, type: {}, centering: {}, components: {}{}{}}}\n", name, mesh.name,
                    layout ? layout->type : "float64", centering, mesh.dimensions,
                    is_in_space(mesh) ? words_of(mesh) : "", first && !first->varies ? ", time_varying: false" : "");
    if (mesh.coordinates.size() > 1) {
      remarks_.add(mesh.line, fmt::format("the coordinates {} are one variable, '{}': publish them by one call, "
                                          "publish_components",
                                          fmt::join(mesh.coordinates, ", "), name));
    } else {
      remarks_.add(mesh.line, fmt::format("the coordinates of '{}' are the variable '{}'", mesh.name, name));
    }
    return name;
  }

  /// True for curvilinear surfaces and lines in space, whose axes are not those of the coordinates.
  bool is_in_space(const Mesh& mesh) const {
    return mesh.type == "curvilinear" && !is_curvilinear(mesh) && axes_of(mesh) < mesh.coordinates.size();
  }

  /// Units and labels of the axes, as options of the mesh.
  std::string names_of_axes(const Mesh& mesh) const {
    std::string text;
    if (is_in_space(mesh)) return text;
    for (const auto& [option, words] : {std::pair{"units", &mesh.units}, {"labels", &mesh.labels}}) {
      if (std::all_of(words->begin(), words->end(), [](const std::string& word) { return word.empty(); })) continue;
      Entries entries;
      for (const std::string& word : *words) entries.push_back(quoted(word));
      text += fmt::format(", {}: [{}]", option, fmt::join(entries, ", "));
    }
    return text;
  }

  /// Unit and label of the coordinates of a surface in space: one unit, if all have the same.
  std::string words_of(const Mesh& mesh) {
    std::string text;
    if (mesh.units.empty()) return text;
    const bool same = std::all_of(mesh.units.begin(), mesh.units.end(),
                                  [&](const std::string& unit) { return unit == mesh.units.front(); });
    if (same && !mesh.units.front().empty()) text += ", unit: " + quoted(mesh.units.front());
    if (!same) {
      remarks_.add(mesh.line, fmt::format("the coordinates of '{}' have units of their own ({}); a variable has one",
                                          mesh.name, fmt::join(mesh.units, ", ")));
    }
    const bool labelled =
        std::any_of(mesh.labels.begin(), mesh.labels.end(), [](const std::string& label) { return !label.empty(); });
    if (labelled) text += ", label: " + quoted(fmt::format("{}", fmt::join(mesh.labels, ", ")));
    return text;
  }

  void write_list(const Mesh& mesh, std::string& meshes, std::string& variables) {
    const bool points = mesh.type == "point";
    std::string entries = "coordinates: " + gathered_coordinates(mesh, points ? "cell" : "node", variables);
    if (points || mesh.dimensions != 3) entries += fmt::format(", dimensions: {}", mesh.dimensions);
    if (!points) {
      for (const auto& [role, type] : {std::pair{"connectivity", "int64"}, {"offsets", "int64"}, {"types", "uint8"}}) {
        variables += fmt::format("  {0}_{1}: {{mesh: {0}, type: {2}, time_varying: false}}\n", mesh.name, role, type);
        entries += fmt::format(", {1}: {0}_{1}", mesh.name, role);
      }
      remarks_.add(mesh.line,
                   fmt::format("the sections of '{0}' become {0}_types and {0}_offsets, an entry for each cell, "
                               "and {0}_connectivity",
                               mesh.name));
    }
    if (mesh.arrays.count("vertex_global_id") > 0) {
      variables += fmt::format("  {0}_ids: {{mesh: {0}, type: int64, time_varying: false}}\n", mesh.name);
      entries += fmt::format(", point_ids: {}_ids", mesh.name);
    }
    entries += names_of_axes(mesh);
    meshes += fmt::format("  {}: {{type: {}, {}}}\n", mesh.name, points ? "points" : "unstructured", entries);
    remarks_.add(mesh.line, fmt::format("blocks of '{}' are declared by set_block_list", mesh.name));
  }

  std::string unique_name(const Variable& variable) {
    std::string name = variable.name;
    if (names_.count(name) > 0) name = plain_name(variable.path);
    while (!names_.insert(name).second) name += '_';
    if (name != variable.name) {
      remarks_.add(variable.line,
                   fmt::format("'{}' is called '{}': another variable has its name", variable.path, name));
    }
    return name;
  }

  void write_variable(const Variable& variable, std::string& meshes, std::string& variables) {
    const Layout* layout = layout_of(variable);
    const std::string on = plain_name(variable.mesh);
    if (!layout || lost_.count(on) > 0) {
      remarks_.add(variable.line, fmt::format("the variable '{}' was left out: its {} is not there", variable.path,
                                              layout ? "mesh" : "layout"));
      return;
    }
    const Mesh* mesh = variable.mesh == "#" || meshes_.count(on) == 0 ? nullptr : meshes_.at(on);
    const std::string name = unique_name(variable);
    std::string entries = "mesh: " + (mesh ? mesh->name : own_mesh(variable, *layout, meshes));
    entries += ", type: " + layout->type;
    if (mesh) entries += ", centering: " + centering_of(variable, *mesh, *layout);
    const std::string components = mesh ? components_of(variable, *mesh, *layout) : "";
    if (!components.empty()) entries += ", components: " + components;
    if (!variable.unit.empty() && variable.unit != "#") entries += ", unit: " + quoted(variable.unit);
    if (!variable.group.empty()) entries += ", group: " + quoted(variable.group);
    if (!variable.varies) entries += ", time_varying: false";
    variables += fmt::format("  {}: {{{}}}\n", quoted(name), entries);
    written_.push_back(name);
    if (!variable.store.empty()) put_into_store(variable, name);
  }

  void put_into_store(const Variable& variable, const std::string& name) {
    stored_[variable.store].push_back(name);
    const bool known = std::any_of(model_.stores.begin(), model_.stores.end(),
                                   [&](const Store& store) { return store.name == variable.store; });
    if (known || variable.store == "none" || variable.store == "#") return;
    remarks_.add(variable.line, fmt::format("the store '{}' of '{}' is not there: no output writes it", variable.store,
                                            variable.path));
  }

  /// Centring: at nodes if a variable has as many values along each axis as nodes, whatever the file says.
  std::string centering_of(const Variable& variable, const Mesh& mesh, const Layout& layout) {
    const Variable* x = mesh.coordinates.empty() ? nullptr : find(mesh.coordinates.front());
    const Layout* nodes = x ? layout_of(*x) : nullptr;
    if (mesh.type != "rectilinear" || !nodes || variable.centering == "node") return variable.centering;
    const std::vector<std::string> axes = along_axes(layout);
    const bool backwards =
        !axes.empty() && axes.front() != nodes->dimensions.front() && axes.back() == nodes->dimensions.front();
    if (axes.empty() || (axes.front() != nodes->dimensions.front() && !backwards)) return variable.centering;
    if (backwards) {
      remarks_.add(variable.line,
                   fmt::format("'{}' has the dimensions of its layout from x on: publish it as an array in "
                               "which x runs fastest, or add `order: row`",
                               variable.path));
    }
    remarks_.add(variable.line, fmt::format("'{}' has as many values as nodes: it is at the nodes", variable.path));
    return "node";
  }

  std::string components_of(const Variable& variable, const Mesh& mesh, const Layout& layout) {
    const bool list = mesh.type == "point" || mesh.type == "unstructured" || is_curvilinear(mesh);
    const std::size_t axes = list                         ? 1
                             : mesh.type == "curvilinear" ? axes_of(mesh)
                                                          : static_cast<std::size_t>(mesh.dimensions);
    if (!variable.vector || (layout.dimensions.size() <= axes && !list)) return "";
    const bool first = !model_.fortran || list;
    const std::string count = first ? layout.dimensions.front() : layout.dimensions.back();
    remarks_.add(variable.line,
                 fmt::format("the components of '{}' lie side by side in Sidestream: publish them as arrays "
                             "of their own by publish_components, or with strides",
                             variable.path));
    return count;
  }

  /// Makes a mesh for variables that have none.
  std::string own_mesh(const Variable& variable, const Layout& layout, std::string& meshes) {
    const std::string name = "of_" + plain_name(variable.layout);
    if (own_meshes_.insert(name).second) {
      std::vector<std::string> axes = along_axes(layout);
      if (axes.size() > 3) axes.resize(3);
      meshes += fmt::format("  {}: {{type: uniform, size: [{}]}}\n", name, fmt::join(axes, ", "));
    }
    const std::string where =
        variable.mesh == "#" ? "no mesh" : fmt::format("the mesh '{}', which is not declared", variable.mesh);
    remarks_.add(variable.line,
                 fmt::format("'{}' lies on {}: a uniform one was made of its layout{}", variable.path, where,
                             layout.whole ? "" : ", which is that of one client; correct its size"));
    return name;
  }

  std::string analyses() {
    std::string text;
    std::set<std::string> libraries;
    for (const Action& action : model_.actions) {
      if (!action.library.empty()) libraries.insert(action.library);
      text += fmt::format("  - {}: {{on: {}}}\n", plain_name(action.function), plain_name(action.event));
    }
    std::string scripts;
    for (const Script& script : model_.scripts) {
      scripts += fmt::format("  # - python: {{name: {}, script: {}, call: FUNCTION, variables: [{}]{}{}}}\n",
                             plain_name(script.name), quoted(script.file), fmt::join(written_, ", "),
                             script.frequency == "1" ? "" : ", every: " + script.frequency,
                             script.on_event ? ", on: " + plain_name(script.name) : "");
    }
    if (text.empty()) return scripts.empty() ? "" : "# analyses:\n" + scripts;
    text += scripts;
    std::string plugins;
    for (const std::string& library : libraries)
      plugins += fmt::format("{}{}", plugins.empty() ? "" : ", ", quoted(library));
    return (plugins.empty() ? "" : "plugins: [" + plugins + "]  # to be written anew: docs/writing-an-analysis.md\n") +
           "analyses:\n" + text;
  }

  std::string outputs() {
    std::string text;
    for (const Store& store : model_.stores) {
      const auto found = stored_.find(store.name);
      if (found == stored_.end()) continue;
      Entries names;
      for (const std::string& name : found->second) names.push_back(quoted(name));
      text += fmt::format("  - hdf5: {{name: {}, variables: [{}]", quoted(store.name), fmt::join(names, ", "));
      if (!store.path.empty()) {
        text += ", file: " + quoted(store.path + (store.path.back() == '/' ? "" : "/") + store.name + "-{cycle:06}.h5");
      }
      if (!store.frequency.empty()) text += ", every: " + store.frequency;
      text += "}\n";
    }
    return text.empty() ? "" : "outputs:\n" + text;
  }

  const Model& model_;
  Remarks& remarks_;
  std::map<std::string, const Mesh*> meshes_;
  std::set<std::string> taken_, lost_, names_, own_meshes_;
  std::vector<std::string> assembled_, written_;
  std::map<std::string, std::vector<std::string>> stored_;
};

}  // namespace

std::string written(const Model& model, Remarks& remarks) { return Writer(model, remarks).write(); }

}  // namespace sidestream::damaris
