#include "commands.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/log.hpp"
#include "check_options.hpp"
#include "config/groups.hpp"
#include "config/options/document.hpp"
#include "config/stream_config.hpp"
#include "loading.hpp"
#include "mistakes.hpp"
#include "server/redistribution/movement.hpp"
#include "session/serving/record.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "summary.hpp"
#include "transport/staging/stream_data_engine.hpp"

namespace sidestream {

namespace {

/// Makes the tasks, since only they can do some checks.
void make_tasks(const Config& config, const Registry& registry) {
  const auto directory = dry_directory(config.opening.directory);
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

}  // namespace

namespace {

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
    staging::check_engine(opening.placement.stream, read_stream(opening.placement.stream).engine);
  }
  if (options.ranks > 0) check_buffer(config, options.ranks, nodes);
  const PlacementConfig& placement = config.opening.placement;
  if (placement.mode == PlacementMode::nodes && placement.forward != Forward::partials) {
    const MovementRules rules{&registry.partitioners().at(placement.partitioner), placement.partitioner_settings,
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

std::string check(const CheckOptions& options) {
  const Parameters parameters = parse_values(options);
  const Metadata declared = parse_declarations(options);
  const auto document =
      with_declarations(parse_document(read_text(options.file, "the configuration"), options.file), options);
  std::string text;
  const std::vector<std::string> mistakes =
      mistakes_of(*document, [&](const Document& part) { text = examine(options, part, parameters, declared); });
  if (mistakes.empty()) return text;
  throw Error(Code::configuration, message_of(options, mistakes));
}

void check_directory(const CheckOptions& options) {
  const auto document = parse_document(read_text(options.file, "the configuration"), options.file);
  const OpeningConfig opening = read_opening(*document);
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
