// A server's parts and their order: output directory, results, tasks, triggers, made meshes, engine.
//
// 1. Constructor (collective): opens the directory, removes results that are to be replaced, and makes the tasks of
//    this group in the file's order, each with its own communicator.
// 2. begin: connects tasks to steering and to senders, and makes the engine. A server that only combines partials gets
//    a Combiner instead.
// 3. run: until the clients have closed; then steering and senders are closed.
#include "session/serving/serving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/mpi/agree.hpp"
#include "config/tasks/tasks.hpp"
#include "reduce/triggers/trigger_statistics.hpp"
#include "server/isolation/worker.hpp"
#include "session/made/made_mesh.hpp"
#include "session/serving/server_groups.hpp"
#include "session/serving/told_needs.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/data/block_results.hpp"
#include "sidestream/version.h"
#include "storage/results/earlier_results.hpp"
#include "storage/results/result_store.hpp"

namespace sidestream {

std::unique_ptr<Task> Serving::make_task(std::size_t number, const Registry& registry) {
  const TaskConfig& task = config_.tasks[number];
  if (task.writer) return registry.writers().at(task.kind).create(task.settings, config_.metadata, directory_);
  std::unique_ptr<Task> made = registry.analyses().at(task.kind).create(task.settings, config_.metadata);
  if (task.isolated) {
    made =
        std::make_unique<IsolatedTask>(std::move(made), worker_settings(source_, config_, registry, number), objects_);
  }
  if (task.makes < 0) return made;
  std::vector<std::string> named;
  for (const TaskFile& file : files_of(task, registry)) named.push_back(file.pattern);
  const bool in_blocks = dynamic_cast<BlockMaker*>(made.get()) != nullptr;
  auto maker = std::make_unique<MakingTask>(std::move(made), std::move(named), in_blocks);
  makers_.emplace_back(task.makes, maker.get());
  return maker;
}

/// Makes the servings of the tasks that use meshes made here. Collective. Servers that only reduce have none.
void Serving::make_meshes(bool reduces) {
  for (const auto& [mesh, maker] : makers_) {
    if (reduces || tasks_of_group(config_, group_, mesh).empty()) continue;
    meshes_.push_back(std::make_unique<MadeMesh>(*servers_, group_, config_, registry_, source_, mesh));
    maker->set_mesh(meshes_.back().get());
  }
}

std::vector<std::size_t> Serving::own_tasks() const { return tasks_of_group(config_, group_, uses_); }

void Serving::report() const {
  if (engine_) engine_->report();
  for (const auto& mesh : meshes_) mesh->report();
}

Serving::~Serving() = default;

/// Makes the configured tasks of this group, in the file's order.
void Serving::make_tasks(const Registry& registry) {
  for (const std::size_t n : own_tasks()) {
    configs_.push_back(config_.tasks[n]);
    tasks_.emplace_back(config_.tasks[n], config_.metadata, make_task(n, registry));
    tasks_.back().set_watchdog(&watchdog_);
  }
}

/// Removes earlier results before any server writes: run_collectively() returns only when all servers are done. Each
/// group removes the files of its own tasks.
void Serving::remove_earlier(const Registry& registry) const {
  std::vector<std::string> patterns, meshes;
  for (const std::size_t n : own_tasks()) {
    for (const TaskFile& file : files_of(config_.tasks[n], registry)) patterns.push_back(file.pattern);
  }
  for (const Mesh& mesh : config_.metadata.meshes) meshes.push_back(mesh.name);
  remove_earlier_results(*directory_, patterns, meshes, registry.formats());
}

Serving::Serving(const Group& group, Config& config, const Registry& registry, WorkerSource source, bool reduces,
                 const Choose& choose)
    : servers_(group.servers.duplicate()),
      group_(group.number),
      uses_(group.uses),
      config_(config),
      registry_(registry),
      partitioner_(&registry.partitioners().at(config.opening.placement.partitioner)),
      source_(std::move(source)) {
  const OpeningConfig& opening = config.opening;
  const Continuation what = opening.existing != Existing::resume ? Continuation::nothing
                            : opening.same_session               ? Continuation::session
                                                                 : Continuation::run;
  run_collectively(*servers_, [&] {
    const std::string provenance =
        "Sidestream " SIDESTREAM_VERSION "; the configuration is in run.yaml beside the results";
    directory_ =
        open_output_directory(opening.directory, provenance, what, opening.fsync, opening.files, servers_->rank() == 0);
    if (opening.existing == Existing::replace && !reduces && servers_->rank() == 0) remove_earlier(registry);
    results_ = std::make_unique<ResultStore>(registry, directory_, reduces ? 1 : servers_->rank());
  });
  run_collectively(*servers_, [&] {
    if (config.live.requests) AskedTasks::reserve_variables(config_.metadata);
    if (choose) choose(directory_);
    make_tasks(registry);
    triggers_ = Triggers(configs_);
    if (triggers_.statistics().empty()) return;
    TaskConfig own;
    own.name = "when";
    statistics_ =
        std::make_unique<ScheduledTask>(own, config_.metadata, make_trigger_statistics(triggers_.statistics()));
  });
  for (ScheduledTask& task : tasks_) task.set_communicator(servers_->duplicate());
  if (statistics_) statistics_->set_communicator(servers_->duplicate());
  make_meshes(reduces);
}

/// The first group decides, as for steered parameters. Servers of another job do not tell the clients.
EndingParts Serving::ending_parts() const {
  EndingParts ending;
  const auto event = std::find(feed_.events.begin(), feed_.events.end(), ending_event);
  if (!feed_.ending || event == feed_.events.end()) return ending;
  EndingWatch* const watch = feed_.ending;
  ending.event = std::uint64_t{1} << (event - feed_.events.begin());
  if (feed_.steers) {
    ending.asked = [watch] { return watch->asked(); };
    ending.late = [watch] { return watch->is_late(); };
  }
  ending.tell = [watch] { watch->tell(); };
  ending.why = [watch] { return watch->reason(); };
  ending.decides = feed_.steers && group_ == 0;
  ending.at_once = config_.opening.placement.mode == PlacementMode::inline_ && feed_.steers;
  return ending;
}

/// Tells what is lost if other servers had the iterations before: kept iterations, and values that conditions look back
/// at. Analyses that last tell it themselves, since a state may have what they kept.
void Serving::begin_tasks() {
  for (ScheduledTask& task : tasks_) task.begin_with(feed_.begun_with);
  if (!config_.opening.same_session || feed_.begun_with == 0) return;
  results_->take_over_at(feed_.begun_with);
  if (servers_->rank() != 0) return;
  std::string rings, conditions;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const Condition* const when = configs_[t].schedule.when.get();
    if (tasks_[t].keeps()) rings += (rings.empty() ? "" : ", ") + tasks_[t].name();
    if (when && when->depth() > 0) conditions += (conditions.empty() ? "" : ", ") + tasks_[t].name();
  }
  const std::string since = fmt::format("these servers follow others, and begin with iteration {}", feed_.begun_with);
  if (!rings.empty()) log::warning("{}: what was kept before by 'keep_back' is lost, for {}", since, rings);
  if (!conditions.empty()) {
    log::warning("{}: conditions that look back ('previous', 'change', 'rate') begin anew, for {}", since, conditions);
  }
}

