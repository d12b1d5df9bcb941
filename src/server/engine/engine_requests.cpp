// The engine's part in analyses that people ask for (asked_tasks.hpp).
#include <algorithm>
#include <string>

#include "base/waiting.hpp"
#include "server/engine/engine.hpp"

namespace sidestream {

/// Takes up what people ask for, in the iteration in which the first server's word says so.
void Engine::take_requests(const Agreement& agreement) {
  if (!parts_.asked || (agreement.why & Refusal::left) != 0) return;
  const std::size_t steering = parts_.steering ? parts_.steering->words() : 0;
  if (agreement.words[agreement.words.size() - steering - 1] != 0) parts_.asked->take_up(next_);
}

/// Adds asked analyses, which run in spare time only: not in iterations in which clients are ahead of a server.
void Engine::add_asked(std::vector<std::size_t>& due, const Agreement& agreement) {
  for (std::size_t t = configured(); t < parts_.tasks.size(); ++t) {
    ScheduledTask& task = parts_.tasks[t];
    if (!task.schedule().due(agreement.at, true, agreement.wall_due(t), false)) {
      parts_.asked->waits(t, "no iteration came that its 'every', 'start' and 'end' name");
      continue;
    }
    if (agreement.lagging) {
      parts_.asked->missed(t);
      continue;
    }
    const auto& wanted = task.selection().variables;
    const auto absent =
        std::find_if(wanted.begin(), wanted.end(), [&](const Selected& s) { return !agreement.has(s.variable); });
    if (absent != wanted.end()) {
      const std::string& name = parts_.metadata.variables[static_cast<std::size_t>(absent->variable)].name;
      retry_while_out_of_memory([&] { parts_.asked->waits(t, "nobody published '" + name + "'"); });
    } else if (counted_twice(task)) {
      parts_.asked->waits(t, "a block covers a part of a coarser cell, and what is there would count twice");
    } else {
      due.push_back(t);
    }
  }
}

/// Gives up the asked analyses among due tasks, since values could not be assembled with them. False if there is none.
bool Engine::drop_asked(std::vector<std::size_t>& due, const Iteration& iteration, const std::string& failure) {
  const bool any = !due.empty() && due.back() >= configured();
  for (; !due.empty() && due.back() >= configured(); due.pop_back()) {
    parts_.asked->ran(due.back(), iteration, failure, 0);
  }
  return any;
}

void Engine::run_asked(std::size_t number, const Iteration& iteration, const Assembled& assembled, Results& results) {
  ScheduledTask& task = parts_.tasks[number];
  if (!parts_.asked->has_time()) {
    parts_.asked->waits(number, "other requests used the time of the iteration (live.budget)");
    return;
  }
  const double start = now();
  const TaskOutcome done = task.run({iteration, parts_.metadata, assembled, events_.pending()}, results);
  const double seconds = now() - start;
  ledger_.work(iteration.index, first_task + static_cast<std::int32_t>(configured()), start - parts_.origin, seconds,
               task.local_seconds());
  parts_.asked->ran(number, iteration, done.failure, seconds);
}

}  // namespace sidestream
