#include "server/task.hpp"

#include <cstring>
#include <exception>
#include <new>

#include "base/timer.hpp"

namespace sidestream {

std::string agree_on_failure(Communicator& communicator, const std::string& message) {
  if (communicator.size() == 1) return message;
  std::int64_t failed = message.empty() ? 0 : 1;
  communicator.maximum(std::span(&failed, 1));
  if (!failed) return {};
  const std::vector<Bytes> all = communicator.all_gather(std::as_bytes(std::span(message)));
  for (const Bytes& text : all) {
    if (!text.empty()) return std::string(reinterpret_cast<const char*>(text.data()), text.size());
  }
  return {};
}

Task::Task(const TaskConfig& config, std::unique_ptr<Analysis> analysis, std::unique_ptr<Writer> writer)
    : name_(config.name),
      schedule_(config.schedule),
      analysis_(std::move(analysis)),
      writer_(std::move(writer)),
      selection_(analysis_ ? analysis_->selection() : writer_->selection()) {}

Bytes Task::local(const LocalInput& input) {
  if (analysis_) return analysis_->local(input);
  return writer_->write(input, communicator_->rank(), communicator_->size());
}

Bytes Task::combine(const CombineInput& input) {
  if (analysis_) return analysis_->combine(input);
  writer_->commit(input);
  return {};
}

namespace {

/// Runs `work` and returns the sentence of what it threw, with the task's name before it. Everything is caught: a
/// plug-in may throw anything and must not take the server down.
template <class Work>
std::string message_of(const std::string& task, Work&& work) {
  try {
    work();
    return {};
  } catch (const std::bad_alloc&) {
    return task + ": a server is out of memory; ask for less (smaller images, fewer samples) or give the servers more";
  } catch (const std::exception& e) {
    return task + ": " + (*e.what() ? e.what() : "an exception without text");
  } catch (...) {
    return task + ": an exception that is not a std::exception";
  }
}

}  // namespace

std::string Task::pass(const LocalInput& input, Results& results, Bytes& feedback) {
  std::vector<Bytes> partials(1);
  const double start = now();
  const std::string mine = message_of(name_, [&] { partials[0] = local(input); });
  local_seconds_ += now() - start;
  const std::string failure = agree_on_failure(*communicator_, mine);
  if (!failure.empty()) {
    if (writer_) writer_->discard(input.iteration);
    return failure;
  }
  if (analysis_ && sender_) return sender_->combine({input.iteration, number_, input.pass}, partials[0], feedback);
  const CombineInput combined{input.iteration, input.metadata, partials, input.pass, *communicator_, results};
  return combine_partials(combined, feedback);
}

std::string Task::combine_partials(const CombineInput& input, Bytes& feedback) {
  const std::string after = message_of(name_, [&] { feedback = combine(input); });
  return agree_on_failure(*communicator_, after);
}

std::string Task::run(const Iteration& iteration, const Metadata& metadata, const Assembled& assembled,
                      Results& results) {
  ++runs;
  local_seconds_ = 0;
  const int passes = analysis_ ? analysis_->passes() : 1;
  Bytes feedback;
  for (int n = 0; n < passes; ++n) {
    const Bytes before = std::move(feedback);
    feedback.clear();
    const Catalogue* catalogue = selection_.catalogue && assembled.catalogue ? &*assembled.catalogue : nullptr;
    const LocalInput input{iteration, metadata, assembled.blocks, n, before, catalogue};
    std::string failure = pass(input, results, feedback);
    if (!failure.empty()) return failure;
  }
  return {};
}

}  // namespace sidestream
