// Analyses that people ask a running session for: docs/requests.md has the protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "server/engine/scheduled_task.hpp"
#include "server/steering/steering_server.hpp"

namespace sidestream {

/// Connection to the people who ask; used on the first server only. Its functions throw only if memory is short.
struct RequestChannel {
  std::function<std::vector<SteeringRequest>()> requests;  ///< returns new requests, each once
  std::function<void(const std::string& id, const std::string& sentence)> answer;
  /// records the analyses that go on: their names and texts
  std::function<void(const std::vector<std::pair<std::string, std::string>>&)> record;
};

/// Adds tasks behind the configured ones and removes them again, in the same iterations on all servers. They never
/// change the outcome of an iteration: if one fails, only the person who asked learns of it.
class AskedTasks {
 public:
  /// A task that was asked for. It runs once if `once`, otherwise by its schedule until it is ended.
  struct Made {
    TaskConfig config;
    std::unique_ptr<Task> task;
    bool once = true;
  };
  struct Parts {
    std::vector<ScheduledTask>& tasks;  ///< on construction: the configured ones
    Metadata& metadata;                 ///< with room for `most_new` more variables (make_room)
    MpiCommunicator& servers;
    /// Makes the task of a text, on every server. `running` are those that were asked for before. Expressions in the
    /// text become variables behind those of the metadata. Throws Error.
    std::function<Made(const std::string& text, const std::string& name, const std::vector<TaskConfig>& running)> make;
    std::optional<RequestChannel> channel;  ///< on the first server
    Watchdog* watchdog;
    double budget;  ///< seconds for asked tasks in one iteration
  };
  explicit AskedTasks(Parts parts);

  /// Variables that requests of one run may add: different expressions. They stay until the end, and none takes the
  /// number of another, so that everything that is kept by number stays right.
  static constexpr std::size_t most_new = 64;
  /// Makes room for them, so that no variable ever moves: tasks keep references. Call it before tasks are made.
  static void make_room(Metadata& metadata) { metadata.variables.reserve(metadata.variables.size() + most_new); }

  /// Sets a function that is called for each new task, after it has its communicator.
  void on_new(std::function<void(ScheduledTask&)> prepare) { prepare_ = std::move(prepare); }
  /// Returns this server's word of an agreement, which servers combine. `seconds`: any clock.
  [[nodiscard]] std::uint64_t contribute(double seconds);
  /// Takes up new requests, before iteration `index` is processed. Collective; call it if the combined word is not 0.
  void take_up(std::int64_t index);

  [[nodiscard]] std::size_t configured() const noexcept { return configured_; }
  /// A number for each task, never used twice.
  [[nodiscard]] std::size_t number_of(std::size_t task) const;
  /// True if the task runs once and has not run.
  [[nodiscard]] bool runs_once(std::size_t task) const {
    return entries_.at(task - configured_).once && !entries_.at(task - configured_).done;
  }
  /// True while the budget of this iteration lasts.
  [[nodiscard]] bool has_time() const noexcept { return spent_ < parts_.budget; }
  /// Records why a task does not run in this iteration.
  void waits(std::size_t task, const std::string& reason);
  /// Records that a task was due while the servers were busy: one that goes on misses this iteration.
  void missed(std::size_t task);
  /// The end of a run. `failure` is the same on all servers; `remark` is of the first one, and `seconds` of each.
  struct Ran {
    std::string failure{}, remark{};
    double seconds = 0;
  };
  /// Reports a run. Collective.
  void ran(std::size_t task, const Iteration& iteration, Ran ran);
  /// Removes tasks that have done their work. Collective.
  void end_iteration();
  /// Refuses waiting requests, since no more iterations come.
  void close();

 private:
  struct Entry {
    TaskConfig config;
    std::string id, text;
    bool once = true;
    std::size_t number = 0;
    double since = -1;     ///< when it could not run for the first time, on the first server; -1: not yet
    std::string reason{};  ///< why it waits
    std::int64_t runs = 0, missed = 0;
    bool done = false;
  };
  void add(const SteeringRequest& request, std::int64_t index);
  void end(const SteeringRequest& request);
  void end_impatient(double seconds);
  void answer(const std::string& id, const std::string& sentence) const;
  void record() const;
  [[nodiscard]] Entry& entry_of(std::size_t task) { return entries_.at(task - configured_); }

  Parts parts_;
  std::size_t configured_;
  std::vector<Entry> entries_;            ///< of parts_.tasks from `configured_` on
  std::vector<SteeringRequest> waiting_;  ///< on the first server: not taken up yet
  std::function<void(ScheduledTask&)> prepare_;
  std::size_t made_ = 0;  ///< number of tasks so far
  double spent_ = 0;      ///< seconds in this iteration
  double looked_ = -1;    ///< time of the last look for requests
};

}  // namespace sidestream
