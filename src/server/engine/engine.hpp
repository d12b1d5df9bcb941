// A server's main loop: receive, agree, assemble, run what is due, release.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "server/engine/agreement.hpp"
#include "server/engine/assembler.hpp"
#include "server/engine/event_order.hpp"
#include "server/engine/guarded_communicator.hpp"
#include "server/engine/ledger.hpp"
#include "server/engine/scheduled_task.hpp"
#include "server/engine/triggers.hpp"
#include "server/steering/steering_server.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// What the engine works with; references outlive it.
struct EngineParts {
  const Metadata& metadata;
  const std::vector<std::string>& events;
  ServerTransport& transport;
  MpiCommunicator& servers;           ///< all servers; used by the engine alone
  std::vector<ScheduledTask>& tasks;  ///< in the file's order, the same on every server
  std::function<std::unique_ptr<Results>(const Iteration&)> results;
  std::vector<std::string> task_events;  ///< of each task: the event of `on`, or empty
  double origin = 0;                     ///< now() at the session's start
  bool timings = true;                   ///< keep what the ledger writes out
  MovementRules movement;                ///< how blocks get to servers that do not have them at hand
  std::int64_t first = 0;                ///< the iteration to begin with
  Triggers* triggers = nullptr;          ///< null: no task has a condition
  ScheduledTask* statistics = nullptr;   ///< what conditions need, as its feedback; null: nothing
  SteeringServer* steering = nullptr;    ///< null: nothing can be steered, or others tell the clients
  int node = -1;                         ///< this server's; -1: no client's
  std::int64_t clients = 0;              ///< of the simulation
  bool gaps = false;                     ///< blocks that do not come are not wanted: nothing is said of them
  LedgerRows rows{};                     ///< what becomes of the ledger's
};

/// Processes iterations in order. Each step is one agreement of all servers: an iteration is processed on all of them
/// or on none.
class Engine {
 public:
  explicit Engine(EngineParts parts);

  /// Processes iterations until every client of every server has closed, or, if `stop` is given, until it is true on
  /// some server between two iterations. `stop` is asked every few milliseconds. `meet`, if given, is called once at
  /// the end with the iteration that would be next, and returns where to end: not before it.
  using Meet = std::function<std::int64_t(std::int64_t)>;
  void run(const std::function<bool()>& stop = {}, const Meet& meet = {});
  /// One step without waiting for clients: the next iteration must be complete (placement `inline`), or all clients
  /// closed. False: all closed, nothing more to do. Collective over servers.
  bool step();
  /// Takes in what clients have sent, waiting for it no longer than `limit`. Failures are kept until the next
  /// agreement: it throws nothing and may be called while the engine waits for others.
  void receive(std::chrono::microseconds limit);
  [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }
  /// Logs, on rank 0, tasks that were thinned or never ran. Call once, at the end.
  void report() const;

 private:
  [[nodiscard]] Agreement agree();
  void check_cycles(const Agreement& agreement);
  void check_times(const Agreement& agreement);
  void steer(const Agreement& agreement);
  void take_events(Agreement& agreement);
  void check_blocks(Agreement& agreement);
  void check_absent(Agreement& agreement);
  void note_absent();
  [[nodiscard]] bool judge(const Agreement& agreement, std::unique_ptr<Results>& results);
  [[nodiscard]] std::string find_statistics(const Iteration& iteration, std::unique_ptr<Results>& results,
                                            std::vector<double>& values);
  [[nodiscard]] std::vector<std::size_t> due_tasks(const Agreement& agreement);
  [[nodiscard]] bool can_run(ScheduledTask& task, const Agreement& agreement);
  [[nodiscard]] bool counts_once(ScheduledTask& task);
  void count_absent(const Agreement& agreement);
  [[nodiscard]] Demand demand_of(const std::vector<std::size_t>& due, const Iteration& iteration) const;
  [[nodiscard]] const Assembled* assemble(const std::vector<std::size_t>& due, const Iteration& iteration,
                                          std::unique_ptr<Results>& results);
  /// What became of an iteration that the servers worked on.
  struct Processed {
    Outcome outcome = Outcome::delivered;
    std::string failures{};                ///< the tasks that failed
    std::optional<std::string> refusal{};  ///< a task says that nobody took it
  };
  [[nodiscard]] Processed process(const Agreement& agreement);
  void run_task(std::size_t number, const Iteration& iteration, const Assembled& assembled, Results& results,
                Processed& processed);
  void complain(std::int64_t iteration, const std::string& message);
  void broke() noexcept;
  [[noreturn]] void end_together();

  /// Numbers of the ledger's names.
  enum LedgerEntry : std::int32_t { idle = 0, agreement_wait = 1, assembly = 2, first_task = 3 };

  EngineParts parts_;
  GuardedCommunicator guarded_;  ///< the servers
  std::exception_ptr broken_;    ///< what ended this server's transport; the others learn of it when they agree
  Assembler assembler_;
  EventOrder events_;
  Ledger ledger_;
  std::int64_t next_;
  bool i_changed_ = true;                          ///< my blocks, since the table was updated
  std::vector<AbsentBlock> absent_, absent_said_;  ///< of my clients in this iteration; that the others know of
  std::string missing_, missing_told_;             ///< what is absent, in this iteration; that was logged last
  int told_ = 0;                                   ///< times that it was
  std::string left_out_;                           ///< tasks that miss variables in this iteration, and what is absent
  bool times_compared_ = false;                    ///< a difference was found, and said
};

}  // namespace sidestream
