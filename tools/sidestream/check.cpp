#include "check.hpp"

#include "config/document.hpp"
#include "config/split.hpp"
#include "loading.hpp"
#include "server/movement.hpp"
#include "summary.hpp"

namespace sidestream {

namespace {

/// Making the tasks runs the checks that only they can do.
void make_tasks(const Config& config, const Registry& registry) {
  const auto directory = dry_directory(config.opening.directory);
  for (const TaskConfig& task : config.tasks) {
    if (task.writer) {
      static_cast<void>(registry.writers().at(task.kind).create(task.settings, config.metadata, directory));
    } else {
      static_cast<void>(registry.analyses().at(task.kind).create(task.settings, config.metadata));
    }
  }
}

}  // namespace

std::string check(const CheckOptions& options) {
  const Parameters parameters = parse_values(options);
  const Metadata declared = parse_declarations(options);
  const auto document = parse_document(read_text(options.file, "the configuration"), options.file);
  const OpeningConfig opening = read_opening(*document);
  const int nodes = opening.placement.pretend_nodes > 0 ? opening.placement.pretend_nodes : options.nodes;
  if (options.ranks > 0) check_split(opening.placement, options.ranks, options.ranks / nodes);
  const Registry registry = all_kinds(opening, options);
  const Config config = read_config(*document, registry, parameters, declared);
  make_tasks(config, registry);
  const PlacementConfig& placement = config.opening.placement;
  if (placement.mode == PlacementMode::nodes && placement.forward != Forward::partials) {
    check_partitioner({&registry.partitioners().at(placement.partitioner), placement.partitioner_settings, false},
                      config.metadata, placement.servers);
  }
  return summary(options, config, registry, nodes);
}

}  // namespace sidestream
