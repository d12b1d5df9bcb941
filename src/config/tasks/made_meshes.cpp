// Results that become meshes (`makes`), and tasks that use them.
//
// 1. mark_made_meshes: marks declared meshes that an analysis fills, before tasks are read.
// 2. find_source: collects what a task names, also through derived variables. All of it comes from the simulation, or
//    from one analysis above.
// 3. declare_made_mesh: adds the mesh and variables that the kind of analysis announces, or checks a declared mesh.
// 4. join_groups_of_made: a task runs in the group of the analysis that makes its mesh.
#include "config/tasks/made_meshes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/expressions/condition.hpp"
#include "config/opening.hpp"
#include "config/options/read_settings.hpp"
#include "config/tasks/tasks.hpp"
#include "data/derivation.hpp"
#include "data/mesh_arrays.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

/// The source of a mesh: its id if an analysis makes it, otherwise -1.
std::int32_t source_of(const Mesh& mesh) { return mesh.made ? mesh.id : -1; }

/// Something that a task names, and where its values come from.
struct Named {
  std::string name;
  std::int32_t source = -1;
};

std::string text_of(const Named& one, const Metadata& metadata) {
  if (one.source < 0) return fmt::format("'{}', which the simulation publishes", one.name);
  return fmt::format("'{}', which lies on the mesh '{}' that an analysis makes", one.name,
                     metadata.meshes.at(static_cast<std::size_t>(one.source)).name);
}

/// Collects the sources of a task.
class Sources {
 public:
  Sources(TaskConfig& task, const Metadata& metadata) : task_(task), metadata_(metadata) {}

  void add(const Variable& variable, const Location& where) {
    add({variable.name, source_of(metadata_.mesh_of(variable))}, where);
    if (!variable.derived()) return;
    for (const std::int32_t input : variable.derivation->inputs()) add_input(input, where);
    for (const std::int32_t input : variable.derivation->particles(metadata_)) add_input(input, where);
  }
  /// Adds what an option names: a mesh or a variable.
  void add(bool is_mesh, const std::string& name, const Location& where) {
    if (is_mesh) {
      if (const Mesh* const mesh = metadata_.find_mesh(name)) add({name, source_of(*mesh)}, where);
    } else if (const Variable* const variable = metadata_.find_variable(name)) {
      add(*variable, where);
    }
  }
  [[noreturn]] void fail_at_first(const char* why) const {
    fail_at(first_where_, "found '{}' on the mesh '{}', {}", first_.name,
            metadata_.meshes.at(static_cast<std::size_t>(first_.source)).name, why);
  }

 private:
  void add_input(std::int32_t id, const Location& where) {
    const Variable& variable = metadata_.variables.at(static_cast<std::size_t>(id));
    add({variable.name, source_of(metadata_.mesh_of(variable))}, where);
  }
  void add(Named one, const Location& where) {
    if (first_.name.empty()) {
      first_ = one;
      first_where_ = where;
      task_.uses = one.source;
      return;
    }
    if (one.source == first_.source) return;
    fail_at(
        where,
        "found {}, beside {}, expected variables of one of them: a result exists only after the analysis that makes "
        "it; use two tasks",
        text_of(one, metadata_), text_of(first_, metadata_));
  }

  TaskConfig& task_;
  const Metadata& metadata_;
  Named first_;
  Location first_where_;
};

Variable array_with(Role role, Type type, std::int32_t components = 1) {
  Variable array;
  array.role = role;
  array.type = type;
  array.components = components;
  return array;
}

/// The arrays of a made mesh by its kind.
std::vector<Variable> arrays_of(const Mesh& mesh) {
  std::vector<Variable> arrays;
  if (mesh.is_list()) arrays.push_back(array_with(Role::coordinates, Type::float64, mesh.dimensions));
  if (mesh.kind() != MeshKind::unstructured) return arrays;
  arrays.push_back(array_with(Role::connectivity, Type::int64));
  arrays.push_back(array_with(Role::offsets, Type::int64));
  arrays.push_back(array_with(Role::types, Type::uint8));
  return arrays;
}

void append(Metadata& metadata, Variable variable, const Mesh& mesh) {
  variable.id = static_cast<std::int32_t>(metadata.variables.size());
  variable.mesh = mesh.id;
  metadata.variables.push_back(std::move(variable));
}

