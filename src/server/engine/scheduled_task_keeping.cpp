// Iterations that an output keeps back (`keep_back`). Everything here is collective: all servers keep and write the
// same.
//
// 1. keep_values: copies an iteration in which the condition does not hold, on all servers or on none.
// 2. run_and_keep: the condition holds; writes the kept iterations, then this one.
// 3. What cannot be written then is owed: it stays, and each iteration tries again (write_owed) until newer ones need
//    its place, or the run ends. What is lost in the end is named.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "server/engine/scheduled_task.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

void ScheduledTask::pass_kept(const Iteration& iteration) {
  if (!kept_) return;
  kept_->pass(iteration);
  tell_lost(iteration.index);
}

/// Copies the values, on all servers or on none.
std::string ScheduledTask::keep_values(const RunInput& given, Results& results) {
  const double start = now();
  static_cast<void>(write_owed(given.iteration, given.metadata, results));
  const auto copy = [&] {
    kept_->keep(given.iteration, views_of(given.assembled), given.assembled.catalogue, given.events);
  };
  std::string failure = attempt(copy);
  local_seconds_ = now() - start;
  if (!failure.empty()) retry_while_out_of_memory([&] { kept_->drop_newest(given.iteration); });
  tell_lost(given.iteration.index);
  return failure;
}

TaskOutcome ScheduledTask::run_and_keep(const RunInput& given, Results& results) {
  std::string unknown;
  retry_while_out_of_memory([&] { unknown = never_kept(); });
  KeptOutcome kept = write_kept(given, results);
  TaskOutcome outcome{run_passes(given, results), {}};
  outcome.refusal = task_->take_refusal();
  retry_while_out_of_memory([&] {
    for (const std::string* const failure : {&outcome.failure, &kept.failure}) {
      if (!failure->empty()) owed_failure_ = *failure;
    }
  });
  if (outcome.failure.empty()) {
    outcome.failure = steer();
  } else if (keep_unwritten(given)) {
    retry_while_out_of_memory([&] { kept.failed.push_back(given.iteration.index); });
  }
  retry_while_out_of_memory([&] { tell(given, kept, unknown); });
  tell_lost(given.iteration.index);
  fired_ = true;
  retry_while_out_of_memory([&] {
    if (kept.failure.empty() || outcome.failure == kept.failure) return;
    outcome.failure = outcome.failure.empty() ? kept.failure : fmt::format("{}; {}", kept.failure, outcome.failure);
  });
  return outcome;
}

/// Writes the kept iterations. If one fails, the others are written nevertheless.
ScheduledTask::KeptOutcome ScheduledTask::write_kept(const RunInput& given, Results& results) {
  KeptOutcome outcome;
  for (KeptIterations::Kept& one : kept_->all()) {
    std::string failed;
    if (!one.missing) {
      failed = run_passes({one.iteration, given.metadata, one.assembled, one.events}, results);
      static_cast<void>(task_->take_refusal());
      ++runs;
    }
    one.done = failed.empty();
    one.owed = !one.done;
    std::vector<std::int64_t>& list = one.missing ? outcome.absent : one.done ? outcome.written : outcome.failed;
    retry_while_out_of_memory([&] { list.push_back(one.iteration.index); });
    if (outcome.failure.empty()) outcome.failure = std::move(failed);
  }
  kept_->remove_done();
  return outcome;
}

/// Keeps an iteration in which the condition holds, and which could not be written. Returns false if it does not fit.
bool ScheduledTask::keep_unwritten(const RunInput& given) {
  const auto copy = [&] {
    kept_->keep(given.iteration, views_of(given.assembled), given.assembled.catalogue, given.events);
  };
  const bool kept = attempt(copy).empty();
  if (kept) {
    kept_->all().back().owed = true;
  } else {
    retry_while_out_of_memory([&] { kept_->drop_newest(given.iteration); });
  }
  return kept;
}

