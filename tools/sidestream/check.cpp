// `sidestream check`: reads a configuration as a run would, without MPI.
//
// 1. examine: opening, placement on the given ranks and nodes, plug-ins, full configuration, group sizes. Then it makes
//    each task on a directory that nothing is written to, since some checks are the task's.
// 2. All mistakes are found (mistakes.cpp), not only the first, and printed together; otherwise a summary of what would
//    run.
#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/process.hpp"
#include "check_options.hpp"
#include "config/groups.hpp"
#include "config/options/document.hpp"
#include "config/options/option_text.hpp"
#include "config/stream_config.hpp"
#include "config/tasks/schedule_text.hpp"
#include "config/tasks/tasks.hpp"
#include "data/derivation.hpp"
#include "loading.hpp"
#include "server/redistribution/block_assignment.hpp"
#include "session/opening/modules.hpp"
#include "session/serving/record.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/names.hpp"
#include "storage/writers/kinds.hpp"

namespace sidestream {

namespace {

constexpr const char* line_format = "  {:<10} {}\n";

std::string counted(std::int64_t count, const std::string& one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string stream_text(const PlacementConfig& placement) {
  std::vector<std::string> paths;
  for (const StreamConfig& stream : streams_of(placement)) paths.push_back(stream.path());
  return fmt::format("job: in `sidestream endpoint`, to which {} on each node send{} the stream{} {}",
                     counted(placement.per_node, "rank"), placement.per_node == 1 ? "s" : "",
                     paths.size() == 1 ? "" : "s", listed(paths));
}

std::string placement_text(const PlacementConfig& placement, int ranks, int nodes) {
  if (placement.mode == PlacementMode::off) return "off: every call of the program does nothing";
  const bool job = placement.mode == PlacementMode::job, in_line = placement.mode == PlacementMode::inline_;
  const bool cores = placement.mode == PlacementMode::cores || job;
  const bool sidecar = placement.mode == PlacementMode::sidecar;
  const bool forwards = placement.mode == PlacementMode::nodes && placement.forward != Forward::none;
  std::string text =
      sidecar   ? fmt::format("sidecar: {} on each node, started by `sidestream serve`; session '{}'",
                              counted(placement.per_node, "server"), placement.session)
      : in_line ? "inline: on the simulation's ranks"
      : job     ? stream_text(placement)
      : cores   ? fmt::format("cores: {} on each node", counted(placement.per_node, "server"))
                : fmt::format("nodes: {}, blocks given by '{}'{}",
                            placement.whole_nodes > 0 ? "all ranks of " + counted(placement.whole_nodes, "node")
                                                        : counted(placement.servers, "server"),
                              placement.partitioner,
                            forwards ? fmt::format(", {} on each node", counted(placement.per_node, "forwarder")) : "");
  if (ranks > 0 && !in_line && !sidecar && !forwards && placement.whole_nodes == 0) {
    const int servers = cores ? placement.per_node * nodes : placement.servers;
    text += fmt::format("; of {} on {}: {}, {}", counted(ranks, "rank"), counted(nodes, "node"),
                        counted(ranks - servers, "client"), counted(servers, "server"));
  }
  const auto buffer = static_cast<std::int64_t>(placement.buffer);
  return text + fmt::format("; buffer {} a node, {} when full", format_byte_size(buffer),
                            placement.when_full == WhenFull::skip    ? "skip"
                            : placement.when_full == WhenFull::spill ? "spill"
                                                                     : "wait");
}

std::string mesh_text(const Mesh& mesh) {
  if (mesh.is_list()) return fmt::format("{}: {} in {} dimensions", mesh.name, mesh.geometry->kind(), mesh.dimensions);
  std::vector<Index> size;
  for (int axis = 0; axis < mesh.dimensions; ++axis) size.push_back(mesh.cells.extent(axis));
  return fmt::format("{}: {}, {} cells", mesh.name, mesh.geometry->kind(), fmt::join(size, " x "));
}

std::string variable_text(const Variable& variable, const Metadata& metadata) {
  const Mesh& mesh = metadata.mesh_of(variable);
  if (variable.role != Role::none || mesh.is_list()) {
    return fmt::format("{}: {} of {}, {} of {}{}; {}", variable.name, counted(variable.components, "component"),
                       name_of(variable.type),
                       variable.role == Role::none
                           ? fmt::format("on the {}s", name_of(variable.centering, mesh.dimensions))
                           : fmt::format("the {}", name_of(variable.role)),
                       mesh.name, variable.unit.empty() ? "" : ", in " + variable.unit,
                       variable.time_varying ? "each iteration" : "once");
  }
  const auto points = static_cast<double>(mesh.points(variable.centering).count());
  const double bytes = points * variable.components * static_cast<double>(size_of(variable.type));
  return fmt::format("{}: {} of {} on the {}s of {}{}; {} {}", variable.name, counted(variable.components, "component"),
                     name_of(variable.type), name_of(variable.centering, mesh.dimensions), mesh.name,
                     variable.unit.empty() ? "" : ", in " + variable.unit,
                     rounded_byte_size(static_cast<std::uint64_t>(bytes)),
                     variable.time_varying ? "an iteration" : "once");
}

std::string derived_text(const Variable& variable, const Metadata& metadata) {
  const std::string& text = variable.derivation->text();
  const std::string from = text == variable.name ? "" : " = " + text;
  std::vector<std::string> inputs;
  for (const std::int32_t input : variable.derivation->inputs()) {
    inputs.push_back(metadata.variables[static_cast<std::size_t>(input)].name);
  }
  return fmt::format("{}{}: {} of {}, from {}", variable.name, from, counted(variable.components, "component"),
                     name_of(variable.type), listed(inputs));
}

/// Explains the cycles of a schedule, since earlier versions ran in the first one of a run as well.
std::string cycles_text(const Schedule& schedule) {
  if (schedule.unit != Schedule::Unit::cycles || schedule.every == 1) return "";
  const double start = schedule.start.value_or(0);
  const char* how = schedule.first ? "" : "; 'first: yes' adds the first one of a run";
  return fmt::format(" (cycles {}, {}, {} ...{})", start, start + schedule.every, start + 2 * schedule.every, how);
}

/// True if the colours of a layer span exactly the values that its iteration shows.
bool spans_its_iteration(const std::string& kind, const Settings& layer) {
  if (layer.has("range")) return false;
  if (kind == "slice" || kind == "volume") return true;
  const bool own_values = kind == "threshold" || kind == "clip";
  return layer.has("colour_by") || (own_values && !layer.has("colour"));
}

/// Advice for a film whose colours mean something else in each frame.
std::string film_text(const TaskConfig& task) {
  if (task.writer || task.kind != "render" || task.settings.has("range")) return "";
  const std::string& file = task.settings.text("file");
  const bool replaced = file.find('{') == std::string::npos && !file.ends_with(".cdb");
  if (replaced) return "";  // by the next picture
  for (const char* kind : {"isosurface", "slice", "threshold", "clip", "particles", "volume", "streamlines"}) {
    for (const Settings& layer : task.settings.maps(kind)) {
      if (!spans_its_iteration(kind, layer)) continue;
      return "; each frame's colours span its own values, and a film wants 'range: running' or the ends of one";
    }
  }
  return "";
}

std::string task_text(const TaskConfig& task, const Metadata& metadata, const Registry& registry) {
  std::vector<std::string> files;
  if (task.writer && task.kind == "vtk") {  // its endings depend on the meshes, not on the file option
    files = vtk_list_files(task.settings, metadata);
  } else {
    for (const TaskFile& file : files_of(task, registry)) files.push_back(file.pattern);
  }
  const std::string kind = task.name == task.kind ? "" : fmt::format(" ({})", task.kind);
  const auto mesh = [&](std::int32_t id) { return metadata.meshes[static_cast<std::size_t>(id)].name; };
  std::string made;
  if (task.uses >= 0) made += fmt::format(", of '{}'", mesh(task.uses));
  if (task.makes >= 0) made += fmt::format(", makes '{}'", mesh(task.makes));
  return fmt::format("{}{}: {}{}{}", task.name, kind, describe(task.schedule) + cycles_text(task.schedule), made,
                     (files.empty() ? "" : fmt::format(" -> {}", listed(files))) + film_text(task));
}

/// The size of a group and its tasks.
std::string group_text(const Config& config, std::size_t number) {
  const ServerGroup& group = config.opening.placement.groups[number];
  std::vector<std::string> tasks;
  for (const TaskConfig& task : config.tasks) {
    if (task.group == number) tasks.push_back(task.name);
  }
  const PlacementMode mode = config.opening.placement.mode;
  const bool by_node = mode == PlacementMode::cores || mode == PlacementMode::sidecar;
  return fmt::format("{}: {}{} for {}", group.name, group.size > 0 ? counted(group.size, "server") : "servers",
                     by_node ? " on each node" : "", listed(tasks));
}

std::string output_text(const OpeningConfig& opening) {
  const char* existing = opening.existing == Existing::refuse    ? "refused"
                         : opening.existing == Existing::replace ? "replaced"
                                                                 : "resumed";
  return fmt::format("{} (an earlier run there is {})", opening.directory, existing);
}

/// The signals and the time that end the run.
std::string ending_text(const EndingConfig& ending) {
  std::vector<std::string> causes;
  for (const int signal : ending.signals) causes.push_back(name_of_signal(signal));
  if (ending.end_of_job) causes.emplace_back("the end of the job");
  if (ending.limit > 0) causes.push_back(fmt::format("{:g} s after the open", ending.limit));
  return fmt::format("by {}; margin {:g} s", listed(causes), ending.margin);
}

/// Summary of a checked configuration. `nodes`: assumed number of nodes of the ranks.
std::string summary(const CheckOptions& options, const Config& config, const Registry& registry, int nodes) {
  std::string text = fmt::format("{}: correct\n", options.file);
  const auto line = [&](const char* what, const std::string& content) {
    text += fmt::format(line_format, what, content);
  };
  line("placement", placement_text(config.opening.placement, options.ranks, nodes));
  for (const std::string& warning : config.opening.former_names) line("warning", warning);
  for (const std::string& warning : config.opening.placement.warnings) line("warning", warning);
  for (const std::string& note : config.opening.placement.notes) line("note", note);
  for (std::size_t g = 0; g < config.opening.placement.groups.size(); ++g) line("group", group_text(config, g));
  const bool for_nothing = config.opening.placement.groups.empty() &&
                           std::any_of(config.tasks.begin(), config.tasks.end(),
                                       [](const TaskConfig& task) { return task.settings.given("group"); });
  if (for_nothing) line("warning", "tasks name groups, and 'placement' has none: all servers run everything");
  line("output", output_text(config.opening));
  for (const auto& [path, where] : config.opening.plugins) line("plug-in", path);
  for (const Mesh& mesh : config.metadata.meshes) line("mesh", mesh_text(mesh));
  for (const Variable& variable : config.metadata.variables) {
    const bool made = config.metadata.mesh_of(variable).made;
    line(variable.derived() ? "derived"
         : made             ? "made"
                            : "variable",
         variable.derived() ? derived_text(variable, config.metadata) : variable_text(variable, config.metadata));
  }
  for (const TaskConfig& task : config.tasks)
    line(task.writer ? "output" : "analysis", task_text(task, config.metadata, registry));
  if (!config.events.empty()) line("events", listed(config.events));
  if (config.opening.ending.any()) line("ending", ending_text(config.opening.ending));
  return text;
}

/// Makes the tasks, since only they can do some checks.
void make_tasks(const Config& config, const Registry& registry) {
  const auto directory = null_directory(config.opening.directory);
  for (const TaskConfig& task : config.tasks) {
    try {
      if (task.writer) {
        static_cast<void>(registry.writers().at(task.kind).create(task.settings, config.metadata, directory));
      } else {
        static_cast<void>(registry.analyses().at(task.kind).create(task.settings, config.metadata));
      }
    } catch (const Error& error) {
      const std::string& file = task.settings.where().file;
      if (error.code() != Code::configuration || std::string(error.what()).starts_with(file + ":")) throw;
      throw MistakeAt{task.settings.where(), error.what()};
    }
  }
}

int node_count(const CheckOptions& options, const PlacementConfig& placement) {
  const bool known = options.ranks > 0;
  if (placement.pretend_nodes > 0)
    return known ? std::min(placement.pretend_nodes, options.ranks) : placement.pretend_nodes;
  if (known && options.nodes > options.ranks) {
    fail(Code::usage, "found --nodes {} and --ranks {}, expected at least one rank on each node; correct one",
         options.nodes, options.ranks);
  }
  return options.nodes;
}

/// Returns the summary; throws the first mistake.
std::string examine(const CheckOptions& options, const Document& document, const Parameters& parameters,
                    const Metadata& declared) {
  const OpeningConfig opening = read_opening(document);
  const int nodes = node_count(options, opening.placement);
  if (options.ranks > 0) check_split(opening.placement, options.ranks, nodes);
  const Registry registry = all_kinds(opening, document, options);
  Config config = read_config(document, registry, parameters, declared);
  if (opening.placement.whole_nodes == 0) {
    const bool anywhere = opening.placement.mode == PlacementMode::nodes;
    const int servers = anywhere ? opening.placement.servers : opening.placement.per_node;
    // With `job` they are the endpoint's, whose number is unknown here.
    settle_groups(config, opening.placement.mode == PlacementMode::job ? 0 : servers, anywhere ? 1 : nodes);
  }
  make_tasks(config, registry);
  if (opening.placement.mode == PlacementMode::job) {
    registry.streams().at(stream_name).check(opening.placement.stream);
  }
  if (options.ranks > 0) check_buffer(config, options.ranks, nodes);
  const PlacementConfig& placement = config.opening.placement;
  if (placement.mode == PlacementMode::nodes && placement.forward != Forward::partials) {
    const AssignmentRules rules{&registry.partitioners().at(placement.partitioner), placement.partitioner_settings,
                                false};
    if (placement.groups.empty()) check_partitioner(rules, config.metadata, placement.servers);
    for (const ServerGroup& group : placement.groups)
      check_partitioner(rules, config.metadata, std::max(group.size, 1));
  }
  return summary(options, config, registry, nodes);
}

/// All mistakes as one message. If only declarations by calls of the program are missing, explains how to give them.
std::string message_of(const CheckOptions& options, const std::vector<std::string>& mistakes) {
  std::string text = fmt::format("{}", fmt::join(mistakes, "\n"));
  if (mistakes.size() > 1) text = fmt::format("found {} mistakes in '{}':\n", mistakes.size(), options.file) + text;
  const bool given = !options.meshes.empty() || !options.variables.empty() || !options.declared.empty();
  if (!given && (text.find("expected a declared mesh") != std::string::npos ||
                 text.find("expected a declared variable") != std::string::npos)) {
    text +=
        "\n(what the program declares by calls can be given here: --mesh 'grid={size: [64, 64]}' --variable "
        "'t={mesh: grid}', or --declared FILE)";
  }
  return text;
}

}  // namespace

std::shared_ptr<const Document> configuration_of(const CheckOptions& options) {
  return parse_document(read_text(options.file, "the configuration"), options.file);
}

std::string check(const CheckOptions& options, const std::shared_ptr<const Document>& configuration) {
  const Parameters parameters = parse_values(options);
  const Metadata declared = parse_declarations(options);
  const auto document = with_declarations(configuration, options);
  std::string text;
  const std::vector<std::string> mistakes =
      mistakes_of(*document, [&](const Document& part) { text = examine(options, part, parameters, declared); });
  if (mistakes.empty()) return text;
  throw Error(Code::configuration, message_of(options, mistakes));
}

void check_directory(const CheckOptions& options, const Document& configuration) {
  const OpeningConfig opening = read_opening(configuration);
  // A configuration may have the name of a record and be in the directory of results.
  std::error_code ignored;
  const auto record = std::filesystem::path(opening.directory) / own_files::run_record;
  const bool is_itself = std::filesystem::equivalent(record, options.file, ignored);
  if (opening.placement.mode != PlacementMode::off && !is_itself) {
    try {
      refuse_earlier_run(opening);
    } catch (const Error& found) {
      // The configuration itself is correct: it may be checked in order to continue, or after the run.
      log::warning("{}", found.what());
    }
  }
}

}  // namespace sidestream
