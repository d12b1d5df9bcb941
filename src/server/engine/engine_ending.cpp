// The end of a run that is told to end, by a signal or a time limit.
//
// 1. Some process is told: a client reports it in its end of iteration, a server in its agreement.
// 2. While some clients have not heard of it, servers tell all clients. A client that has heard waits for the outcome
//    of each iteration before it begins the next one.
// 3. Once all clients have reported in iteration j that they have heard, iteration j + 1 is the last one. The clients
//    hear this before the outcome of j. They mark the end of their last iteration with an event, which reaches all
//    servers, also those of other groups and jobs.
// 4. Checkpoints run in the iteration with that event. When the time for iterations is over, all other work is dropped.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/engine/engine.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

/// True if this server or one of its clients was told to end, also in iterations that wait here; there may be many.
bool Engine::is_asked_to_end() {
  const EndingParts& ending = parts_.ending;
  if (ending.event == 0 || last_ || ended_) return false;
  if (ending.asked && (!ending_task_.empty() || ending.asked())) return true;
  if (clients_notified_ || broken_) return false;
  for (std::int64_t index = next_ + 1;; ++index) {
    const ServerState state = parts_.transport.state(index);
    if (state.ended == 0) return false;
    if (state.inbox.end.ending & Ending::asked) return true;
  }
}

/// One server's clock decides, so that all servers drop the same iterations.
bool Engine::is_late() {
  const EndingParts& ending = parts_.ending;
  return ending.event != 0 && !ended_ && parts_.servers.rank() == 0 && ending.late && ending.late();
}

bool Engine::is_last(const Agreement& agreement) const noexcept {
  return ((agreement.events | events_.bits()) & parts_.ending.event) != 0;
}

/// Decides on the end of the run, and drops the iteration if it comes too late.
void Engine::end_run(Agreement& agreement) {
  if (parts_.ending.event == 0) return;
  decide_on_end(agreement);
  if (is_last(agreement)) {
    ended_ = true;
  } else if (agreement.late) {
    agreement.refused = true;
    agreement.why |= Refusal::late;
  }
}

/// Closed clients hear nothing more, and iterations that they did not end are refused.
void Engine::decide_on_end(Agreement& agreement) {
  if (!agreement.asked || last_ || ended_ || (agreement.why & Refusal::left) != 0) return;
  if (!clients_notified_ && parts_.ending.tell) parts_.ending.tell();
  if (parts_.ending.at_once) {
    announce_end(next_);
    agreement.events |= parts_.ending.event;
  } else if (agreement.unasked) {
    if (!clients_notified_) clients_notified_ = notify_of_end(-1);
  } else if (parts_.ending.decides) {
    announce_end(next_ + 1);
  }
}

/// Tells the clients of the end; they may hear it twice.
bool Engine::notify_of_end(std::int64_t last) {
  bool sent = false;
  retry_while_out_of_memory([&] { sent = parts_.transport.notify({last, ending_notice, {}}); });
  return sent;
}

void Engine::announce_end(std::int64_t last) {
  last_ = last;
  try {
    if (!notify_of_end(last)) {
      fail(Code::internal, "the clients cannot be told of their last iteration");
    }
  } catch (...) {
    mark_broken();  // otherwise its clients would end in a different iteration
  }
  if (parts_.servers.rank() != 0) return;
  retry_while_out_of_memory([&] {
    log::info("iteration {}: the run was told to end by {}; its last iteration is {}", next_,
              ending_task_.empty() ? parts_.ending.why() : ending_task_, last);
  });
}

/// True if a task runs. `due`: by its schedule. In the last iteration checkpoints always run, and only these if time is
/// short.
bool Engine::runs_at_end(ScheduledTask& task, const Agreement& agreement, bool due) {
  if (parts_.ending.event == 0 || !is_last(agreement)) return due;
  if (task.for_restart()) return true;
  if (due && agreement.late) note_left_out(task.name(), next_);
  return due && !agreement.late;
}

/// Counts the tasks that were due in an iteration that is dropped for lack of time. Tasks with a condition do not
/// count, since their condition was not evaluated.
void Engine::leave_out(const Agreement& agreement) {
  if ((agreement.why & (Refusal::gave_up | Refusal::late)) == 0) return;
  for (std::size_t t = 0; t < configured(); ++t) {
    ScheduledTask& task = parts_.tasks[t];
    if (task.schedule().schedule().when) continue;
    const bool signalled = is_signalled(parts_.task_events[t]);
    if (!task.schedule().due(agreement.at, signalled, agreement.wall_due(t), agreement.lagging)) continue;
    note_left_out(task.name(), next_);
  }
  if (first_dropped_ < 0) first_dropped_ = next_;
  last_dropped_ = next_;
}

void Engine::note_left_out(const std::string& task, std::int64_t iteration) {
  retry_while_out_of_memory([&] { left_out_ += (left_out_.empty() ? "" : "; ") + task + " left out"; });
  retry_while_out_of_memory([&] { ++not_run_[task]; });
  if (first_dropped_ < 0) first_dropped_ = iteration;
  last_dropped_ = iteration;
}