/// Writes what is owed, up to the first failure, which it returns.
std::string ScheduledTask::write_owed(const Iteration& during, const Metadata& metadata, Results& results) {
  if (!owes()) return {};
  std::string failure;
  std::vector<std::int64_t> written;
  for (KeptIterations::Kept& one : kept_->all()) {
    if (!one.owed) continue;
    failure = run_passes({one.iteration, metadata, one.assembled, one.events}, results);
    static_cast<void>(task_->take_refusal());
    if (!failure.empty()) break;
    ++runs;
    one.owed = false;
    one.done = true;
    retry_while_out_of_memory([&] { written.push_back(one.iteration.index); });
  }
  kept_->remove_done();
  retry_while_out_of_memory([&] {
    if (!failure.empty()) owed_failure_ = failure;
    if (written.empty() || communicator_->rank() != 0) return;
    log::info("iteration {}: {}: kept iterations that could not be written before are written now: {}", during.index,
              name_, fmt::join(written, ", "));
  });
  return failure;
}

void ScheduledTask::write_owed_at_end(const Iteration& last, const Metadata& metadata, Results& results) {
  const std::string failure = write_owed(last, metadata, results);
  if (failure.empty()) return;
  std::vector<std::int64_t> lost;
  for (KeptIterations::Kept& one : kept_->all()) {
    if (!one.owed) continue;
    one.owed = false;
    one.done = true;
    retry_while_out_of_memory([&] { lost.push_back(one.iteration.index); });
  }
  kept_->remove_done();
  if (communicator_->rank() != 0) return;
  retry_while_out_of_memory([&] {
    log::error("{}: kept iterations could not be written, and are lost at the end of the run: {}; the last failure: {}",
               name_, fmt::join(lost, ", "), failure);
  });
}

/// The last iterations before these servers began in which the output was due: of these they have nothing. Empty if
/// the output keeps later ones only.
std::string ScheduledTask::never_kept() const {
  const std::size_t room = kept_->room();
  if (fired_ || begun_with_ == 0 || room == 0) return {};
  const Schedule& schedule = schedule_.schedule();
  if (schedule.unit != Schedule::Unit::iterations || !schedule.event.empty()) {
    return fmt::format("up to {} before iteration {}", room, begun_with_);
  }
  std::vector<std::int64_t> due;
  for (std::int64_t n = begun_with_ - 1; n >= 0 && due.size() < room; --n) {
    const double from_start = static_cast<double>(n) - schedule.start.value_or(0);
    if (from_start < 0) break;
    if (std::fmod(from_start, schedule.every) == 0) due.insert(due.begin(), n);
  }
  return fmt::format("{}", fmt::join(due, ", "));
}

/// Says on one server what became of the iterations. `unknown`: those of earlier servers.
void ScheduledTask::tell(const RunInput& given, const KeptOutcome& kept, const std::string& unknown) const {
  if (communicator_->rank() != 0) return;
  std::string text =
      fmt::format("iteration {}: {}: its condition holds; kept before it and written now: {}", given.iteration.index,
                  name_, kept.written.empty() ? "none" : fmt::format("{}", fmt::join(kept.written, ", ")));
  if (!kept.absent.empty()) text += fmt::format("; refused or too large to keep: {}", fmt::join(kept.absent, ", "));
  if (!unknown.empty()) {
    text +=
        fmt::format("; not kept, since these servers began with iteration {}, and what others kept before is lost: {}",
                    begun_with_, unknown);
  }
  if (!kept.failed.empty()) {
    text +=
        fmt::format("; could not be written, and are tried again in each iteration as long as 'keep_back' has room: {}",
                    fmt::join(kept.failed, ", "));
  }
  unknown.empty() && kept.failed.empty() ? log::info("{}", text) : log::warning("{}", text);
}

/// Names iterations that were owed and had to make room for newer ones.
void ScheduledTask::tell_lost(std::int64_t iteration) {
  const std::vector<std::int64_t> lost = kept_->take_lost();
  if (lost.empty() || communicator_->rank() != 0) return;
  retry_while_out_of_memory([&] {
    log::error(
        "iteration {}: {}: kept iterations could not be written, and are lost, since newer ones need their place: "
        "{}; the last failure: {}",
        iteration, name_, fmt::join(lost, ", "), owed_failure_);
  });
}

}  // namespace sidestream
