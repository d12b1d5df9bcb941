// One analysis or output on all servers of a group.
//
// 1. run: for each pass, `local` on every server, agreement that all succeeded, `combine`, agreement again. The bytes
//    that combine returns are the next pass's feedback. A failure anywhere gives the same message on all servers and
//    ends the task's iteration.
// 2. With a sender, `local`'s bytes go to combining servers instead (send_partial); there combine_partials runs.
// 3. Values that are kept back: scheduled_task_keeping.cpp.
// Every attempt is collective. It catches whatever a plug-in throws.
#include "server/engine/scheduled_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <variant>

#include "config/tasks/tasks.hpp"
#include "data/derivation.hpp"
#include "server/redistribution/block_table.hpp"
#include "server/redistribution/exchange_plan.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/data/selected_arrays.hpp"

namespace sidestream {

ScheduledTask::ScheduledTask(const TaskConfig& config, const Metadata& metadata, std::unique_ptr<Task> task)
    : name_(config.name),
      schedule_(config.schedule),
      task_(std::move(task)),
      counts_(!config.writer),
      for_restart_(config.for_restart),
      selection_(task_->selection()),
      entries_(selection_.variables),
      isolated_(config.isolated),
      limit_(config.limit) {
  const bool divided = std::any_of(entries_.begin(), entries_.end(),
                                   [](const Selected& entry) { return !entry.decomposition.is_published(); });
  if (divided && (config.schedule.from == EventFrom::one || config.schedule.from == EventFrom::node)) {
    config.settings.fail("from",
                         "found it for a kind that divides the mesh among all servers, expected one that works on "
                         "blocks as published: the others would have no part; use 'from: all'");
  }
  selection_.variables = with_mesh_arrays(selection_, metadata);
  inputs_ = inputs_of(selection_.variables, metadata);
  // Tasks of other makers may lack the options that all configured tasks have.
  const bool triggered = config.schedule.when || !config.schedule.event.empty();
  if (triggered && config.settings.given("then")) then_ = config.settings.text("then");
  if (triggered && config.settings.given("keep_back")) {
    if (divided) {
      config.settings.fail("keep_back",
                           "found it for an output that divides the mesh among all servers, expected one that writes "
                           "blocks as published; remove it");
    }
    kept_.emplace(config.settings.integer<std::size_t>("keep_back"),
                  config.settings.integer<std::uint64_t>("keep_back_memory"), metadata);
  }
  const auto is_derived = [&](const Selected& one) {
    return metadata.variables[static_cast<std::size_t>(one.variable)].derived();
  };
  completed_ = std::any_of(selection_.variables.begin(), selection_.variables.end(),
                           [](const Selected& selected) { return selected.completed; });
  std::copy_if(selection_.variables.begin(), selection_.variables.end(), std::back_inserter(derived_), is_derived);
}

void ScheduledTask::set_communicator(std::unique_ptr<MpiCommunicator> communicator) {
  communicator_ = std::move(communicator);
  guarded_ = std::make_unique<GuardedCommunicator>(*communicator_);
}

/// Runs `work`. Returns what failed on any server, prefixed with the task's name; empty if nothing did. Catches
/// everything: a plug-in may throw anything and must not end the server.
std::string ScheduledTask::attempt(CallRef work) {
  std::string failure = guarded_->attempt(work);
  if (failure.empty()) return failure;
  try {
    return name_ + ": " + failure;
  } catch (const std::bad_alloc&) {
    return failure;
  }
}

void ScheduledTask::count_passes() {
  passes_ = task_->passes();
  if (passes_ < 1) fail(Code::analysis, "it has {} passes, expected at least 1; correct `passes`", passes_);
}

/// Runs one pass. The blocks stay readable until `combine` or `discard` has returned.
std::string ScheduledTask::pass(LocalInput input, const Views& views, Results& results, Bytes& feedback) {
  Bytes partial;
  std::vector<EntryViews> entries;
  const auto reduce = [&] {
    const double start = now();
    if (input.pass == 0) count_passes();
    entries = entry_views(entries_, input.metadata, views);
    input.entries = entries;
    input.stays = !(counts_ && sender_);
    partial = task_->local(input);
    local_seconds_ += now() - start;
  };
  std::string failure = attempt(reduce);
  if (!failure.empty()) {
    task_->discard(input.iteration);
    return failure;
  }
  if (counts_ && sender_) return send_partial(input, partial, feedback);
  const std::span<const Bytes> partials(&partial, 1);
  SteeringCalls calls(steering_);
  const auto merge = [&] {
    feedback =
        task_->combine({input.iteration, input.metadata, partials, input.pass, *guarded_, results, &input, &calls});
  };
  return keep(calls, attempt(merge));
}

/// Keeps the parameters that an analysis set in a pass, unless the pass failed on any server.
std::string ScheduledTask::keep(SteeringCalls& calls, std::string failure) {
  if (failure.empty()) retry_while_out_of_memory([&] { calls.keep(); });
  return failure;
}

/// Sends a partial to the combining servers. Collective over the reducing servers: all return the answer that one of
/// them received.
std::string ScheduledTask::send_partial(const LocalInput& input, const Bytes& partial, Bytes& feedback) {
  std::string failure;
  const auto send = [&] { failure = sender_->combine({input.iteration, number_, input.pass}, partial, feedback); };
  const std::string trouble = guarded_->attempt(send);
  return trouble.empty() ? failure : trouble;
}

std::string ScheduledTask::combine_partials(const PartialInput& input, const std::function<Results&()>& results,
                                            Bytes& feedback) {
  SteeringCalls calls(steering_);
  const Watchdog::Watch watch(watchdog_, name_, input.iteration.index, limit_, overruns_);
  const auto merge = [&] {
    feedback = task_->combine(
        {input.iteration, input.metadata, input.partials, input.pass, *guarded_, results(), nullptr, &calls});
  };
  std::string failure = attempt(merge);
  if (task_->take_refusal() && failure.empty()) {
    retry_while_out_of_memory([&] {
      failure = name_ + ": it refuses an iteration, which it cannot with 'forward: partials'; use another 'forward'";
    });
  }
  return keep(calls, std::move(failure));
}

std::string ScheduledTask::call(void (LastingTask::*function)(const Iteration&, Communicator&, Results&),
                                const Iteration& iteration, Results& results) {
  auto* const lasting = dynamic_cast<LastingTask*>(task_.get());
  return lasting == nullptr ? std::string() : attempt([&] { (lasting->*function)(iteration, *guarded_, results); });
}

TaskOutcome ScheduledTask::run(const RunInput& given, Results& results) {
  if (kept_ && !given.fires) return {keep_values(given, results), {}};
  ++runs;
  // An isolated task is ended at its limit, and reports that.
  const Watchdog::Watch watch(isolated_ ? nullptr : watchdog_, name_, given.iteration.index, limit_, overruns_);
  local_seconds_ = 0;
  if (kept_) return run_and_keep(given, results);
  TaskOutcome outcome{run_passes(given, results), {}};
  outcome.refusal = task_->take_refusal();
  if (outcome.failure.empty()) outcome.failure = steer();
  return outcome;
}

/// Sets the parameter that is configured to be set after the task has run. Collective.
std::string ScheduledTask::steer() {
  if (then_.empty() || then_ == "end" || !steering_) return {};
  SteeringCalls calls(steering_);
  const auto set = [&] {
    const SteeredAfterRun to = steered_after_run(then_, steering_->parameters);
    std::visit([&](const auto& value) { calls.set(to.name, value); }, to.value);
  };
  return keep(calls, attempt(set));
}

std::string ScheduledTask::run_passes(const RunInput& given, Results& results) {
  const auto& [iteration, metadata, assembled, events, fires] = given;
  static_cast<void>(fires);
  passes_ = 1;
  Bytes feedback;
  for (int n = 0; n < passes_; ++n) {
    const Bytes before = std::move(feedback);
    feedback.clear();
    const Catalogue* catalogue = selection_.catalogue && assembled.catalogue ? &*assembled.catalogue : nullptr;
    const Views& views = views_of(assembled);
    LocalInput input{iteration, metadata, views.blocks, n, before, catalogue};
    input.server = communicator_->rank();
    input.servers = communicator_->size();
    input.events = events;
    std::string failure = pass(input, views, results, feedback);
    if (!failure.empty()) return failure;
  }
  feedback_ = std::move(feedback);
  return {};
}

}  // namespace sidestream
