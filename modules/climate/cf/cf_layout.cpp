#include "climate/cf/cf_layout.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace sidestream {

namespace {

constexpr const char* axis_names[3] = {"x", "y", "z"};
constexpr const char* index_names[3] = {"i", "j", "k"};

/// Makes the layout, mesh by mesh and variable by variable.
class Maker {
 public:
  Maker(const Metadata& metadata, const std::vector<std::int32_t>& variables)
      : metadata_(metadata), variables_(variables) {
    std::set<std::int32_t> meshes;
    for (const std::int32_t id : variables) meshes.insert(metadata.variables[static_cast<std::size_t>(id)].mesh);
    has_prefix_ = meshes.size() > 1;
    // Names of other arrays of the file, which variables cannot use.
    taken_ = {"time", "cycle", "iteration", "time_bnds", "bnds"};
    for (const std::int32_t id : meshes) add_mesh(metadata.meshes[static_cast<std::size_t>(id)]);
    for (const std::int32_t id : variables) {
      const Variable& variable = metadata.variables[static_cast<std::size_t>(id)];
      if (!is_topology(variable)) static_cast<void>(dimensions_of_values(variable));
    }
  }

  CfLayout make() {
    for (const std::int32_t id : variables_) add_variable(metadata_.variables[static_cast<std::size_t>(id)]);
    return std::move(layout_);
  }

 private:
  [[nodiscard]] std::string prefix(const Mesh& mesh) const { return has_prefix_ ? cf_name(mesh.name) + "_" : ""; }

  void add_dimension(const CfDimension& dimension) {
    if (!dimensions_.insert(dimension.name).second) return;
    taken_.insert(dimension.name);
    layout_.dimensions.push_back(dimension);
  }

  /// The name of an axis' dimension for values at nodes or in cells.
  [[nodiscard]] std::string dimension_of(const Mesh& mesh, int axis, bool nodes) const {
    const char* base = mesh.axes() != nullptr ? axis_names[axis] : index_names[axis];
    return prefix(mesh) + base + (nodes ? "_node" : "");
  }

  /// The dimensions of arrays with that centring and order; creates them if necessary.
  std::vector<std::string> dimensions_of(const Mesh& mesh, Centering centering, bool on_cells, Order order) {
    if (mesh.is_list()) return {prefix(mesh) + (on_cells ? "cell" : "point")};
    std::vector<std::string> names;
    const Box box = mesh.points(centering);
    for (int n = 0; n < mesh.dimensions; ++n) {
      const int axis = order == Order::column ? mesh.dimensions - 1 - n : n;
      const bool nodes = at_nodes(centering, axis);
      names.push_back(dimension_of(mesh, axis, nodes));
      if (mesh.axes() != nullptr) {
        add_axis(mesh, axis, nodes, names.back(), box);
      } else {
        add_dimension({names.back(), box.extent(axis)});
      }
    }
    return names;
  }

  void add_axis(const Mesh& mesh, int axis, bool nodes, const std::string& name, const Box& box) {
    if (!dimensions_.insert(name).second) return;
    taken_.insert(name);
    CfAxis made = cf_axis(name, mesh, axis, nodes, box);
    if (!nodes) {
      set_attribute(made.attributes, "bounds", name + "_bnds");
      taken_.insert(name + "_bnds");
      add_dimension({"bnds", 2});
    }
    layout_.axes.push_back(std::move(made));
  }

  void add_mesh(const Mesh& mesh) {
    for (const Attribute& one : mesh.attributes)
      set_attribute(layout_.attributes, cf_name(mesh.name + "_" + one.name), one.value);
    if (mesh.kind() == MeshKind::curvilinear) return add_curvilinear(mesh);
    if (!mesh.is_list()) return;
    add_dimension({prefix(mesh) + "point", 0, CfLength::points, mesh.id});
    add_components(mesh, dimensions_of(mesh, Centering::node, false, Order::column), "");
    if (mesh.kind() != MeshKind::unstructured) return;
    add_dimension({prefix(mesh) + "cell", 0, CfLength::cells, mesh.id});
    add_dimension({prefix(mesh) + "corner", 0, CfLength::corners, mesh.id});
    CfArray ids{prefix(mesh) + "cell_points", CfSource::corner_ids, mesh.array(Role::connectivity)};
    ids.dimensions = {prefix(mesh) + "cell", prefix(mesh) + "corner"};
    ids.attributes = {{"long_name", std::string("points of the cells")}, {"start_index", std::int64_t{0}}};
    const std::string topology = has_prefix_ ? cf_name(mesh.name) : "mesh";
    layout_.topologies.push_back({topology, mesh.id, positions_[mesh.id][false], ids.name});
    taken_.insert({topology, ids.name});
    layout_.arrays.push_back(std::move(ids));
  }

  /// Arrays x, y, z of the components of the variable with the positions.
  void add_components(const Mesh& mesh, const std::vector<std::string>& dimensions, const std::string& ending) {
    for (int axis = 0; axis < mesh.dimensions; ++axis) {
      CfArray array{prefix(mesh) + axis_names[axis] + ending, CfSource::component, mesh.array(Role::coordinates), axis};
      array.centering = nodes_of(mesh.dimensions);
      array.on_cells = false;
      array.dimensions = dimensions;
      array.attributes = about_axis(mesh, axis);
      note_position(mesh, false, array.name);
      layout_.arrays.push_back(std::move(array));
    }
  }

