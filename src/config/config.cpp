#include "config/config.hpp"

#include "config/declarations.hpp"
#include "config/fail_at.hpp"
#include "config/names.hpp"
#include "config/opening.hpp"
#include "config/tasks.hpp"

namespace sidestream {

namespace {

void check_partitioner(const Document& document, const PlacementConfig& placement, const Registry& registry) {
  if (registry.partitioners().contains(placement.partitioner)) return;
  const Entry* entry = document.root().find("placement");
  const Entry* given = entry ? entry->value.find("partitioner") : nullptr;
  // A default needs no partitioner where none is used.
  if (given == nullptr && placement.mode != PlacementMode::nodes) return;
  const std::vector<std::string> known = keys_of(registry.partitioners());
  fail_at(given ? given->value.where : placement.where, "found the unknown partitioner '{}', expected one of {}; {}",
          placement.partitioner, listed(known), suggestion(placement.partitioner, known, "write one of them"));
}

}  // namespace

Config read_config(const Document& document, const Registry& registry, const Parameters& parameters,
                   const Metadata& declared) {
  Config config;
  config.opening = read_opening(document);
  check_partitioner(document, config.opening.placement, registry);
  Parameters all = parameters;  // what the program sets wins over what the file says
  all.merge(read_parameters(document));
  const ExpressionContext expressions{all, Stage::start};
  config.metadata = read_declarations(document, expressions, declared);
  const ReadContext context{expressions, &config.metadata};
  // With `off` nothing runs, and kinds of plug-ins, which are not loaded then, are not known.
  if (config.opening.placement.mode == PlacementMode::off) return config;
  config.tasks = read_tasks(document, registry, context);
  config.events = read_events(document, config.tasks, context);
  return config;
}

}  // namespace sidestream