void check_free(const TaskConfig& task, const std::string& name, const Metadata& metadata) {
  const Variable* const known = metadata.find_variable(name);
  if (known == nullptr) return;
  if (metadata.mesh_of(*known).name == task.settings.text("makes")) {
    task.settings.fail(
        "makes", fmt::format("found 'makes: {0}' for a result with two arrays called '{1}', of which one would be "
                             "the variable '{2}', expected different ones; leave out the variable '{1}', or give "
                             "an expression of it",
                             task.settings.text("makes"), array_of(*known, metadata.mesh_of(*known)), name));
  }
  task.settings.fail("makes",
                     fmt::format("found 'makes: {}', which needs the variable '{}', a name that is taken; choose "
                                 "another name",
                                 task.settings.text("makes"), name));
}

/// Adds the mesh and the variables that a kind announces.
std::int32_t add_mesh(const TaskConfig& task, ResultMesh made, Metadata& metadata) {
  const std::string& name = task.settings.text("makes");
  Mesh& mesh = made.mesh;
  mesh.id = static_cast<std::int32_t>(metadata.meshes.size());
  mesh.name = name;
  mesh.made = true;
  metadata.meshes.push_back(mesh);
  const auto given =
      std::ranges::stable_partition(made.variables, [](const Variable& v) { return v.role == Role::none; });
  std::vector<Variable> arrays(given.begin(), given.end());
  made.variables.erase(given.begin(), given.end());
  if (arrays.empty()) arrays = arrays_of(mesh);
  for (Variable& variable : arrays) {
    const Role role = std::exchange(variable.role, Role::none);
    variable.name = fmt::format("{}_{}", name, name_of(role));
    check_free(task, variable.name, metadata);
    const std::string of_role = variable.name;
    append(metadata, std::move(variable), mesh);
    assign_role(metadata, name, role, of_role);
  }
  for (Variable& variable : made.variables) {
    if (variable.label.empty()) variable.label = variable.name;
    variable.name = fmt::format("{}_{}", name, variable.name);
    check_free(task, variable.name, metadata);
    append(metadata, std::move(variable), mesh);
  }
  return mesh.id;
}

/// Checks the declaration of a mesh in the configuration that a result is to fill.
void check_declared(const TaskConfig& task, const Mesh& mesh, const Metadata& metadata) {
  const auto fails = [&](const std::string& found) {
    task.settings.fail("makes", fmt::format("found 'makes: {}' {}", mesh.name, found));
  };
  if (mesh.kind() != MeshKind::uniform && mesh.kind() != MeshKind::rectilinear) {
    fails(
        fmt::format("for a declared mesh of type '{}', expected a uniform or rectilinear one, whose arrays a data set "
                    "has; declare another, or leave it to an analysis that announces its mesh",
                    mesh.geometry ? mesh.geometry->kind() : "none"));
  }
  if (!mesh.refinement.empty()) fails("for a mesh with refinement levels, expected one level; remove 'refinement'");
  const bool any = std::ranges::any_of(metadata.variables, [&](const Variable& one) { return one.mesh == mesh.id; });
  if (!any) fails("for a mesh without variables; declare those that the result has under 'variables:'");
}

}  // namespace

void mark_made_meshes(const Document& document, Metadata& metadata) {
  const Entry* const found = document.root().find("analyses");
  if (found == nullptr) return;
  for (const Node& item : found->value.items) {
    if (item.kind != Node::Kind::map || item.entries.empty()) continue;
    const Node& options = item.entries.front().value;
    const Entry* const makes = options.kind == Node::Kind::map ? options.find("makes") : nullptr;
    for (Mesh& mesh : metadata.meshes) mesh.made |= makes != nullptr && mesh.name == makes->value.text;
  }
}

static bool has_pieces(const std::vector<Option>& options) {
  return std::ranges::any_of(options, [](const Option& option) { return option.name == "pieces"; });
}

Node made_whole(const Node& task, const std::vector<Option>& options) {
  const bool makes = task.kind == Node::Kind::map && task.find("makes") != nullptr && task.find("pieces") == nullptr;
  Node whole = task;
  if (!makes || !has_pieces(options)) return whole;
  Node never;
  never.kind = Node::Kind::scalar;
  never.where = task.where;
  never.text = "false";
  whole.entries.push_back({"pieces", task.where, never});
  return whole;
}

