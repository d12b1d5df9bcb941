// A server's main loop: receive, agree, assemble, run due tasks, release.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mpi/abort_flag.hpp"
#include "base/mpi/communicator.hpp"
#include "server/engine/agreement.hpp"
#include "server/engine/asked_tasks.hpp"
#include "server/engine/assembler.hpp"
#include "server/engine/event_order.hpp"
#include "server/engine/guarded_communicator.hpp"
#include "server/engine/held_iteration.hpp"
#include "server/engine/ledger.hpp"
#include "server/engine/schedule.hpp"
#include "server/engine/scheduled_task.hpp"
#include "server/steering/steering_server.hpp"
#include "sidestream/extend/kept_states.hpp"
#include "sidestream/extend/transport.hpp"
#include "sidestream/kit/base/wait_notes.hpp"

namespace sidestream {

/// The engine's connection to the signals and clocks that end a run.
struct EndingParts {
  std::uint64_t event = 0;             ///< bit of the event of the last iteration; 0: nothing can end the run
  std::function<bool()> asked{};       ///< true once this process was told to end; null: never
  std::function<bool()> late{};        ///< true once work that has not begun is dropped
  std::function<void()> tell{};        ///< called when another process was told to end
  std::function<std::string()> why{};  ///< the signal or limit that ended this process's run
  bool decides = false;                ///< these servers tell the clients which iteration is the last one
  bool at_once = false;                ///< clients end an iteration in its step, so that it may be the last one
};

/// The event that a task waits for.
struct TaskEvent {
  std::string name{};  ///< of `on`, or empty
  EventFrom from = EventFrom::any;
};

/// The engine's collaborators and settings; references must outlive it.
struct EngineParts {
  const Metadata& metadata;
  const std::vector<std::string>& events;
  ServerTransport& transport;
  MpiCommunicator& servers;           ///< all servers; used by the engine only
  std::vector<ScheduledTask>& tasks;  ///< in the file's order, the same on every server
  std::function<std::unique_ptr<Results>(const Iteration&)> results;
  std::vector<TaskEvent> task_events;   ///< by task
  double origin = 0;                    ///< now() at the session's start
  bool timings = true;                  ///< keep the rows that the ledger writes
  AssignmentRules movement;             ///< rules for moving blocks to servers that do not hold them
  std::int64_t first = 0;               ///< the first iteration
  Triggers* triggers = nullptr;         ///< null: no task has a condition
  ScheduledTask* statistics = nullptr;  ///< computes the statistics of conditions, returned as feedback; null: none
  SteeringServer* steering = nullptr;   ///< null: nothing can be steered, or other servers tell the clients
  AskedTasks* asked = nullptr;          ///< analyses that people ask for; null: nobody can
  int node = -1;                        ///< this server's node; -1: no client is on it
  std::int64_t clients = 0;             ///< number of clients of the simulation
  bool gaps = false;                    ///< missing blocks are expected, so they are not reported
  LedgerRows rows{};                    ///< handling of the ledger's rows
  bool hears = false;                   ///< requests are also taken up between two iterations
  bool in_step = false;                 ///< the transport receives collectively over the servers
  std::vector<std::int32_t> held{};     ///< variables whose values are kept for requests between two iterations
  /// Iteration index for tasks and messages, if an analysis of another engine publishes to this one: that engine's
  /// current iteration. That engine then reports failures of this one. Null: the transport's own count.
  const std::int64_t* index = nullptr;
  EndingParts ending{};
};

/// Processes iterations in order. Each step is one agreement of all servers: an iteration is processed on all of them
/// or on none.
class Engine {
 public:
  explicit Engine(EngineParts parts);

  /// Processes iterations until every client of every server has closed, or until `stop` returns true on some server
  /// between two iterations; `stop` is called every few milliseconds. At the end `meet`, if given, is called once with
  /// the next iteration's number, and returns the number at which to end, which must not be smaller.
  using Meet = std::function<std::int64_t(std::int64_t)>;
  void run(const std::function<bool()>& stop = {}, const Meet& meet = {});
  /// Performs one step without waiting for clients: the next iteration must be complete (placement `inline`), or all
  /// clients closed. Returns false if all have closed. Collective over servers.
  bool step();
  /// Receives from clients, waiting at most `limit`. Failures are kept until the next agreement, so this throws nothing
  /// and may be called while the engine waits for other servers.
  void receive(std::chrono::microseconds limit);
  [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }
  /// Lets all tasks keep their states after `iteration` (LastingTask::keep_state). Collective. `at_end`: these servers
  /// take no other.
  void keep_states(const Iteration& iteration, bool at_end);
  /// Lets all tasks hand over what remains after the last iteration (LastingTask::finish). Collective; call it once, at
  /// the end.
  void finish_tasks(const Iteration& last);
  /// Tries for the last time to write what outputs keep and could not write. Collective.
  void write_owed();
  /// Logs, on rank 0, tasks that were thinned or never ran. Call it once, at the end.
  void report() const;

