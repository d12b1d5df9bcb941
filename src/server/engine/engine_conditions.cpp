// Evaluation of the tasks' conditions (`when`) on the servers.
#include <algorithm>
#include <functional>
#include <limits>

#include "server/engine/engine.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

/// Computes the statistics of the conditions. Returns what failed on any server; empty if nothing did. Collective.
std::string Engine::find_statistics(const Iteration& iteration, std::unique_ptr<Results>& results,
                                    std::vector<double>& values) {
  const double start = now();
  const Assembled* assembled = nullptr;
  const auto work = [&] {
    Demand demand;
    demand.tasks = {parts_.tasks.size()};  // not the number of any task
    demand.selection = parts_.statistics->inputs();
    demand.derived = parts_.statistics->derived();
    demand.iteration = iteration;
    demand.counts = true;
    results = parts_.results(iteration);
    assembled = &assembler_.assemble(parts_.transport, next_, demand);
  };
  std::string failure = guarded_.attempt(work);
  if (failure.empty()) failure = parts_.statistics->run({iteration, parts_.metadata, *assembled}, *results).failure;
  if (failure.empty()) retry_while_out_of_memory([&] { values = records_of<double>(parts_.statistics->feedback()); });
  ledger_.work(next_, assembly, start - parts_.origin, now() - start);
  return failure;
}

/// Evaluates the conditions. Returns false, on all servers, if that failed.
bool Engine::judge(const Agreement& agreement, std::unique_ptr<Results>& results) {
  if (!parts_.triggers) return true;
  std::vector<double> values(parts_.triggers->statistics().size(), std::numeric_limits<double>::quiet_NaN());
  const auto published = [&](const Statistic& one) { return agreement.has(one.variable); };
  const std::vector<Statistic>& wanted = parts_.triggers->statistics();
  if (std::any_of(wanted.begin(), wanted.end(), published)) {
    const std::string failure = find_statistics(agreement.at, results, values);
    if (!failure.empty()) {
      complain(index(), "the statistics for conditions (when): " + failure);
      parts_.triggers->skip();
      return false;
    }
  }
  retry_while_out_of_memory([&] { parts_.triggers->judge(agreement.at, values); });
  return true;
}

}  // namespace sidestream