void declare_made_mesh(std::vector<TaskConfig>& tasks, const Registry& registry, Metadata& metadata) {
  TaskConfig& task = tasks.back();
  const Settings& settings = task.settings;
  if (!settings.given("makes")) return;
  const std::string& name = settings.text("makes");
  if (task.writer) settings.fail("makes", "found 'makes' for an output, expected an analysis; remove it");
  check_name(name, "mesh", settings.where("makes"));
  const Mesh* const known = metadata.find_mesh(name);
  const AnalysisKind& kind = registry.analyses().at(task.kind);
  if (known != nullptr && kind.result_mesh) {
    const MeshKind found = kind.result_mesh(settings, metadata).mesh.kind();
    if (found != MeshKind::uniform) {
      settings.fail("makes", fmt::format("found 'makes: {}' for '{}', whose result is no data set and cannot fill a "
                                         "declared mesh, expected the name of a new mesh; choose another name",
                                         name, task.kind));
    }
  }
  if (known != nullptr) {
    const auto maker = std::ranges::find_if(tasks, [&](const TaskConfig& one) { return one.makes == known->id; });
    if (maker != tasks.end()) {
      settings.fail("makes", fmt::format("found 'makes: {}' a second time (first in line {}), expected a mesh that one "
                                         "analysis makes; choose another name",
                                         name, maker->settings.where("makes").line));
    }
    check_declared(task, *known, metadata);
    task.makes = known->id;
    return;
  }
  if (!kind.result_mesh) {
    settings.fail(
        "makes",
        fmt::format("found 'makes: {}' for '{}', which does not say what mesh its result is, expected the mesh "
                    "'{}' and its variables under 'meshes:' and 'variables:'; declare them",
                    name, task.kind, name));
  }
  task.makes = add_mesh(task, kind.result_mesh(settings, metadata), metadata);
  const bool in_pieces = has_pieces(kind.options) && settings.given("pieces") && settings.text("pieces") != "false";
  if (!in_pieces || !metadata.meshes.back().is_list()) return;
  settings.fail("pieces",
                fmt::format("found 'pieces: {}' with 'makes', expected 'pieces: false', which is its default there: "
                            "points between two pieces would count twice in the mesh '{}'; remove it",
                            settings.text("pieces"), name));
}

void find_source(TaskConfig& task, std::span<const TaskConfig> above, const Registry& registry,
                 const Metadata& metadata) {
  Sources sources(task, metadata);
  for_each_option(task.settings, options_of(task, registry),
                  [&](const Option& option, const Settings& in, const std::vector<Option>&) {
                    if (option.type != OptionType::variable && option.type != OptionType::mesh) return;
                    const auto names = option.list ? in.texts(option.name) : std::vector{in.text(option.name)};
                    for (const std::string& name : names) {
                      sources.add(option.type == OptionType::mesh, name, in.where(option.name));
                    }
                  });
  if (task.schedule.when) {
    for (const Statistic& one : task.schedule.when->statistics()) {
      sources.add(metadata.variables.at(static_cast<std::size_t>(one.variable)), task.settings.where("when"));
    }
  }
  if (task.uses < 0) return;
  const std::string& used = metadata.meshes.at(static_cast<std::size_t>(task.uses)).name;
  if (!task.writer && task.settings.given("makes") && task.settings.text("makes") == used) {
    task.settings.fail("makes",
                       fmt::format("found 'makes: {0}', the mesh that this analysis reads, expected a name that "
                                   "is not taken: the result is another mesh; choose another name",
                                   used));
  }
  if (std::ranges::none_of(above, [&](const TaskConfig& one) { return one.makes == task.uses; })) {
    sources.fail_at_first(
        "which this analysis or one below makes, expected one that is made above; move that analysis, or correct the "
        "name");
  }
  if (task.settings.given("on")) {
    task.settings.fail(
        "on", fmt::format("found 'on' for a task that uses the mesh '{}', which an analysis makes, expected it "
                          "at that analysis: events reach analyses of the simulation's variables; move it",
                          metadata.meshes.at(static_cast<std::size_t>(task.uses)).name));
  }
}

void join_groups_of_made(std::vector<TaskConfig>& tasks, const std::vector<ServerGroup>& groups) {
  for (TaskConfig& task : tasks) {
    if (task.uses < 0) continue;
    const auto maker = std::ranges::find_if(tasks, [&](const TaskConfig& one) { return one.makes == task.uses; });
    if (task.settings.given("group") && task.group != maker->group) {
      task.settings.fail("group",
                         fmt::format("found the group '{}' for a task that uses what '{}' makes in the group '{}', "
                                     "expected the same one; remove or correct it",
                                     groups.at(task.group).name, maker->name, groups.at(maker->group).name));
    }
    task.group = maker->group;
  }
}

std::string array_of(const Variable& variable, const Mesh& mesh) {
  const std::string prefix = mesh.name + "_";
  return variable.name.starts_with(prefix) ? variable.name.substr(prefix.size()) : variable.name;
}

}  // namespace sidestream
