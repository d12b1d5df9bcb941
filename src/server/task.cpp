#include "server/task.hpp"

#include <functional>
#include <new>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/persist.hpp"
#include "base/timer.hpp"
#include "data/mesh_arrays.hpp"
#include "server/entry_views.hpp"

namespace sidestream {

Task::Task(const TaskConfig& config, const Metadata& metadata, std::unique_ptr<Analysis> analysis,
           std::unique_ptr<Writer> writer)
    : name_(config.name),
      schedule_(config.schedule),
      analysis_(std::move(analysis)),
      writer_(std::move(writer)),
      selection_(analysis_ ? analysis_->selection() : writer_->selection()),
      entries_(selection_.variables) {
  selection_.variables = with_mesh_arrays(selection_, metadata);
}

Bytes Task::local(const LocalInput& input) {
  if (analysis_) return analysis_->local(input);
  return writer_->write(input, communicator_->rank(), communicator_->size());
}

Bytes Task::combine(const CombineInput& input) {
  if (analysis_) return analysis_->combine(input);
  writer_->commit(input);
  return {};
}

void Task::set_communicator(std::unique_ptr<MpiCommunicator> communicator) {
  communicator_ = std::move(communicator);
  guarded_ = std::make_unique<GuardedCommunicator>(*communicator_);
}

/// The sentence of what failed anywhere, with the task's name before it; empty if nothing did. Everything is caught: a
/// plug-in may throw anything and must not take the server down.
std::string Task::attempt(const std::function<void()>& work) {
  std::string failure = guarded_->attempt(work);
  if (failure.empty()) return failure;
  try {
    return name_ + ": " + failure;
  } catch (const std::bad_alloc&) {
    return failure;
  }
}

void Task::count_passes() {
  passes_ = analysis_ ? analysis_->passes() : 1;
  if (passes_ < 1) fail(Code::analysis, "the analysis has {} passes, expected at least 1; correct `passes`", passes_);
}

std::string Task::pass(const LocalInput& input, const Views& views, Results& results, Bytes& feedback) {
  Bytes partial;
  const auto reduce = [&] {
    const double start = now();
    if (input.pass == 0) count_passes();
    const std::vector<EntryViews> entries = entry_views(entries_, input.metadata, views);
    LocalInput with_entries = input;
    with_entries.entries = entries;
    partial = local(with_entries);
    local_seconds_ += now() - start;
  };
  std::string failure = attempt(std::cref(reduce));
  if (!failure.empty()) {
    discard(input.iteration);
    return failure;
  }
  if (analysis_ && sender_) return send_partial(input, partial, feedback);
  const std::span<const Bytes> partials(&partial, 1);
  const auto merge = [&] {
    feedback = combine({input.iteration, input.metadata, partials, input.pass, *guarded_, results});
  };
  return attempt(std::cref(merge));
}

/// What a writer has begun and does not finish.
void Task::discard(const Iteration& iteration) noexcept {
  if (!writer_) return;
  try {
    persist([&] { writer_->discard(iteration); });
  } catch (const std::exception& e) {
    log::warning("{}: cannot remove what was begun: {}", name_, e.what());
  }
}

/// Collective over the reducing servers: what others answered one of them is what all return.
std::string Task::send_partial(const LocalInput& input, const Bytes& partial, Bytes& feedback) {
  std::string failure;
  const auto send = [&] { failure = sender_->combine({input.iteration, number_, input.pass}, partial, feedback); };
  const std::string trouble = guarded_->attempt(std::cref(send));
  return trouble.empty() ? failure : trouble;
}

std::string Task::combine_partials(const PartialInput& input, const std::function<Results&()>& results,
                                   Bytes& feedback) {
  const auto merge = [&] {
    feedback = combine({input.iteration, input.metadata, input.partials, input.pass, *guarded_, results()});
  };
  return attempt(std::cref(merge));
}

std::string Task::run(const Iteration& iteration, const Metadata& metadata, const Assembled& assembled,
                      Results& results) {
  ++runs;
  local_seconds_ = 0;
  passes_ = 1;
  Bytes feedback;
  for (int n = 0; n < passes_; ++n) {
    const Bytes before = std::move(feedback);
    feedback.clear();
    const Catalogue* catalogue = selection_.catalogue && assembled.catalogue ? &*assembled.catalogue : nullptr;
    LocalInput input{iteration, metadata, assembled.views.blocks, n, before, catalogue};
    input.server = communicator_->rank();
    input.servers = communicator_->size();
    std::string failure = pass(input, assembled.views, results, feedback);
    if (!failure.empty()) return failure;
  }
  return {};
}

}  // namespace sidestream
