// The end of an iteration: signals, counts, outcomes from the servers, and the last wait for them.
//
// 1. signal: notes events; they are sent before the end of their iteration, each exactly once.
// 2. end: sends missing static arrays, then signals, then the end record. If something fails before that, the iteration
//    is refused but ends nevertheless, since servers and other clients count it.
// 3. settle: takes outcomes in order, and counts them in the account. receive_news: takes failures and notices.
// 4. drain: waits for all outcomes, within a limit. close_account: what is still open is unknown, or refused if this
//    client refused it.
// No call communicates with other clients; with `inline` the end also runs the servers' step, which is collective.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "client/publisher.hpp"
#include "client/publisher_parts.hpp"
#include "data/coming.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

std::int32_t Publisher::event_number(std::string_view event) const {
  const auto found = std::find(events_.begin(), events_.end(), event);
  if (found == events_.end()) {
    fail(Code::usage,
         "signal: the event '{}' is unknown{}; name it in the configuration, in `on:` of an analysis or under "
         "`events:`",
         event, near_to(event, events_));
  }
  const auto number = static_cast<std::int32_t>(found - events_.begin());
  if (end_of_run_.possible() && (options_.ending.event >> number) == 1) {
    fail(Code::usage,
         "signal: found the event '{}', expected another one: with `ending:` only the servers decide on the "
         "last iteration; signal an event of your own",
         event);
  }
  return number;
}

void Publisher::signal(std::string_view event) {
  if (options_.off) return;
  const std::int32_t number = event_number(event);
  end_.events |= std::uint64_t{1} << number;
  if ((options_.counted >> number) & 1) come(number, EventScope::server, Coming::counts);
}

/// Tells the servers that this client has reached an event, and how many clients its node has.
void Publisher::come(std::int32_t event, EventScope scope, std::uint32_t barrier) {
  Signal& coming = signals_.emplace_back();
  const auto bytes = std::as_bytes(std::span(&options_.on_node, 1));
  coming.values.assign(bytes.begin(), bytes.end());
  coming.head = {event,   options_.client,     scope, options_.node,       Type::int64,
                 barrier, account_.iterations, 0,     coming.values.size()};
}

void Publisher::signal(std::string_view event, EventScope scope, Type type, const void* values, std::size_t count) {
  const bool known = scope == EventScope::server || scope == EventScope::node || scope == EventScope::all;
  if (!known || static_cast<int>(type) < 0 || static_cast<int>(type) >= type_count) {
    fail(Code::usage,
         "signal: the event '{}' was given the scope {} and the type {}, expected one of each that there is", event,
         static_cast<int>(scope), static_cast<int>(type));
  }
  if (count > longest_event / size_of(type)) {
    fail(Code::usage,
         "signal: the event '{}' was given {} values of {} bytes, expected at most {} bytes; publish a "
         "variable instead",
         event, count, size_of(type), longest_event);
  }
  if (count > 0 && !values) fail(Code::usage, "signal: the event '{}' was given {} values at NULL", event, count);
  if (options_.off) return;
  const std::int32_t number = event_number(event);
  const auto bytes = count * size_of(type);
  Signal& raised = signals_.emplace_back();
  raised.head = {number, options_.client, scope, options_.node, type, 0, account_.iterations, 0, bytes};
  const auto* const first = static_cast<const std::byte*>(values);
  if (bytes > 0) raised.values.assign(first, first + bytes);
  end_.events |= std::uint64_t{1} << number;
  if ((options_.counted >> number) & 1) come(number, EventScope::server, Coming::counts);
}

void Publisher::signal_barrier(std::string_view event) {
  if (options_.off) return;
  come(event_number(event), EventScope::all, Coming::comes);
}

/// Sends signals before the end of their iteration, each exactly once, even if memory is short. Their numbers order the
/// signals of all clients.
void Publisher::send_signals() {
  constexpr int bits_of_one = 40;
  for (Signal& signal : signals_) {
    signal.head.number = (static_cast<std::uint64_t>(options_.client) << bits_of_one) | signals_sent_++;
    retry_while_out_of_memory([&] { transport_->signal(signal); });
  }
  signals_.clear();
}

/// Number of blocks that this client declared but did not deliver, for variables that it delivered on some blocks.
std::uint64_t Publisher::count_absent() const {
  std::uint64_t absent = 0;
  for (const Variable& variable : metadata_.variables) {
    const auto n = static_cast<std::size_t>(variable.id);
    const bool all = published_[n] == static_cast<std::int64_t>(slots_[n].size());
    if (!variable.time_varying || published_[n] == 0 || all) continue;
    for (const auto& [id, slot] : slots_[n])
      absent += !slot.record.box.empty() && slot.published_in != account_.iterations;
  }
  return absent;
}

/// Closes the iteration's account. Even an iteration that could not be handed over counts, since the transport has
/// counted it too.
void Publisher::next_iteration(double end_began) {
  timing_.iteration = account_.iterations++;
  timing_.start = iteration_start_ - options_.origin;
  timing_.compute = std::max(0.0, end_began - iteration_start_ - timing_.publish - timing_.wait);
  if (options_.timings) {
    retry_while_out_of_memory([&] { timings_.push_back(timing_); });
    hand_rows_over();
  }
  timing_ = {};
  iteration_start_ = now();
  std::fill(published_.begin(), published_.end(), 0);
  end_ = {};
  begun_ = false;
  last_refused_ = std::exchange(refused_, 0);
}

