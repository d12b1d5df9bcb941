// What a server has beside its transport: the output directory, the tasks, the engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "server/engine.hpp"
#include "storage/output.hpp"

namespace sidestream {

/// What the configuration asks for, in the file's order, without communicators. Throws what making a task throws.
[[nodiscard]] std::vector<Task> make_tasks(const Config& config, const Registry& registry,
                                           const std::shared_ptr<const OutputDirectory>& directory);

/// Made collectively over the servers; every server has one. `config` and `registry` outlive it.
class Serving {
 public:
  /// Throws the same Error on all servers if the directory cannot be written or a task cannot be made.
  Serving(MpiCommunicator& servers, const Config& config, const Registry& registry);
  /// Collective. `events`: of the simulation, by bit.
  void begin(ServerTransport& transport, const std::vector<std::string>& events, std::int64_t first, double origin);

  [[nodiscard]] MpiCommunicator& servers() noexcept { return servers_; }
  [[nodiscard]] bool has_begun() const noexcept { return engine_ != nullptr; }
  [[nodiscard]] Engine& engine() noexcept { return *engine_; }

 private:
  MpiCommunicator servers_;
  const Config& config_;
  const PartitionerKind* partitioner_;
  std::shared_ptr<const OutputDirectory> directory_;
  std::unique_ptr<ResultStore> results_;
  std::vector<Task> tasks_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace sidestream