/// Calls a function of every task. Collective. A failure of one task does not prevent the calls of others. `what`: what
/// is missing if a call fails, since the iteration itself has its results. The engine of a made mesh throws the failure
/// instead, on all servers alike, for the engine outside to report.
void Engine::call_tasks(TaskCall call, const Iteration& iteration, const char* what) {
  std::string failures;
  const auto take = [&](const std::string& failure) {
    if (failure.empty()) return;
    retry_while_out_of_memory([&] {
      if (!parts_.index) return complain(iteration.index, fmt::format("{}: {}", what, failure));
      failures += (failures.empty() ? "" : "; ") + failure;
    });
  };
  std::unique_ptr<Results> results;
  take(guarded_.attempt([&] { results = parts_.results(iteration); }));
  for (std::size_t t = 0; results && t < configured(); ++t) {
    take(parts_.tasks[t].call(call, iteration, *results));
  }
  if (!failures.empty()) throw Error(Code::analysis, failures);
}

void Engine::keep_states(const Iteration& iteration, bool at_end) {
  call_tasks(&LastingTask::keep_state, iteration,
             at_end ? "the state at the end of the run, with which another could go on, is not kept"
                    : "the state after it, with which another run could go on, is not kept");
}

void Engine::finish_tasks(const Iteration& last) {
  if (std::exchange(finished_, true)) return;
  call_tasks(&LastingTask::finish, last, "the results at the end of the run are not complete");
  write_owed();
}

void Engine::write_owed() {
  const auto owes = [](const ScheduledTask& task) { return task.owes(); };
  if (!latest_ || std::none_of(parts_.tasks.begin(), parts_.tasks.end(), owes)) return;
  std::unique_ptr<Results> results;
  const std::string failure = guarded_.attempt([&] { results = parts_.results(*latest_); });
  if (!failure.empty()) return complain(latest_->index, failure);
  for (ScheduledTask& task : parts_.tasks) task.write_owed_at_end(*latest_, parts_.metadata, *results);
}

/// Keep the states first: a resumed run continues results that are handed over incomplete here.
void Engine::end_of_iterations() {
  if (finished_ || !latest_) return;
  keep_states(*latest_, true);
  finish_tasks(*latest_);
}

void Engine::report_left_out() const {
  if (first_dropped_ < 0 || parts_.index) return;
  std::string tasks;
  for (const auto& [name, count] : not_run_) {
    tasks += fmt::format("{}{} {} {}", tasks.empty() ? "" : ", ", name, count, count == 1 ? "time" : "times");
  }
  log::warning("iterations {} to {}: not all was done, since the time was over; left out: {}", first_dropped_,
               last_dropped_, tasks.empty() ? "nothing that was due" : tasks);
}

namespace {

/// Names of the variables that were missing when the task was due.
std::string missing_of(const ScheduledTask& task, const Metadata& metadata) {
  std::string names;
  for (const int variable : task.missing) {
    names += (names.empty() ? "'" : ", '") + metadata.variables[static_cast<std::size_t>(variable)].name + "'";
  }
  return names;
}

}  // namespace

void Engine::report() const {
  for (const ScheduledTask& task : parts_.tasks) {
    const Overruns& overruns = task.overruns();
    if (overruns.count == 0) continue;
    log::warning(
        "{}: took longer than its limit of {:g} s in {} iterations on server {}, {:.3g} s at most, in iteration {}",
        task.name(), task.limit(), overruns.count, parts_.servers.rank(), overruns.longest, overruns.iteration);
  }
  if (parts_.servers.rank() != 0) return;
  report_left_out();
  if ((events_.bits() & ~parts_.ending.event) != 0) {
    log::warning("events were raised in the last iterations, which were refused: they have not taken effect");
  }
  if (const std::string unreached = events_.unreached(); !unreached.empty()) {
    log::warning("barriers that not all clients have come to: {}", unreached);
  }
  for (const Ledger::Failure& failure : ledger_.failures()) {
    if (failure.count == 1 || parts_.index) continue;
    log::error("iterations {} to {}: failed like iteration {} in {} cases: {}", failure.first_iteration,
               failure.last_iteration, failure.first_iteration, failure.count, failure.message);
  }
  for (ScheduledTask& task : parts_.tasks) {
    if (task.schedule().thinned() > 0) {
      log::warning("{}: left out in {} of {} iterations because the servers lagged behind (every: auto)", task.name(),
                   task.schedule().thinned(), next_);
    }
    if (task.not_there > 0) {
      log::warning("{}: {}: it was due {} times when nobody had published {}", task.name(),
                   task.runs == 0 ? "never ran" : "left out", task.not_there, missing_of(task, parts_.metadata));
    }
    if (task.incomplete > 0) {
      log::warning("{}: written {} times without what nobody had published then: {}", task.name(), task.incomplete,
                   missing_of(task, parts_.metadata));
    }
  }
}

}  // namespace sidestream
