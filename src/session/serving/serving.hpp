// What a server is, in every placement: the output directory, the tasks, and the loop that runs them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "server/engine/combiner.hpp"
#include "server/engine/engine.hpp"
#include "server/engine/watchdog.hpp"
#include "session/serving/steering_link.hpp"
#include "session/serving/worker_setup.hpp"
#include "storage/files/output_directory.hpp"

namespace sidestream {

/// Where a server gets its iterations from; what is not null outlives the serving.
struct Feed {
  ServerTransport* transport = nullptr;
  PartialSender* sender = nullptr;      ///< with a transport: others combine what is reduced here
  PartialReceiver* receiver = nullptr;  ///< instead of a transport: others have reduced
  std::vector<std::string> events;      ///< of the simulation, by bit
  std::int64_t first = 0;               ///< the iteration to begin with
  double origin = 0;                    ///< now() at the session's start
  int node = -1;                        ///< this server's, as clients count them; -1: none of theirs
  std::int64_t clients = 0;             ///< of the simulation
  bool steers = true;                   ///< the transport's clients are the simulation's ranks, or pass on to them
  bool gaps = false;                    ///< blocks that do not come are not wanted
  LedgerRows rows{};                    ///< what becomes of the ledger's
};

/// Made collectively over the servers (or the forwarders that reduce); every one of them has one.
class Serving {
 public:
  /// `reduces`: results come from those who combine. `choose`, if given, runs when the directory is open and before
  /// tasks are made, and may change those of `config`. Throws the same Error on all servers if the directory cannot be
  /// written or a task cannot be made. `config` and `registry` outlive it.
  using Choose = std::function<void(const std::shared_ptr<const OutputDirectory>&)>;
  /// Servers that work together, and which of `placement.groups` they are.
  struct Group {
    MpiCommunicator& servers;
    std::size_t number = 0;
  };
  Serving(const Group& group, const Config& config, const Registry& registry, WorkerSource source, bool reduces = false,
          const Choose& choose = {});
  /// Collective.
  void begin(Feed feed);
  /// Until all clients have closed, or `stop`: see Engine::run.
  void run(const std::function<bool()>& stop = {}, const Engine::Meet& meet = {});
  /// Placement `inline`: see Engine::step.
  bool step() { return engine_->step(); }

  [[nodiscard]] bool has_begun() const noexcept { return engine_ || combiner_; }
  /// What this server did; only after `begin`.
  [[nodiscard]] const Ledger& ledger() const noexcept { return engine_ ? engine_->ledger() : combiner_->ledger(); }
  /// Whether it agrees with others about iterations, and so knows what became of them.
  [[nodiscard]] bool decides() const noexcept { return engine_ != nullptr; }
  /// At the end: see Engine::report.
  void report() const {
    if (engine_) engine_->report();
  }

 private:
  void make_tasks(const Registry& registry);
  void remove_earlier(const Registry& registry) const;
  [[nodiscard]] std::unique_ptr<Task> make_task(std::size_t number, const Registry& registry);

  std::unique_ptr<MpiCommunicator> servers_;
  std::size_t group_;
  const Config& config_;
  const PartitionerKind* partitioner_;
  std::shared_ptr<const OutputDirectory> directory_;
  std::unique_ptr<ResultStore> results_;
  std::unique_ptr<SteeringLink> steering_;
  WorkerSource source_;
  std::vector<SharedObject> objects_;  ///< that workers may map
  Watchdog watchdog_;                  ///< of the tasks
  Triggers triggers_{{}};
  std::unique_ptr<ScheduledTask> statistics_;  ///< that the triggers need, if they need any
  std::vector<TaskConfig> configs_;            ///< of the tasks that run here
  std::vector<ScheduledTask> tasks_;           ///< likewise
  Feed feed_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Combiner> combiner_;
};

}  // namespace sidestream