void Serving::write_owed() {
  if (engine_) engine_->write_owed();
  for (const auto& mesh : meshes_) mesh->write_owed();
}

void Serving::begin(Feed feed) {
  feed_ = std::move(feed);
  if (feed_.transport) objects_ = feed_.transport->traits().shared_objects;
  // One group tells the clients, so that they all learn of two changes in the same order.
  const bool steers = feed_.transport && feed_.steers && group_ == 0;
  steering_ = std::make_unique<SteeringLink>(config_, servers_->rank() == 0, steers);
  for (ScheduledTask& task : tasks_) task.set_steering(&steering_->sink());
  if (!feed_.index) feed_.begun_with = feed_.first;
  begin_tasks();
  for (const auto& mesh : meshes_) mesh->begin(feed_.events, feed_.origin, feed_.begun_with);
  const auto results = [this](const Iteration& iteration) { return results_->begin(iteration); };
  if (feed_.receiver) {
    combiner_ = std::make_unique<Combiner>(CombinerParts{config_.metadata, *feed_.receiver, tasks_, results,
                                                         feed_.origin, config_.opening.timings, feed_.rows});
    return;
  }
  for (std::size_t t = 0; t < tasks_.size(); ++t) tasks_[t].set_sender(feed_.sender, static_cast<std::int32_t>(t));
  std::vector<TaskEvent> task_events;
  for (const TaskConfig& task : configs_) task_events.push_back({task.schedule.event, task.schedule.from});
  const PlacementConfig& placement = config_.opening.placement;
  const bool is_inline = placement.mode == PlacementMode::inline_;  // also an endpoint
  AssignmentRules movement{partitioner_, placement.partitioner_settings, placement.move_all};
  // One group of servers answers requests: the group that has the blocks.
  if (config_.live.requests && feed_.answers && !feed_.sender && group_ == 0) {
    requests_ = std::make_unique<RequestLink>(RequestLink::Parts{config_, registry_, *servers_, tasks_, watchdog_});
  }
  engine_ = std::make_unique<Engine>(EngineParts{config_.metadata,
                                                 feed_.events,
                                                 *feed_.transport,
                                                 *servers_,
                                                 tasks_,
                                                 results,
                                                 std::move(task_events),
                                                 feed_.origin,
                                                 config_.opening.timings,
                                                 std::move(movement),
                                                 feed_.first,
                                                 triggers_.any() ? &triggers_ : nullptr,
                                                 statistics_.get(),
                                                 steering_->server(),
                                                 requests_ ? &requests_->tasks() : nullptr,
                                                 feed_.node,
                                                 feed_.clients,
                                                 feed_.gaps,
                                                 feed_.rows,
                                                 requests_ && feed_.hears && (feed_.in_step || !is_inline),
                                                 feed_.in_step,
                                                 config_.live.held,
                                                 feed_.index,
                                                 ending_parts()});
  const bool may_end = std::find(feed_.events.begin(), feed_.events.end(), ending_event) != feed_.events.end();
  const auto needs = needs_of(config_, {feed_.epoch, group_, feed_.first, may_end}, tasks_, statistics_.get());
  // Without room, or a way to tell them, the clients take everything as needed.
  if (needs && feed_.steers && uses_ < 0) static_cast<void>(feed_.transport->notify(*needs));
  if (feed_.sender) feed_.sender->set_meanwhile([this] { engine_->receive(std::chrono::microseconds(0)); });
}

void Serving::run(const std::function<bool()>& stop, const Engine::Meet& meet) {
  if (combiner_) return combiner_->run();
  engine_->run(stop, meet);
  write_owed();
  const bool stopped = stop && stop();
  steering_->close(!stopped);
  if (feed_.sender) feed_.sender->close();
}

}  // namespace sidestream