  void note_position(const Mesh& mesh, bool cells, const std::string& name) {
    taken_.insert(name);
    std::string& list = positions_[mesh.id][cells];
    list += (list.empty() ? "" : " ") + name;
  }

  void add_curvilinear(const Mesh& mesh) {
    const std::int32_t id = mesh.array(Role::coordinates);
    const Order order = metadata_.variables[static_cast<std::size_t>(id)].order;
    add_components(mesh, dimensions_of(mesh, nodes_of(mesh.dimensions), false, order), "_node");
    const std::vector<std::string> cells = dimensions_of(mesh, Centering::cell, true, order);
    for (int axis = 0; axis < mesh.dimensions; ++axis) {
      CfArray centres{prefix(mesh) + axis_names[axis], CfSource::centres, id, axis};
      centres.dimensions = cells;
      centres.attributes = about_axis(mesh, axis);
      note_position(mesh, true, centres.name);
      if (mesh.dimensions == 2) {
        CfArray corners = centres;
        corners.source = CfSource::corners;
        corners.name += "_bnds";
        corners.attributes.clear();
        corners.dimensions.emplace_back("vertex");
        add_dimension({"vertex", 4});
        taken_.insert(corners.name);
        set_attribute(centres.attributes, "bounds", corners.name);
        layout_.arrays.push_back(std::move(corners));
      }
      layout_.arrays.push_back(std::move(centres));
    }
  }

  /// An unused name: the variable's own, or with its group as a prefix.
  std::string free_name(const Variable& variable) {
    const auto same = std::count_if(variables_.begin(), variables_.end(), [&](std::int32_t id) {
      return metadata_.variables[static_cast<std::size_t>(id)].name == variable.name;
    });
    std::string name =
        cf_name(same > 1 && !variable.group.empty() ? variable.group + "_" + variable.name : variable.name);
    while (!taken_.insert(name).second) name = "v_" + name;
    return name;
  }

  [[nodiscard]] static bool is_topology(const Variable& variable) {
    return variable.role == Role::coordinates || variable.role == Role::connectivity ||
           variable.role == Role::offsets || variable.role == Role::types || variable.role == Role::faces ||
           variable.role == Role::face_offsets;
  }
  [[nodiscard]] bool lies_on_cells(const Variable& variable) const {
    return variable.centering == Centering::cell && metadata_.mesh_of(variable).kind() != MeshKind::points;
  }
  /// The dimensions of a variable's array; creates them if necessary, so that no variable gets their names.
  std::vector<std::string> dimensions_of_values(const Variable& variable) {
    std::vector<std::string> names =
        dimensions_of(metadata_.mesh_of(variable), variable.centering, lies_on_cells(variable), variable.order);
    if (variable.components > 1) {
      names.push_back(component_dimension(variable.components));
      add_dimension({names.back(), variable.components});
    }
    return names;
  }

  void add_variable(const Variable& variable) {
    const Mesh& mesh = metadata_.mesh_of(variable);
    if (is_topology(variable)) return;
    CfArray array{free_name(variable), CfSource::values, variable.id};
    array.centering = variable.centering;
    array.on_cells = lies_on_cells(variable);
    array.dimensions = dimensions_of_values(variable);
    array.attributes = {{"units", variable.unit.empty() ? std::string("1") : variable.unit},
                        {"long_name", variable.title()}};
    for (const Attribute& one : variable.attributes) set_attribute(array.attributes, one.name, one.value);
    const bool has_positions = array.on_cells || variable.centering == nodes_of(mesh.dimensions) || mesh.is_list();
    std::string coordinates = has_positions ? positions_[mesh.id][array.on_cells && !mesh.is_list()] : "";
    if (mesh.is_list() && array.on_cells) coordinates.clear();  // the topology gives their positions
    coordinates += std::string(coordinates.empty() ? "" : " ") + "cycle iteration";
    set_attribute(array.attributes, "coordinates", coordinates);
    layout_.arrays.push_back(std::move(array));
  }

  const Metadata& metadata_;
  const std::vector<std::int32_t>& variables_;
  bool has_prefix_ = false;
  CfLayout layout_{};
  std::set<std::string> taken_{}, dimensions_{};
  std::map<std::int32_t, std::map<bool, std::string>> positions_{};  ///< by mesh, and true for cells
};

}  // namespace

std::string why_not_cf(const Mesh& mesh) {
  if (mesh.kind() == MeshKind::octree) return "which is an octree";
  if (!mesh.refinement.empty()) return "which has refinement levels";
  if (mesh.axes() == nullptr && mesh.kind() != MeshKind::curvilinear && !mesh.is_list()) return "of a kind of its own";
  return "";
}

CfLayout cf_layout(const Metadata& metadata, const std::vector<std::int32_t>& variables) {
  return Maker(metadata, variables).make();
}

std::optional<std::array<double, 2>> cf_window(const CfLayout& layout, const Metadata& metadata) {
  std::optional<std::array<double, 2>> window;
  for (const CfArray& array : layout.arrays) {
    const Variable& variable = metadata.variables[static_cast<std::size_t>(array.variable)];
    if (variable.role != Role::none) continue;
    std::array<double, 2> own{};
    int found = 0;
    for (const Attribute& one : variable.attributes) {
      const double* const number = std::get_if<double>(&one.value);
      if (number == nullptr || (one.name != "time_begin" && one.name != "time_end")) continue;
      own[one.name == "time_end" ? 1 : 0] = *number;
      ++found;
    }
    if (found != 2 || (window && *window != own)) return std::nullopt;
    window = own;
  }
  return window;
}

}  // namespace sidestream
