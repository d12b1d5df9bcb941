// The second reading of the configuration, when the program's parameters and declarations are known.
//
// 1. Declarations of the file and the program, then derived variables, then variables that requests added in a run.
// 2. Steering and the section `live`. With `off` reading ends here, since kinds of plug-ins are unknown.
// 3. The partitioner's options, then tasks, which may add derived variables for expressions in their options.
// 4. Checks across sections: `then`, partials, groups, names of resumed files.
// Every process reads the same text, so that all get the same result or the same Error(configuration).
#include "config/config.hpp"

#include <fmt/format.h>

#include "base/paths.hpp"
#include "config/expressions/derived_section.hpp"
#include "config/groups.hpp"
#include "config/opening.hpp"
#include "config/options/document.hpp"
#include "config/sections.hpp"
#include "config/tasks/made_meshes.hpp"
#include "config/tasks/tasks.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/data/selected_arrays.hpp"

namespace sidestream {

namespace {

/// Reads the partitioner's options by the declarations of its kind.
Settings read_partitioner(const Document& document, const PlacementConfig& placement, const Registry& registry,
                          const ReadContext& context) {
  const Entry* entry = document.root().find("placement");
  const Entry* given = entry ? entry->value.find("partitioner") : nullptr;
  // A default partitioner is not read where none is used.
  if (given == nullptr && placement.mode != PlacementMode::nodes) return {};
  const bool map = given && given->value.kind == Node::Kind::map;
  const Location& where = map ? given->value.entries.front().where : given ? given->value.where : placement.where;
  const auto found = registry.partitioners().find(placement.partitioner);
  if (found == registry.partitioners().end()) {
    const std::vector<std::string> known = keys_of(registry.partitioners());
    fail_at(where, "found the unknown partitioner '{}', expected one of {}; {}", placement.partitioner, listed(known),
            suggestion(placement.partitioner, known,
                       "write one of them, or name the library that has it under 'plugins:'"));
  }
  Node none;
  none.where = where;
  const Settings settings = read_settings(map ? given->value.entries.front().value : none, found->second.options,
                                          fmt::format("the partitioner '{}'", placement.partitioner), where, context);
  // Some invalid settings only show when the restriction is made, so it is made before the first iteration.
  if (found->second.restrict_to) {
    const Selected part = found->second.restrict_to(settings, *context.metadata);
    const Variable& by = context.metadata->variables.at(static_cast<std::size_t>(part.variable));
    if (part.part.kind == Part::Kind::values && by.derived()) {
      fail_at(where,
              "found the derived variable '{}' for the partitioner '{}', expected a published one: ranges of derived "
              "ones are not known before they are computed; name another",
              by.name, placement.partitioner);
    }
  }
  return settings;
}

/// Sets the group of each task. Without groups, names of groups have no effect, so that one line moves the work.
void assign_groups(std::vector<TaskConfig>& tasks, const std::vector<ServerGroup>& groups) {
  if (groups.empty()) return;
  for (TaskConfig& task : tasks) {
    const Settings& settings = task.settings;
    if (settings.given("group")) task.group = group_named(groups, settings.text("group"), settings.where("group"));
  }
  join_groups_of_made(tasks, groups);
  check_groups_used(groups, tasks);
}

/// The number of iterations that changes take effect ahead, if the file does not set it.
int default_ahead(const PlacementConfig& placement) {
  if (placement.mode == PlacementMode::inline_) return 0;
  constexpr int skipping = 64;
  return placement.when_full == WhenFull::skip ? std::max(placement.max_in_flight, skipping) : placement.max_in_flight;
}

/// The section `live` as it is written.
struct LiveOptions : LiveConfig {
  std::vector<Variable> hold{};
};

void check_budget(const Settings& settings, const std::string& name, const Metadata&, const LiveConfig& live) {
  if (live.budget > 0) return;
  settings.fail(name, fmt::format("found {} for 'budget', expected a number of seconds above 0", live.budget));
}

const OptionTable<LiveOptions>& live_options() {
  static const OptionTable<LiveOptions> table{
      option("requests", &LiveConfig::requests,
             "`true`: a person who can write into the output directory may ask for analyses that are not in this file, "
             "once or from now on (`sidestream ask`, `sidestream watch`).",
             {.standard = false}),
      option("budget", &LiveConfig::budget,
             "Seconds that such analyses may take in one iteration. When they are used up, the next one waits for "
             "another iteration. One that goes on and takes longer by itself is ended.",
             {.standard = 2, .minimum = 0, .range_text = "above 0"})
          .then(check_budget),
      option("hold", &LiveOptions::hold,
             "Variables whose values of the last iteration servers keep, in memory of their own, so that a request "
             "need not wait for the next one. No effect with `inline`.")};
  return table;
}

/// The ids of `hold`, with those of the arrays of their meshes. Servers that do not wait between two iterations ignore
/// them, so that one line moves the work.
std::vector<std::int32_t> held_by(const LiveOptions& live, const Settings& settings, const Metadata& metadata) {
  std::vector<std::int32_t> held;
  for (const Variable& variable : live.hold) {
    if (variable.derived()) {
      settings.fail("hold",
                    fmt::format("found the derived variable '{}', expected published ones; name those that it is "
                                "computed from",
                                variable.name));
    }
    held.push_back(variable.id);
  }
  if (!held.empty() && !live.requests) {
    settings.fail("hold", "found 'hold' without 'requests: yes', expected both; nobody may ask for what is kept");
  }
  return with_mesh_arrays(std::move(held), metadata);
}

LiveConfig read_live(const Document& document, const PlacementConfig& placement, const ReadContext& context) {
  const Settings settings = read_section(document, "live", context);
  LiveOptions live = live_options().read(settings, *context.metadata);
  if (live.requests && placement.forward == Forward::partials) {
    settings.fail("requests",
                  "found 'requests: yes' with 'forward: partials', expected another 'forward': requests run on servers "
                  "that have the blocks; remove one of them");
  }
  live.held = held_by(live, settings, *context.metadata);
  return live;
}

}  // namespace

Section live_section() {
  Option live{.name = "live", .type = OptionType::map, .default_value = "{}"};
  live.text = "Requests of people to the run while it goes on.";
  live.options = live_options().declarations();
  return {"live",
          SectionForm::option,
          "Requests of people to a running session. See [requests](requests.md).",
          "live: {requests: yes, budget: 5}",
          {live}};
}

FurtherVariables further_variables(const Config& config) {
  FurtherVariables found{config.metadata};
  for (std::size_t n = config.own_variables; n < config.metadata.variables.size(); ++n) {
    const Variable& variable = config.metadata.variables[n];
    if (variable.derived()) found.expressions.emplace(variable.id, variable.name);
  }
  return found;
}

namespace {

/// Adds the further variables, with the ids that they had.
void add_further(const FurtherVariables& further, const Document& document, const ExpressionContext& expressions,
                 Metadata& metadata) {
  for (std::size_t n = metadata.variables.size(); n < further.all.variables.size(); ++n) {
    const Variable& variable = further.all.variables[n];
    const auto expression = further.expressions.find(variable.id);
    if (expression != further.expressions.end()) {
      Node node;
      node.kind = Node::Kind::scalar;
      node.where = {document.file(), 1, 1};
      node.text = expression->second;
      derive_in_place(node, expressions, metadata);
      continue;
    }
    const auto mesh = static_cast<std::size_t>(variable.mesh);
    while (metadata.meshes.size() <= mesh) metadata.meshes.push_back(further.all.meshes.at(metadata.meshes.size()));
    metadata.variables.push_back(variable);
  }
}

/// Checks that the partials of a server's forwarders (none, one or several) can be merged.
void check_partials(const Config& config, const Registry& registry) {
  const PlacementConfig& placement = config.opening.placement;
  if (placement.mode != PlacementMode::nodes || placement.forward != Forward::partials) return;
  for (const TaskConfig& task : config.tasks) {
    if (task.uses >= 0) continue;  // a made mesh has blocks on its servers
    if (task.writer) {
      if (registry.writers().at(task.kind).any_partials) continue;
      fail(
          Code::configuration,
          "the output '{}' is written by the servers that have the blocks, but with 'forward: partials' they have none; "
          "write 'forward: blocks'",
          task.name);
    }
    if (registry.analyses().at(task.kind).takes_any_partials(task.settings)) continue;
    const std::string place = task.settings.where().text();
    fail(Code::configuration,
         "{}{}the analysis '{}' needs blocks on the servers that combine, expected one that combines reduced results "
         "only: with 'forward: partials' these servers have no blocks. Write 'forward: blocks'; a function of your own "
         "can have a `merge` instead",
         place, place.empty() ? "" : ": ", task.name);
  }
}

}  // namespace

Config read_config(const Document& document, const Registry& registry, const Parameters& parameters,
                   const Metadata& declared, const FurtherVariables& further) {
  Config config;
  config.opening = read_opening(document);
  Parameters all = parameters;  // the program's values override the file's
  all.merge(read_parameters(document));
  const ExpressionContext expressions{all, Stage::start};
  config.metadata = read_declarations(document, expressions, declared);
  read_derived(document, expressions, config.metadata);
  config.own_variables = config.metadata.variables.size();
  add_further(further, document, expressions, config.metadata);
  const ReadContext context = context_of(document, expressions, &config.metadata);
  config.steering = read_steering(document, context);
  config.steering_ahead = default_ahead(config.opening.placement);
  steering_ahead_options().fill(read_section(document, "steering_ahead", context), {}, config);
  config.live = read_live(document, config.opening.placement, context);
  // With `off` nothing runs, and kinds of plug-ins, which are not loaded then, are unknown.
  if (config.opening.placement.mode == PlacementMode::off) return config;
  PlacementConfig& placement = config.opening.placement;
  placement.partitioner_settings = read_partitioner(document, placement, registry, context);
  ReadContext of_tasks = context;
  of_tasks.derive = [&](const Node& node) { derive_in_place(node, expressions, config.metadata); };
  config.tasks = read_tasks(document, registry, of_tasks, config.metadata);
  const std::string folder = document.folder().empty() ? working_directory() : document.folder();
  check_task_files(config.tasks, registry, path_from(folder, config.opening.directory));
  for (const TaskConfig& task : config.tasks) check_then(task, config.opening, config.steering);
  check_partials(config, registry);
  assign_groups(config.tasks, placement.groups);
  if (config.opening.existing == Existing::resume) check_resumed_files(config.tasks, registry);
  config.events = read_events(document, config.tasks, registry, context);
  return config;
}

}  // namespace sidestream
