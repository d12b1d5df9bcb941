#include "session/serving/streams.hpp"

#include <sys/random.h>

#include <algorithm>
#include <set>
#include <utility>

#include "data/derivation.hpp"
#include "data/owned_points.hpp"
#include "session/serving/server_groups.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

namespace {

/// The metadata for readers: published variables, and derived ones up to the last one that an output sends. Readers see
/// all of these as published.
Metadata sent_part(const Config& config) {
  Metadata published = published_part(config.metadata);
  std::size_t count = published.variables.size();
  for (const TaskConfig& task : config.tasks) {
    if (task.uses >= 0 || task.kind != "stream" || !task.settings.has("variables")) continue;
    for (const std::string& name : task.settings.texts("variables")) {
      if (const Variable* one = config.metadata.find_variable(name)) {
        count = std::max(count, static_cast<std::size_t>(one->id) + 1);
      }
    }
  }
  Metadata sent = config.metadata;
  sent.variables.resize(count);
  sent.meshes = std::move(published.meshes);  // readers make the others themselves
  return sent;
}

void declare_to_streams(StreamContext& streams, const Config& config, const Declarations& declarations) {
  Declarations all;
  all.parameters = declarations.parameters;
  all.metadata = sent_part(config);
  all.attributes = declarations.attributes;
  streams.declarations = all.encode();
  streams.events = config.events;
}

}  // namespace

Config complete_config(const Document& document, const Registry& registry, const Declarations& declarations,
                       StreamContext* streams, const FurtherVariables& further) {
  Config config = read_config(document, registry, declarations.parameters, declarations.metadata, further);
  declarations.apply_arrays(config.metadata);
  if (streams) declare_to_streams(*streams, config, declarations);  // streams carry attributes besides the metadata
  declarations.apply_attributes(config.metadata);
  return config;
}

void begin_streams(StreamContext& streams, MpiCommunicator& servers) {
  std::int64_t session = 0;
  if (servers.rank() == 0 && getrandom(&session, sizeof session, 0) != sizeof session) {
    session = static_cast<std::int64_t>(Clock::now().time_since_epoch().count());
  }
  servers.sum(std::span(&session, 1));
  streams.session = static_cast<std::uint64_t>(session);
}

void choose_stream_tasks(StreamContext& streams, Config& config, std::size_t group, const Registry& registry,
                         const std::shared_ptr<const OutputDirectory>& directory) {
  streams.when_full = config.opening.placement.when_full == WhenFull::skip ? WhenFull::skip : WhenFull::wait;
  if (config.opening.placement.mode != PlacementMode::job) return;
  std::set<std::int32_t> needed, with_ghosts;
  for (const std::size_t n : tasks_of_group(config, group)) {
    const TaskConfig& task = config.tasks[n];
    const Selection selection =
        task.writer ? registry.writers().at(task.kind).create(task.settings, config.metadata, directory)->selection()
                    : registry.analyses().at(task.kind).create(task.settings, config.metadata)->selection();
    for (const Selected& one : inputs_of(selection.variables, config.metadata)) {
      needed.insert(one.variable);
      const Variable& variable = config.metadata.variables[static_cast<std::size_t>(one.variable)];
      const bool around = one.halo > 0 || (one.completed && lacks_nodes(config.metadata.mesh_of(variable), variable));
      if (one.ghosts || (variable.filled && around)) with_ghosts.insert(one.variable);
    }
    for (const RangeRequest& one : selection.ranges) {
      for (const Selected& input : inputs_of({one.variable}, config.metadata)) needed.insert(input.variable);
    }
  }
  streams.decides = true;
  const std::vector<ServerGroup>& groups = config.opening.placement.groups;
  if (!groups.empty()) streams.group = groups[group].name;
  // If no task needs variables, all are sent. The first group answers requests.
  if (!needed.empty() && group == 0) needed.insert(config.live.held.begin(), config.live.held.end());
  if (!needed.empty()) streams.variables.emplace(needed.begin(), needed.end());
  streams.with_ghosts.assign(with_ghosts.begin(), with_ghosts.end());
  TaskConfig task;
  task.kind = task.name = "stream";
  task.writer = true;
  task.group = group;
  task.settings = config.opening.placement.stream;
  config.tasks = {task};
}

void attach_streams(StreamContext& streams, ServerTransport& transport) {
  streams.signalled = [&transport](std::int64_t index) { return transport.state(index).inbox.end.events; };
  streams.blocks = [&transport](std::int64_t index) { return transport.state(index).tables.blocks; };
  streams.given_up = [&transport] {
    transport.receive(std::chrono::microseconds(0));
    return transport.state(0).abandoned;  // the same for all iterations
  };
}

}  // namespace sidestream