 private:
  [[nodiscard]] std::int64_t index() const noexcept { return parts_.index ? *parts_.index : next_; }
  [[nodiscard]] Agreement agree();
  [[nodiscard]] std::size_t number_of(const TaskEvent& event) const;
  [[nodiscard]] bool is_signalled(const TaskEvent& event) const;
  void check_cycles(const Agreement& agreement);
  void check_times(const Agreement& agreement);
  void steer(const Agreement& agreement);
  // Defined in engine_ending.cpp.
  [[nodiscard]] bool is_asked_to_end();
  [[nodiscard]] bool is_late();
  void end_run(Agreement& agreement);
  void decide_on_end(Agreement& agreement);
  [[nodiscard]] bool notify_of_end(std::int64_t last);
  void announce_end(std::int64_t last);
  [[nodiscard]] bool is_last(const Agreement& agreement) const noexcept;
  [[nodiscard]] bool runs_at_end(ScheduledTask& task, const Agreement& agreement, bool due);
  void leave_out(const Agreement& agreement);
  void note_left_out(const std::string& task, std::int64_t iteration);
  void pass_kept(const Iteration& iteration);
  void report_left_out() const;
  void take_requests(Agreement& agreement);
  [[nodiscard]] bool take_up_requests(Agreement* agreement);
  void wait_for_clients(const std::function<bool()>& stops, LateNote& late);
  [[nodiscard]] double await_requests(const std::function<bool()>& stops, LateNote& late);
  [[nodiscard]] double await_requests_in_step(const std::function<bool()>& stops, LateNote& late);
  void answer_between();
  [[nodiscard]] bool is_held(const ScheduledTask& task) const;
  void run_on_held(std::size_t number, const Agreement& held);
  [[nodiscard]] bool can_hold() const;
  void hold(const Agreement& agreement);
  void take_events(Agreement& agreement);
  void check_blocks(Agreement& agreement);
  void check_absent(Agreement& agreement);
  void note_absent();
  [[nodiscard]] bool judge(const Agreement& agreement, std::unique_ptr<Results>& results);
  [[nodiscard]] std::string find_statistics(const Iteration& iteration, std::unique_ptr<Results>& results,
                                            std::vector<double>& values);
  [[nodiscard]] std::vector<std::size_t> due_tasks(const Agreement& agreement);
  void add_asked(std::vector<std::size_t>& due, const Agreement& agreement);
  [[nodiscard]] std::string obstacle(ScheduledTask& task, const Agreement& agreement);
  [[nodiscard]] bool drop_asked(std::vector<std::size_t>& due, const Iteration& iteration, const std::string& failure);
  [[nodiscard]] std::size_t configured() const noexcept {
    return parts_.asked ? parts_.asked->configured() : parts_.tasks.size();
  }
  [[nodiscard]] bool can_run(ScheduledTask& task, const Agreement& agreement);
  [[nodiscard]] bool counts_once(ScheduledTask& task);
  [[nodiscard]] std::optional<CoveredInPart> counted_twice(ScheduledTask& task);
  void count_absent(const Agreement& agreement);
  [[nodiscard]] Demand demand_of(const std::vector<std::size_t>& due, const Iteration& iteration) const;
  [[nodiscard]] const Assembled* assemble(std::vector<std::size_t>& due, const Iteration& iteration,
                                          std::unique_ptr<Results>& results);
  /// The result of an iteration that was processed.
  struct Processed {
    Outcome outcome = Outcome::delivered;
    std::string failures{};                ///< names of the tasks that failed
    std::optional<std::string> refusal{};  ///< the reason if a task refused the iteration
  };
  [[nodiscard]] Processed process(const Agreement& agreement);
  void run_task(std::size_t number, const Iteration& iteration, const Assembled& assembled, Results& results,
                Processed& processed);
  void run_asked(std::size_t number, const Iteration& iteration, const Assembled& assembled, Results& results);
  using TaskCall = void (LastingTask::*)(const Iteration&, Communicator&, Results&);
  void call_tasks(TaskCall call, const Iteration& iteration, const char* what);
  void end_of_iterations();
  void complain(std::int64_t iteration, const std::string& message);
  void mark_broken() noexcept;
  [[noreturn]] void throw_on_all();

  /// Indices of the ledger's names.
  enum LedgerEntry : std::int32_t { idle = 0, agreement_wait = 1, assembly = 2, first_task = 3 };

  EngineParts parts_;
  GuardedCommunicator guarded_;  ///< communicator of the servers
  std::exception_ptr broken_;    ///< exception that ended this server's transport; the others learn of it at the next
                                 ///< agreement
  Assembler assembler_;
  EventOrder events_;
  Ledger ledger_;
  std::optional<Bell> bell_;  ///< rung by the first server when somebody asks; unused in step, nothing if not `hears`
  std::optional<HeldIteration> held_;  ///< nothing if no variable is kept
  bool warned_of_holding_ = false;     ///< a failure was logged
  std::int64_t next_;
  std::size_t most_variables_;  ///< with those that requests may add
  bool i_changed_ = true;       ///< blocks of this server's clients changed since the table was updated
  std::vector<AbsentBlock> absent_, known_absent_;  ///< missing blocks of this server's clients in this iteration;
                                                    ///< those that the others know of
  std::string missing_, logged_missing_;  ///< text about missing blocks in this iteration; the text logged last
  int times_logged_ = 0;                  ///< number of times it was logged
  std::string left_out_;                  ///< tasks that miss variables in this iteration, and missing blocks
  std::string ending_task_;               ///< the task after which the run is told to end; empty: none
  bool clients_notified_ = false;         ///< the clients know that the run was told to end
  std::optional<std::int64_t> last_;      ///< the last iteration of a run that is told to end
  bool ended_ = false;                    ///< that iteration has come
  /// By task: number of iterations that were dropped in which it was due.
  std::map<std::string, std::int64_t> not_run_;
  std::int64_t first_dropped_ = -1, last_dropped_ = -1;  ///< iterations that were dropped because time was short
  std::optional<Iteration> latest_;                      ///< the last iteration
  bool finished_ = false;                                ///< no iteration follows
  bool times_compared_ = false;                          ///< true if differing times were found and reported
};

}  // namespace sidestream
