// Handover of one iteration by the writers. Rank 0 asks the coordinator; `ask` gives all members its answer with one
// reduction.
//
// 1. await_reader: the epoch of a living reader. Without one within the limit, or at once under `skip`, the step is
//    refused.
// 2. offer: each member builds its part and puts its values where the reader finds them; rank 0 offers the merged
//    index.
// 3. await_answer: until the reader answers. Another reader that takes over gets the values again. After the limit the
//    step is withdrawn, unless an answer came first.
// 4. clean: removes values and files, also after a failure.
// A failure of the coordinator is thrown on all members, with the same message.
#include "staging/step_handover.hpp"

#include <cstring>
#include <limits>
#include <new>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "staging/step_builder.hpp"

namespace sidestream::staging {

namespace {

// Results of `ask` besides epochs and answers of the coordinator.
constexpr std::int64_t nobody_knows = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t failed = nobody_knows + 1;
constexpr std::int64_t not_yet = 0, given_up = -1;

// Results of `step_state`.
constexpr std::int64_t answered = 1, taken_over = 2, abandoned = 3;

/// Replaces the path of an iteration's own file in the message by the directory, so that messages repeat.
std::string without_file(std::string message, const std::string& directory) {
  const auto at = message.find("'" + directory + "/");
  if (at == std::string::npos) return message;
  const auto first = at + 1 + directory.size(), last = message.find('\'', first);
  return last == std::string::npos ? message : message.erase(first, last - first);
}

}  // namespace

struct Offers::Step {
  StepIndex head;  ///< without blocks, records and ranges
  StepBuilder mine;
};

Offers::Offers(const StreamConfig& config, const Metadata& metadata, StreamContext& context, Communicator& writers)
    : config_(config),
      metadata_(metadata),
      context_(context),
      writers_(writers),
      folder_(config.path()),
      ranges_(metadata) {
  run_collectively(writers_, [&] {
    if (writers_.rank() != 0) return;
    folder_.prepare();
    coordinator_ = std::make_unique<WriterCoordinator>(folder_, context_.session, config_.reader_limit);
    coordinator_->announce({context_.declarations, context_.events}, config_.engine, writers_.size());
  });
  bulk_ = bulk_engines().at(config_.engine).writer({folder_, writers_, config_.parameters, config_.reader_limit});
}

/// Asks the coordinator on rank 0 and returns the answer on all members, or `given_up` if clients have stopped waiting.
/// Costs one reduction. If the coordinator fails, all members throw the same Error. With `trouble`, they return
/// `failed` instead, and rank 0 gets the message.
std::int64_t Offers::ask(const std::function<std::int64_t()>& question, std::string* trouble) {
  std::array<std::int64_t, 2> words{nobody_knows, 0};
  std::string message;
  if (coordinator_) {
    try {
      words[0] = question();
    } catch (const std::bad_alloc&) {
      words[0] = failed;
      message = "out of memory";
    } catch (const std::exception& e) {
      words[0] = failed;
      message = e.what();
    }
  }
  words[1] = context_.given_up && context_.given_up();
  writers_.maximum(words);
  if (words[0] == failed) {
    if (!trouble) fail_together(message);
    *trouble = std::move(message);
  }
  return words[0] == not_yet && words[1] ? given_up : words[0];
}

/// Throws rank 0's message on all members.
void Offers::fail_together(const std::string& message) {
  run_collectively(writers_, [&] {
    if (coordinator_) fail(Code::file, "{}", message);
  });
  fail(Code::internal, "nobody failed");
}

std::int64_t Offers::await_reader() {
  const bool waits = config_.when_full == WhenFull::wait && !waited_in_vain_;
  const double began = now();
  for (Backoff backoff(std::chrono::microseconds(100), std::chrono::milliseconds(10));; backoff.pause()) {
    const std::int64_t epoch = ask([&]() -> std::int64_t {
      const std::int64_t found = coordinator_->reader();
      const bool over = !waits || now() - began > config_.reader_limit;
      return found > 0 ? found : over ? given_up : not_yet;
    });
    if (epoch == not_yet) continue;
    waited_in_vain_ = epoch == given_up;
    return epoch;
  }
}

void Offers::put(Step& step, std::int64_t epoch) {
  report_reader(epoch);
  const auto alive = [this, epoch] { return !coordinator_ || coordinator_->reader() == epoch; };
  run_collectively(writers_, [&] { bulk_->put(step.head, step.mine.outgoing(), epoch, alive); });
}

/// Looks up the state of an offered step; on rank 0.
std::int64_t Offers::step_state(const Step& step, std::int64_t epoch, double& lost_since) {
  if (coordinator_->answer(step.head.iteration.index).outcome != Outcome::pending) return answered;
  const std::int64_t reader = coordinator_->reader();
  if (reader > 0 && reader == epoch) {
    lost_since = 0;
    return not_yet;
  }
  if (reader > 0) return taken_over;
  if (lost_since == 0) {
    lost_since = now();
    log::warning("the endpoint that read the stream '{}' is gone: {}", folder_.path(), coordinator_->loss());
  }
  const bool over = config_.when_full == WhenFull::skip || now() - lost_since > config_.reader_limit;
  return over ? abandoned : not_yet;
}

Answer Offers::await_answer(Step& step, std::int64_t epoch) {
  const std::int64_t index = step.head.iteration.index;
  double lost_since = 0;
  for (Backoff backoff(std::chrono::microseconds(100), std::chrono::milliseconds(10));; backoff.pause()) {
    std::string trouble;
    std::int64_t verdict = ask([&] { return step_state(step, epoch, lost_since); }, &trouble);
    if (verdict == taken_over) {
      epoch = ask([&] { return coordinator_->reader(); });
      if (epoch > 0) put(step, epoch);
      lost_since = 0;
    } else if (verdict == abandoned || verdict == given_up || verdict == failed) {
      // If a reader answers at this very moment, its answer counts.
      const bool broke = verdict == failed;
      verdict = ask([&] { return coordinator_->withdraw(index) ? abandoned : answered; });
      waited_in_vain_ = !broke;
      if (verdict == abandoned && broke) fail_together(trouble);
      if (verdict == abandoned) return refusal();
    }
    if (verdict == answered) return take_answer(index);
  }
}

Answer Offers::take_answer(std::int64_t index) {
  Answer mine;
  run_collectively(writers_, [&] {
    if (!coordinator_) return;
    mine = coordinator_->answer(index);
    if (mine.outcome == Outcome::pending) {
      fail(Code::file, "what was offered in '{}' is gone; somebody removed it", folder_.path());
    }
  });
  const Answer answer = share(mine);
  // A reader that refused the step may not have begun it; it then has not released it either.
  acknowledged_ = answer.outcome != Outcome::refused;
  return answer;
}

/// Returns rank 0's answer on every member.
Answer Offers::share(const Answer& answer) {
  Bytes bytes(1 + answer.message.size(), static_cast<std::byte>(answer.outcome));
  std::memcpy(bytes.data() + 1, answer.message.data(), answer.message.size());
  writers_.broadcast(bytes, 0);
  return {static_cast<Outcome>(bytes.front()),
          std::string(reinterpret_cast<const char*>(bytes.data()) + 1, bytes.size() - 1)};
}

/// The text stays the same, so that it is reported once.
Answer Offers::refusal() {
  if (last_epoch_ == 0) {
    return {Outcome::refused,
            fmt::format("no endpoint reads the stream '{}'; iterations are refused until one comes: start `sidestream "
                        "endpoint`",
                        folder_.path())};
  }
  return share({Outcome::refused,
                fmt::format("the endpoint that read the stream '{}' is gone: {}; iterations are refused until another "
                            "comes: start `sidestream endpoint` again",
                            folder_.path(), coordinator_ ? coordinator_->loss() : "")});
}

void Offers::report_reader(std::int64_t epoch) {
  if (coordinator_ && last_epoch_ != 0 && epoch != last_epoch_) {
    log::info("another endpoint has taken over the stream '{}'", folder_.path());
  }
  last_epoch_ = epoch;
}

void Offers::offer(Step& step, const std::vector<Held>& held, std::span<const Block> blocks, std::int64_t epoch) {
  run_collectively(writers_, [&] {
    step.mine = StepBuilder(metadata_, held, context_, step.head, writers_.rank());
    if (config_.ranges) step.mine.measure(ranges_, blocks);
  });
  put(step, epoch);
  const std::vector<Bytes> parts = writers_.gather(step.mine.encode(), 0);
  run_collectively(writers_, [&] {
    if (coordinator_) coordinator_->offer(merge_steps(step.head, parts));
  });
}

Answer Offers::hand_over(const Iteration& iteration, const std::vector<Held>& held, std::span<const Block> blocks) {
  const std::int64_t epoch = await_reader();
  if (epoch <= 0) return refusal();
  acknowledged_ = false;
  Step step;
  step.head.session = context_.session;
  step.head.iteration = iteration;
  step.head.writers = writers_.size();
  const auto clean = [&]() noexcept {
    bulk_->forget(iteration.index, acknowledged_);
    if (coordinator_) coordinator_->forget(iteration.index);
  };
  try {
    offer(step, held, blocks, epoch);
    Answer answer = await_answer(step, epoch);
    writers_.barrier();  // all members have it: from here on no member throws
    clean();
    return answer;
  } catch (const Error& e) {
    clean();
    throw Error(e.code(), without_file(e.what(), folder_.path()));
  } catch (...) {  // out of memory only on this member; the others learn of it
    clean();
    throw;
  }
}

}  // namespace sidestream::staging