/// Prepares the end. If anything fails here, the iteration ends nevertheless, because servers and other clients count
/// it.
void Publisher::prepare_end(double time, std::exception_ptr& failed) noexcept {
  try {
    static_cast<void>(begin());
    if (unsent_static_arrays_ > 0) send_pending_static();
    if (!std::isfinite(time)) {
      fail(Code::usage, "end_iteration: the time is {}, expected a finite number; the iteration is refused", time);
    }
  } catch (...) {
    failed = std::current_exception();
    refused_ |= Refusal::call_failed;
  }
}

void Publisher::count_spilled() {
  account_.bytes_spilled = transport_->status().bytes_spilled;
  account_.spilled += std::exchange(spilled_, account_.bytes_spilled) != account_.bytes_spilled;
}

Taken Publisher::end(std::int64_t cycle, double time, const std::function<void()>& inline_step) {
  const double start = now();
  const auto hand_over = [&] {
    if (options_.off) return false;
    std::exception_ptr failed;
    prepare_end(time, failed);
    end_.iteration = {account_.iterations, cycle, std::isfinite(time) ? time : 0.0};
    end_.absent = count_absent();
    end_.refused = refused_;
    end_.client = options_.client;
    end_of_run_.describe(account_.iterations, end_);
    end_.refusing = refused_ ? options_.client : -1;
    retry_while_out_of_memory([&] { in_doubt_.push_back(refused_ != 0); });
    if (options_.timings && options_.iterations) {
      retry_while_out_of_memory([&] {
        unsettled_.push_back({end_.iteration, Outcome::pending, refused_, refused_ ? options_.client : -1, {}});
      });
    }
    count_spilled();
    send_signals();
    retry_while_out_of_memory([&] { transport_->end(end_); });  // which counts it, or leaves everything unchanged
    account_.absent_blocks += static_cast<std::int64_t>(end_.absent);
    if (inline_step) inline_step();
    settle();
    receive_news();
    steered_.advance(account_.iterations);
    end_of_run_.advance(account_.iterations);
    if (failed) std::rethrow_exception(failed);
    return refused_ != 0;
  };
  bool refused = false;
  try {
    refused = timed(&IterationTiming::end, hand_over);
  } catch (...) {
    next_iteration(start);
    throw;
  }
  next_iteration(start);
  if (options_.off) return Taken::yes;
  const std::string failure = std::exchange(failure_, {});
  if (!failure.empty() && options_.stop_on_error) throw Error(Code::analysis, failure);
  return refused ? Taken::refused : Taken::yes;
}

void Publisher::count(Outcome outcome) {
  switch (outcome) {
    case Outcome::refused:
      ++account_.refused;
      break;
    case Outcome::failed:
      ++account_.failed;
      [[fallthrough]];
    case Outcome::delivered:
      ++account_.delivered;
      break;
    case Outcome::pending:
    case Outcome::lost:
      ++account_.unknown;
  }
}

void Publisher::close_account(std::int64_t absent_blocks) {
  if (!options_.off && transport_) settle();
  for (std::size_t n = 0; n < in_doubt_.size(); ++n) {
    keep_rows(settled_ + static_cast<std::int64_t>(n), {});
  }
  // No server can have taken an iteration that this client refused, even if the servers have not answered.
  const auto refused = std::count(in_doubt_.begin(), in_doubt_.end(), true);
  account_.refused += refused;
  account_.unknown += options_.off ? 0 : static_cast<std::int64_t>(in_doubt_.size()) - refused;
  account_.absent_blocks = absent_blocks;
}

/// Keeps the rows of an iteration when its outcome is known, or can never be.
void Publisher::keep_rows(std::int64_t index, const Settled& settled) {
  if (!options_.timings) return;
  if (options_.movement) retry_while_out_of_memory([&] { moved_.push_back({index, 0, settled.bytes_sent, 0}); });
  if (unsettled_.empty()) return;
  retry_while_out_of_memory([&] { iterations_.push_back(unsettled_.front()); });
  iterations_.back().outcome = settled.outcome;
  unsettled_.pop_front();
}

void Publisher::hand_rows_over() {
  const std::size_t most = std::max({timings_.size(), moved_.size(), iterations_.size()});
  if (most < most_rows || !options_.take_rows) return;
  options_.take_rows(*this);
  timings_.clear();
  moved_.clear();
  iterations_.clear();
}

/// Asks for outcomes of its own iterations only, since other clients may have ended more.
void Publisher::settle() {
  while (!in_doubt_.empty()) {
    const Settled settled = transport_->outcome(settled_);
    const Outcome outcome = settled.outcome;
    if (outcome == Outcome::pending) return;
    keep_rows(settled_, settled);
    // No server can have taken an iteration that this client refused.
    count(outcome == Outcome::lost && in_doubt_.front() ? Outcome::refused : outcome);
    if (gave_up_ && outcome == Outcome::refused && !in_doubt_.front()) ++account_.dropped;
    in_doubt_.pop_front();
    ++settled_;
  }
}

bool Publisher::left_open() const noexcept {
  return std::any_of(metadata_.variables.begin(), metadata_.variables.end(), [&](const Variable& variable) {
    return variable.time_varying && published_[static_cast<std::size_t>(variable.id)] > 0;
  });
}

void Publisher::drain(double limit_seconds) {
  if (options_.off || !transport_) return;
  // Three years: longer than any run, and short enough for clocks that count nanoseconds.
  constexpr double longest = 1e8;
  const auto limit = static_cast<std::int64_t>(std::min(limit_seconds, longest) * 1000);
  // Servers wait for this message; sending it twice is harmless.
  retry_while_out_of_memory([&] { gave_up_ = !transport_->drain(std::chrono::milliseconds(limit)); });
  retry_while_out_of_memory([&] { settle(); });
}

}  // namespace sidestream
