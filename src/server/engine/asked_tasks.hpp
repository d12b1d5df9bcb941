// Analyses that people request from a running session; docs/requests.md has the protocol.
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

/// Connection to people with requests; used on the first server only. Its functions throw only if memory is short.
struct RequestChannel {
  std::function<std::vector<SteeringRequest>()> requests;  ///< returns new requests, each once
  std::function<void(const std::string& id, const std::string& sentence)> answer;
  /// records the repeated analyses: their names and texts
  std::function<void(const std::vector<std::pair<std::string, std::string>>&)> record;
};

/// Adds tasks after the configured ones and removes them again, in the same iterations on all servers. They never
/// change the outcome of an iteration: a failure is reported only to the person who made the request.
class AskedTasks {
 public:
  /// A requested task. If `once` is true it runs once, otherwise by its schedule until it is ended.
  struct Made {
    TaskConfig config;
    std::unique_ptr<Task> task;
    bool once = true;
  };
  struct Parts {
    std::vector<ScheduledTask>& tasks;  ///< on construction: the configured ones
    Metadata& metadata;                 ///< with room for `most_new` more variables (reserve_variables)
    MpiCommunicator& servers;
    /// Makes the task of a text, on every server. `running`: the tasks of earlier requests. Expressions in the text are
    /// appended to the variables of the metadata. Throws Error.
    std::function<Made(const std::string& text, const std::string& name, const std::vector<TaskConfig>& running)> make;
    std::optional<RequestChannel> channel;  ///< on the first server
    Watchdog* watchdog;
    double budget;  ///< seconds for asked tasks in one iteration
  };
  explicit AskedTasks(Parts parts);

  /// Most variables that the requests of one run may add, one for each different expression. They exist until the end,
  /// and no number is reused, so that everything stored by number stays valid.
  static constexpr std::size_t most_new = 64;
  /// Reserves memory for those variables, so that no variable ever moves: tasks keep references. Call it before tasks
  /// are made.
  static void reserve_variables(Metadata& metadata) {
    metadata.variables.reserve(metadata.variables.size() + most_new);
  }

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
  /// Records that a task was due while the servers were busy: a repeated task misses this iteration.
  void missed(std::size_t task);
  /// The result of a run. `failure` is the same on all servers; `remark` is the first server's, `seconds` each server's
  /// own.
  struct Ran {
    std::string failure{}, remark{};
    double seconds = 0;
  };
  /// Reports a run. Collective.
  void ran(std::size_t task, const Iteration& iteration, Ran ran);
  /// Removes tasks that are done. Collective.
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
  void end_overdue(double seconds);
  void answer(const std::string& id, const std::string& sentence) const;
  void record() const;
  [[nodiscard]] Entry& entry_of(std::size_t task) { return entries_.at(task - configured_); }

  Parts parts_;
  std::size_t configured_;
  std::vector<Entry> entries_;            ///< entries of parts_.tasks from index `configured_` on
  std::vector<SteeringRequest> waiting_;  ///< on the first server: requests not taken up yet
  std::function<void(ScheduledTask&)> prepare_;
  std::size_t made_ = 0;  ///< number of tasks so far
  double spent_ = 0;      ///< seconds in this iteration
  double polled_ = -1;    ///< time of the last poll for requests
};

}  // namespace sidestream
