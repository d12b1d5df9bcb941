#include "client/serving.hpp"

#include "base/agree.hpp"
#include "sidestream/version.h"

namespace sidestream {

Serving::Serving(MpiCommunicator& servers, const Config& config, const Registry& registry)
    : servers_(servers.comm()), config_(config) {
  const bool resume = config.opening.existing == Existing::resume;
  together(servers_, [&] {
    const std::string provenance =
        "Sidestream " SIDESTREAM_VERSION "; the configuration is in run.yaml beside the results";
    directory_ = open_output_directory(config.opening.directory, provenance, resume);
    results_ = make_result_store(registry, directory_, servers_.rank(), resume);
  });
  together(servers_, [&] { make_tasks(registry); });
  for (Task& task : tasks_) task.set_communicator(std::make_unique<MpiCommunicator>(servers_.comm()));
}

void Serving::make_tasks(const Registry& registry) {
  for (const TaskConfig& task : config_.tasks) {
    if (task.writer) {
      tasks_.emplace_back(task, nullptr,
                          registry.writers().at(task.kind).create(task.settings, config_.metadata, directory_));
    } else {
      tasks_.emplace_back(task, registry.analyses().at(task.kind).create(task.settings, config_.metadata), nullptr);
    }
  }
}

void Serving::begin(ServerTransport& transport, const std::vector<std::string>& events, std::int64_t first,
                    double origin) {
  std::vector<std::string> task_events;
  for (const TaskConfig& task : config_.tasks) task_events.push_back(task.schedule.event);
  EngineParts parts{config_.metadata,
                    events,
                    transport,
                    servers_,
                    tasks_,
                    [this](const Iteration& iteration) { return results_->begin(iteration); },
                    std::move(task_events),
                    origin,
                    config_.opening.timings,
                    {},  // blocks are at hand: nothing moves
                    first};
  engine_ = std::make_unique<Engine>(std::move(parts));
}

}  // namespace sidestream
