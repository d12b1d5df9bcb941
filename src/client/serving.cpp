#include "client/serving.hpp"

#include "base/agree.hpp"
#include "sidestream/version.h"

namespace sidestream {

std::vector<Task> make_tasks(const Config& config, const Registry& registry,
                             const std::shared_ptr<const OutputDirectory>& directory) {
  std::vector<Task> tasks;
  for (const TaskConfig& task : config.tasks) {
    if (task.writer) {
      tasks.emplace_back(task, nullptr,
                         registry.writers().at(task.kind).create(task.settings, config.metadata, directory));
    } else {
      tasks.emplace_back(task, registry.analyses().at(task.kind).create(task.settings, config.metadata), nullptr);
    }
  }
  return tasks;
}

Serving::Serving(MpiCommunicator& servers, const Config& config, const Registry& registry)
    : servers_(servers.comm()),
      config_(config),
      partitioner_(&registry.partitioners().at(config.opening.placement.partitioner)) {
  const bool resume = config.opening.existing == Existing::resume;
  together(servers_, [&] {
    const std::string provenance =
        "Sidestream " SIDESTREAM_VERSION "; the configuration is in run.yaml beside the results";
    directory_ = open_output_directory(config.opening.directory, provenance, resume);
    results_ = make_result_store(registry, directory_, servers_.rank(), resume);
  });
  together(servers_, [&] { tasks_ = make_tasks(config, registry, directory_); });
  for (Task& task : tasks_) task.set_communicator(std::make_unique<MpiCommunicator>(servers_.comm()));
}

void Serving::begin(ServerTransport& transport, const std::vector<std::string>& events, std::int64_t first,
                    double origin) {
  std::vector<std::string> task_events;
  for (const TaskConfig& task : config_.tasks) task_events.push_back(task.schedule.event);
  engine_ =
      std::make_unique<Engine>(EngineParts{config_.metadata,
                                           events,
                                           transport,
                                           servers_,
                                           tasks_,
                                           [this](const Iteration& iteration) { return results_->begin(iteration); },
                                           std::move(task_events),
                                           origin,
                                           config_.opening.timings,
                                           {partitioner_, config_.opening.placement.partitioner_settings, false},
                                           first});
}

}  // namespace sidestream
