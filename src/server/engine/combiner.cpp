#include "server/engine/combiner.hpp"

#include "sidestream/kit/base/float_environment.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

namespace {
enum LedgerEntry : std::int32_t { idle = 0, first_task = 1 };

std::vector<std::string> ledger_names(const std::vector<ScheduledTask>& tasks) {
  std::vector<std::string> names{"idle"};
  for (const ScheduledTask& task : tasks) names.push_back(task.name());
  return names;
}
}  // namespace

Combiner::Combiner(CombinerParts parts)
    : parts_(std::move(parts)), ledger_(ledger_names(parts_.tasks), parts_.timings, parts_.rows) {}

void Combiner::combine(const ReceivedRound& received) {
  const Iteration& iteration = received.round.iteration;
  const auto results = [&]() -> Results& {
    if (iteration_ != iteration.index) results_ = parts_.results(iteration);
    iteration_ = iteration.index;
    return *results_;
  };
  ScheduledTask& task = parts_.tasks.at(static_cast<std::size_t>(received.round.task));
  const double start = now();
  Bytes feedback;
  const ScheduledTask::PartialInput input{iteration, parts_.metadata, received.partials, received.round.pass};
  const std::string failure = task.combine_partials(input, std::cref(results), feedback);
  ledger_.work(iteration.index, first_task + received.round.task, start - parts_.origin, now() - start);
  parts_.receiver.answer(failure, feedback);  // the reducing servers report the failure, as they do their own
}

void Combiner::run() {
  const FloatEnvironment environment;
  for (;;) {
    const double start = now();
    const std::optional<ReceivedRound> received = parts_.receiver.next();
    if (!received) return;
    ledger_.work(received->round.iteration.index, idle, start - parts_.origin, now() - start);
    combine(*received);
  }
}

}  // namespace sidestream
