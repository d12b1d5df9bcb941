// A server's main loop: receive, agree, assemble, run what is due, release.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/communicator.hpp"
#include "server/assembler.hpp"
#include "server/ledger.hpp"
#include "server/task.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// What the engine works with; references outlive it.
struct EngineParts {
  const Metadata& metadata;
  const std::vector<std::string>& events;
  ServerTransport& transport;
  MpiCommunicator& servers;  ///< all servers; used by the engine alone
  std::vector<Task>& tasks;  ///< in the file's order, the same on every server
  std::function<std::unique_ptr<Results>(const Iteration&)> results;
  std::vector<std::string> task_events;  ///< of each task: the event of `on`, or empty
  double origin = 0;                     ///< now() at the session's start
  bool timings = true;                   ///< keep what the ledger writes out
  MovementRules movement;                ///< how blocks get to servers that do not have them at hand
  std::int64_t first = 0;                ///< the iteration to begin with
};

/// Processes iterations in order. Each step is one agreement of all servers: an iteration is processed on all of them
/// or on none.
class Engine {
 public:
  explicit Engine(EngineParts parts);

  /// Processes iterations until every client of every server has closed, or, if `stop` is given, until it is true on
  /// some server between two iterations. `stop` is asked every few milliseconds.
  void run(const std::function<bool()>& stop = {});
  /// One step without waiting for clients: the next iteration must be complete (placement `inline`), or all clients
  /// closed. False: all closed, nothing more to do. Collective over servers.
  bool step();
  [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }
  /// Logs, on rank 0, tasks that were thinned or never ran. Call once, at the end.
  void report() const;

 private:
  /// What servers agree on, in words that are combined by bitwise or: equal values of those that know, zero of others.
  struct Agreement {
    bool iteration = false, closing = false, refused = false, lagging = false, changed = false;
    std::uint64_t events = 0;
    Iteration at;
    std::vector<std::uint64_t> words;  ///< variables that are there, tasks whose wall-clock time has come
  };
  [[nodiscard]] Agreement agree();
  [[nodiscard]] std::vector<std::uint64_t> my_words();
  [[nodiscard]] std::uint64_t my_flags();
  [[nodiscard]] std::vector<std::size_t> due_tasks(const Agreement& agreement);
  [[nodiscard]] bool all_there(const Task& task, const Agreement& agreement) const;
  void count_absent(const Agreement& agreement);
  [[nodiscard]] Demand demand_of(const std::vector<std::size_t>& due) const;
  [[nodiscard]] std::optional<Assembled> assemble(const std::vector<std::size_t>& due);
  [[nodiscard]] Outcome process(const Agreement& agreement);
  void run_task(std::size_t number, const Iteration& iteration, const Assembled& assembled, Results& results,
                bool& failed);
  void complain(std::int64_t iteration, const std::string& message);

  EngineParts parts_;
  Assembler assembler_;
  Ledger ledger_;
  std::int64_t next_;
  bool table_changed_ = true;  ///< since the last assembly, on some server; agreed
  bool i_changed_ = false;
};

}  // namespace sidestream
