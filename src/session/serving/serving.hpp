// The server in every placement: output directory, tasks, and the loop that runs them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "server/engine/combiner.hpp"
#include "server/engine/engine.hpp"
#include "server/engine/watchdog.hpp"
#include "session/ending.hpp"
#include "session/serving/steering_link.hpp"
#include "session/serving/worker_setup.hpp"
#include "storage/files/output_directory.hpp"

namespace sidestream {

class ResultStore;

/// The source of a server's iterations. Pointers that are not null must outlive the serving.
struct Feed {
  ServerTransport* transport = nullptr;
  PartialSender* sender = nullptr;  ///< used with a transport: other servers combine the results that are reduced here
  PartialReceiver* receiver = nullptr;  ///< used instead of a transport: other ranks have reduced
  std::vector<std::string> events;      ///< events of the simulation, by bit
  std::int64_t first = 0;               ///< first iteration
  double origin = 0;                    ///< now() at the session's start
  int node = -1;                        ///< this server's node in the clients' numbering; -1: no client is on it
  std::int64_t clients = 0;             ///< number of clients of the simulation
  bool steers = true;                   ///< true if the transport's clients are the simulation's ranks, or forward to
                                        ///< them
  bool gaps = false;                    ///< true if missing blocks are not wanted
  LedgerRows rows{};                    ///< destination of the ledger's rows
  bool answers = true;                  ///< true if people may ask these servers for analyses
  bool hears = true;                    ///< true if servers may communicate while they wait for clients
  bool in_step = false;                 ///< true if receiving is collective over the servers
  const std::int64_t* index = nullptr;  ///< see EngineParts::index
  EndingWatch* ending = nullptr;        ///< null: nothing can end the run
  std::uint64_t epoch = 0;              ///< tells servers of `sidecar` from those before them
  std::int64_t begun_with = 0;          ///< the run's first iteration here; set by the serving, but for made meshes
};

class MadeMesh;
class MakingTask;

/// Runs the tasks of one server. Constructed collectively over the servers (or the forwarders that reduce).
class Serving {
 public:
  /// `reduces`: other servers combine, and write the results. `choose`, if given, runs after the directory is open and
  /// before tasks are made; it may change the tasks of `config`. Throws the same Error on all servers if the directory
  /// cannot be written or a task cannot be made. `config` and `registry` must outlive this object; expressions of
  /// requests add variables to `config`.
  using Choose = std::function<void(const std::shared_ptr<const OutputDirectory>&)>;
  /// Servers that work together, and their index in `placement.groups`. `uses`: they run the tasks that use this mesh,
  /// made by one of their analyses; -1: the tasks of published variables.
  struct Group {
    MpiCommunicator& servers;
    std::size_t number = 0;
    std::int32_t uses = -1;
  };
  Serving(const Group& group, Config& config, const Registry& registry, WorkerSource source, bool reduces = false,
          const Choose& choose = {});
  ~Serving();
  /// Begins serving. Collective.
  void begin(Feed feed);
  /// Runs until all clients have closed, or `stop` is true: see Engine::run.
  void run(const std::function<bool()>& stop = {}, const Engine::Meet& meet = {});
  /// For placement `inline`: see Engine::step.
  bool step() { return engine_->step(); }
  /// For the tasks of made meshes: see Engine::keep_states and Engine::finish_tasks.
  void keep_states(const Iteration& iteration) { engine_->keep_states(iteration, false); }
  void finish_tasks(const Iteration& last) { engine_->finish_tasks(last); }
  /// See Engine::write_owed; for made meshes, too.
  void write_owed();

  [[nodiscard]] bool has_begun() const noexcept { return engine_ || combiner_; }
  /// The statistics of this server; only after `begin`.
  [[nodiscard]] const Ledger& ledger() const noexcept { return engine_ ? engine_->ledger() : combiner_->ledger(); }
  /// True if this server agrees with others about iterations, and so knows their outcomes.
  [[nodiscard]] bool decides() const noexcept { return engine_ != nullptr; }
  /// Call at the end: see Engine::report.
  void report() const;

 private:
  void begin_tasks();
  void make_tasks(const Registry& registry);
  void make_meshes(bool reduces);
  [[nodiscard]] EndingParts ending_parts() const;
  [[nodiscard]] std::vector<std::size_t> own_tasks() const;
  void remove_earlier(const Registry& registry) const;
  [[nodiscard]] std::unique_ptr<Task> make_task(std::size_t number, const Registry& registry);

  std::unique_ptr<MpiCommunicator> servers_;
  std::size_t group_;
  std::int32_t uses_;
  Config& config_;
  const Registry& registry_;
  const PartitionerKind* partitioner_;
  std::shared_ptr<const OutputDirectory> directory_;
  std::unique_ptr<ResultStore> results_;
  std::unique_ptr<SteeringLink> steering_;
  WorkerSource source_;
  std::vector<SharedObject> objects_;                         ///< memory that workers may map
  Watchdog watchdog_;                                         ///< watches the tasks
  std::vector<std::unique_ptr<MadeMesh>> meshes_;             ///< meshes that tasks make and others use
  std::vector<std::pair<std::int32_t, MakingTask*>> makers_;  ///< the tasks that make each mesh
  Triggers triggers_{{}};
  std::unique_ptr<ScheduledTask> statistics_;  ///< statistics that the triggers need, if any
  std::vector<TaskConfig> configs_;            ///< configurations of the tasks that run here
  std::vector<ScheduledTask> tasks_;           ///< the tasks that run here
  std::unique_ptr<RequestLink> requests_;      ///< null if nobody can ask these servers for analyses
  Feed feed_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Combiner> combiner_;
};

}  // namespace sidestream
