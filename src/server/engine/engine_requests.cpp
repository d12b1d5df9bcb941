// The engine's part in requested analyses (asked_tasks.hpp).
//
// 1. While servers wait for clients, the first one rings a bell if it has requests (await_requests); servers that
//    receive together take a maximum instead (await_requests_in_step). So all servers take up the same requests at the
//    same point.
// 2. take_up_requests: new expressions become variables, and the agreement of the iteration is extended by them.
// 3. add_asked: due requests run after the configured tasks, only if no server lags and within their share of time.
// 4. answer_between: requests for one answer run on the iteration that is held, if it has their inputs.
// If assembling fails the requests are given up, not the iteration.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/engine.hpp"
#include "sidestream/kit/base/float_environment.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/data/beside_results.hpp"

namespace sidestream {

/// Takes up requests in the iteration that the first server's word announces.
void Engine::take_requests(Agreement& agreement) {
  if (!parts_.asked || (agreement.why & Refusal::left) != 0) return;
  const std::size_t steering = parts_.steering ? parts_.steering->words() : 0;
  if (agreement.words[agreement.words.size() - steering - 1] != 0) static_cast<void>(take_up_requests(&agreement));
}

/// Takes up requests. Returns true if there are any. Their expressions become new variables. `agreement`: of an
/// iteration that may be analysed now; it has room for them.
bool Engine::take_up_requests(Agreement* agreement) {
  const std::size_t known = parts_.metadata.variables.size();
  parts_.asked->take_up(next_);
  if (parts_.metadata.variables.size() == known) return false;
  assembler_.forget_views();
  if (agreement != nullptr) retry_while_out_of_memory([&] { agreement->mark_derived(parts_.metadata); });
  return true;
}

/// Describes what keeps an asked analysis from running in an iteration; empty if nothing does.
std::string Engine::obstacle(ScheduledTask& task, const Agreement& agreement) {
  const auto& wanted = task.selection().variables;
  const auto absent =
      std::find_if(wanted.begin(), wanted.end(), [&](const Selected& s) { return !agreement.has(s.variable); });
  std::string text;
  retry_while_out_of_memory([&] {
    if (absent != wanted.end()) {
      text = "nobody published '" + parts_.metadata.variables[static_cast<std::size_t>(absent->variable)].name + "'";
    } else if (counted_twice(task)) {
      text = "a block covers a part of a coarser cell, and what is there would count twice";
    }
  });
  return text;
}

/// Adds requested analyses, which run in spare time only: not in iterations in which clients are ahead of a server.
void Engine::add_asked(std::vector<std::size_t>& due, const Agreement& agreement) {
  for (std::size_t t = configured(); t < parts_.tasks.size(); ++t) {
    ScheduledTask& task = parts_.tasks[t];
    if (!task.schedule().due(agreement.at, true, agreement.wall_due(t), false)) {
      parts_.asked->waits(t, "no iteration came that its 'every', 'start' and 'end' name");
    } else if (agreement.lagging) {
      parts_.asked->missed(t);
    } else if (const std::string reason = obstacle(task, agreement); !reason.empty()) {
      parts_.asked->waits(t, reason);
    } else {
      due.push_back(t);
    }
  }
}

/// Gives up the requested analyses among due tasks, after values could not be assembled with them. Returns false if
/// there is none.
bool Engine::drop_asked(std::vector<std::size_t>& due, const Iteration& iteration, const std::string& failure) {
  const bool any = !due.empty() && due.back() >= configured();
  for (; !due.empty() && due.back() >= configured(); due.pop_back()) {
    parts_.asked->ran(due.back(), iteration, {failure});
  }
  return any;
}

void Engine::run_asked(std::size_t number, const Iteration& iteration, const Assembled& assembled, Results& results) {
  ScheduledTask& task = parts_.tasks[number];
  if (!parts_.asked->has_time()) {
    parts_.asked->waits(number, "other requests used the time of the iteration (live.budget)");
    return;
  }
  auto* const remarks = dynamic_cast<ResultServices*>(&results);
  if (remarks) static_cast<void>(remarks->take_remarks());
  const double start = now();
  const TaskOutcome done = task.run({iteration, parts_.metadata, assembled, events_.pending()}, results);
  const double seconds = now() - start;
  ledger_.work(iteration.index, first_task + static_cast<std::int32_t>(configured()), start - parts_.origin, seconds,
               task.local_seconds());
  std::string remark;
  if (remarks) retry_while_out_of_memory([&] { remark = remarks->take_remarks(); });
  parts_.asked->ran(number, iteration, {done.failure, std::move(remark), seconds});
}

/// Takes up requests while the first server waits for its next iteration. That server rings, and the others hear the
/// bell while they wait for their clients or for it. Collective. Returns the seconds that answers took.
double Engine::await_requests(const std::function<bool()>& stops, LateNote& late) {
  const auto receive_pending = [this] { receive(std::chrono::microseconds(0)); };
  double seconds = 0;
  for (bool asked = true; asked;) {
    bell_->listen();
    bool mine = false;
    const auto received = [&] {
      if (stops()) return true;
      retry_while_out_of_memory([&] { mine = !broken_ && parts_.asked->contribute(now()) != 0; });
      return mine || bell_->rung();
    };
    wait_for_clients(received, late);
    asked = bell_->ring(mine, receive_pending);
    if (!asked) break;
    const double start = now();
    answer_between();
    receive_pending();
    seconds += now() - start;
  }
  return seconds;
}

/// Does the same if all servers receive together, and so leave the loop together. In each round the first server says
/// whether there are requests.
double Engine::await_requests_in_step(const std::function<bool()>& stops, LateNote& late) {
  double seconds = 0;
  while (!broken_ && parts_.transport.state(next_).pending > 0 && !stops()) {
    std::int64_t asked = 0;
    retry_while_out_of_memory([&] { asked = parts_.asked->contribute(now()) != 0 ? 1 : 0; });
    if (parts_.servers.size() > 1) parts_.servers.maximum(std::span(&asked, 1));
    if (asked != 0) {
      const double start = now();
      answer_between();
      seconds += now() - start;
    }
    receive(std::chrono::milliseconds(10));
    if (next_ == 0) late.check();
  }
  return seconds;
}

/// Takes up requests while the servers wait for clients, and runs those wanted once on the held iteration.
void Engine::answer_between() {
  const FloatEnvironment environment;
  Agreement* const held = held_ ? held_->held() : nullptr;
  const bool more = take_up_requests(held);
  if (held == nullptr) return;
  if (more && !assembler_.absent().none()) {  // blocks may be missing for these too
    retry_while_out_of_memory(
        [&] { assembler_.settle_absent([&](std::int32_t variable) { return held->has(variable); }); });
  }
  for (std::size_t t = configured(); t < parts_.tasks.size(); ++t) {
    if (parts_.asked->runs_once(t)) run_on_held(t, *held);
  }
  parts_.asked->end_iteration();
  ledger_.refresh();
}

/// True if all that the task reads is held.
bool Engine::is_held(const ScheduledTask& task) const {
  const auto kept = [&](const auto& one) { return held_->keeps(one.variable); };
  return std::all_of(task.inputs().begin(), task.inputs().end(), kept) &&
         std::all_of(task.selection().ranges.begin(), task.selection().ranges.end(), kept);
}

void Engine::run_on_held(std::size_t number, const Agreement& held) {
  ScheduledTask& task = parts_.tasks[number];
  if (!is_held(task) || !parts_.asked->has_time() || !obstacle(task, held).empty()) return;
  if (!task.schedule().due(held.at, true, false, false)) return;
  std::unique_ptr<Results> results;
  const Assembled* assembled = nullptr;
  const std::vector<std::size_t> due{number};
  const auto work = [&] {
    results = parts_.results(held.at);
    Demand demand = demand_of(due, held.at);
    demand.repeats = false;
    assembled = &assembler_.assemble_once(*held_, held.at.index, demand);
  };
  const std::string failure = guarded_.attempt(work);
  if (failure.empty()) {
    run_asked(number, held.at, *assembled, *results);
  } else {
    parts_.asked->ran(number, held.at, {failure});
  }
  assembler_.end();
}

/// Keeps the iteration's values for requests. If that fails, nothing is held and the iteration continues.
void Engine::hold(const Agreement& agreement) {
  const double start = now();
  const auto work = [&] { held_->keep(parts_.transport, agreement, guarded_); };
  const std::string failure = guarded_.attempt(work);
  ledger_.work(next_, first_task + static_cast<std::int32_t>(configured()), start - parts_.origin, now() - start);
  if (failure.empty()) return;
  held_->drop();
  if (std::exchange(warned_of_holding_, true) || parts_.servers.rank() != 0) return;
  log::warning("iteration {} is not held for requests: {} (this is said once)", next_, failure);
}

}  // namespace sidestream
