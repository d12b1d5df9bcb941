// The path of a request for an analysis, by server:
//
// 1. The first server finds it (contribute) and raises its word in the agreement of the next iteration, or rings before
//    that (engine_requests.cpp).
// 2. All servers see the word, get the text from the first server, and make the task (take_up). Either all keep it, or
//    none.
// 3. The task is due together with the configured ones, after them, while the servers keep up and the budget lasts. The
//    engine reports why it waits (waits) and how it ended (ran).
// 4. A task that runs once, failed or was ended is removed at the end of the iteration (end_iteration).
//
// All servers take the same decisions about a task: texts and order come from the first server, failures are agreed,
// and times are the longest of all servers. Only the first server talks to people.
#include "server/engine/asked_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <sstream>

#include "base/mpi/agree.hpp"
#include "sidestream/error.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

namespace {

/// Seconds between two looks. Reading a directory of a parallel file system costs more than a short iteration.
constexpr double seconds_between_polls = 0.1;
/// Seconds that a request may wait for an iteration in which it can run, counted from the first that it could not use.
constexpr double patience = 30;
constexpr std::size_t most_tasks = 16;

/// Text of requests: id, name and value of each.
std::string joined(const std::vector<SteeringRequest>& requests) {
  std::string text;
  for (const SteeringRequest& one : requests) text += one.id + "\n" + one.name + "\n" + one.value + "\n";
  return text;
}

std::vector<SteeringRequest> divided(const std::string& text) {
  std::vector<SteeringRequest> requests;
  std::istringstream lines(text);
  SteeringRequest one;
  while (std::getline(lines, one.id) && std::getline(lines, one.name) && std::getline(lines, one.value)) {
    requests.push_back(one);
  }
  return requests;
}

}  // namespace

AskedTasks::AskedTasks(Parts parts) : parts_(std::move(parts)), configured_(parts_.tasks.size()) { record(); }

std::size_t AskedTasks::number_of(std::size_t task) const {
  return task < configured_ ? task : configured_ + entries_.at(task - configured_).number;
}

void AskedTasks::answer(const std::string& id, const std::string& sentence) const {
  if (parts_.channel && !id.empty()) parts_.channel->answer(id, sentence);
}

void AskedTasks::record() const {
  if (!parts_.channel) return;
  std::vector<std::pair<std::string, std::string>> running;
  for (const Entry& entry : entries_) {
    if (!entry.once && !entry.done) running.emplace_back(entry.config.name, entry.text);
  }
  parts_.channel->record(running);
}

/// Ends requests that have waited too long, as if a person had ended them.
void AskedTasks::end_overdue(double seconds) {
  for (Entry& entry : entries_) {
    if (!entry.once || entry.done || entry.since < 0 || seconds - entry.since < patience) continue;
    answer(entry.id,
           fmt::format("refused: in {} s there was no iteration in which it could run: {}", patience, entry.reason));
    entry.id.clear();
    entry.since = seconds;  // once is enough
    waiting_.push_back({"", "end", entry.config.name});
  }
}

std::uint64_t AskedTasks::contribute(double seconds) {
  if (!parts_.channel) return 0;
  if (polled_ < 0 || seconds - polled_ >= seconds_between_polls) {
    polled_ = seconds;
    for (SteeringRequest& one : parts_.channel->requests()) waiting_.push_back(std::move(one));
    end_overdue(seconds);
  }
  return waiting_.empty() ? 0 : 1;
}

/// Adds the task of a request on all servers, or on none.
void AskedTasks::add(const SteeringRequest& request, std::int64_t index) {
  const std::size_t before = parts_.tasks.size();
  std::vector<Variable>& variables = parts_.metadata.variables;
  const auto known = static_cast<std::ptrdiff_t>(variables.size());
  const std::string name = fmt::format("asked-{}", made_ + 1);
  try {
    run_collectively(parts_.servers, [&] {
      if (entries_.size() >= most_tasks) {
        throw Error(Code::usage, fmt::format("{} analyses have been asked for already, expected fewer; end one of them",
                                             entries_.size()));
      }
      std::vector<TaskConfig> running;
      for (const Entry& entry : entries_) running.push_back(entry.config);
      Made made = parts_.make(request.value, name, running);
      entries_.push_back({made.config, request.id, request.value, made.once, made_});
      parts_.tasks.emplace_back(made.config, parts_.metadata, std::move(made.task));
    });
    ScheduledTask& task = parts_.tasks.back();
    task.set_watchdog(parts_.watchdog);
    task.set_communicator(parts_.servers.duplicate());
    if (prepare_) prepare_(task);
  } catch (const std::exception& error) {
    while (parts_.tasks.size() > before) parts_.tasks.pop_back();
    entries_.resize(before - configured_);
    variables.erase(variables.begin() + known, variables.end());
    answer(request.id, fmt::format("refused: {}", error.what()));
    return;
  }
  ++made_;
  if (entries_.back().once) return;
  answer(request.id, fmt::format("accepted: {} runs from iteration {} on", name, index));
}

void AskedTasks::end(const SteeringRequest& request) {
  const auto is_it = [&](const Entry& entry) { return entry.config.name == request.value && !entry.done; };
  const auto found = std::find_if(entries_.begin(), entries_.end(), is_it);
  if (found == entries_.end()) {
    answer(request.id,
           fmt::format("refused: no analysis '{}' goes on, expected the name of one that was asked for with "
                       "'every'; `sidestream ask` without an analysis lists them",
                       request.value));
    return;
  }
  answer(found->id, fmt::format("refused: {} was ended before it ran", found->config.name));
  found->id.clear();
  found->done = true;
  const std::string missed =
      found->missed > 0 ? fmt::format(", and missed {}, in which the servers were busy", found->missed) : "";
  answer(request.id,
         fmt::format("accepted: {} has ended; it ran in {} iterations{}", found->config.name, found->runs, missed));
}

void AskedTasks::take_up(std::int64_t index) {
  std::vector<SteeringRequest> requests;
  try {
    std::string text;
    run_collectively(parts_.servers, [&] { text = joined(waiting_); });
    share_text(parts_.servers, text);
    run_collectively(parts_.servers, [&] { requests = divided(text); });
  } catch (const Error&) {
    return;  // memory is short on some server: all try again in the next iteration
  }
  retry_while_out_of_memory([&] { waiting_.clear(); });
  for (const SteeringRequest& request : requests) {
    if (request.name == "analysis") {
      add(request, index);
    } else if (request.name == "end") {
      end(request);
    } else {
      answer(request.id,
             fmt::format("refused: the request is '{}', expected 'analysis' or 'end' in the first line", request.name));
    }
  }
  end_iteration();
  record();
}

void AskedTasks::waits(std::size_t task, const std::string& reason) {
  Entry& entry = entry_of(task);
  if (entry.since < 0) entry.since = polled_;
  retry_while_out_of_memory([&] { entry.reason = reason; });
}

void AskedTasks::missed(std::size_t task) {
  ++entry_of(task).missed;
  waits(task, "the servers are busy: clients are an iteration ahead of them");
}

void AskedTasks::ran(std::size_t task, const Iteration& iteration, Ran ran) {
  auto& [failure, remark, seconds] = ran;
  parts_.servers.maximum(std::span(&seconds, 1));
  spent_ += seconds;
  Entry& entry = entry_of(task);
  ++entry.runs;
  const std::string prefix = entry.config.name + ": ";  // prefix of failures; the person does not know the name
  const bool too_long = !entry.once && seconds > parts_.budget;
  entry.done = entry.once || !failure.empty() || too_long;
  retry_while_out_of_memory([&] {
    const std::string cause = failure.starts_with(prefix) ? failure.substr(prefix.size()) : failure;
    const std::string why = too_long ? fmt::format(
                                           "it took {:.3g} s in iteration {}, expected at most {:g} s "
                                           "(live.budget)",
                                           seconds, iteration.index, parts_.budget)
                                     : cause;
    if (!entry.once && entry.done && parts_.channel) log::warning("{} has ended: {}", entry.config.name, why);
    if (!entry.once) return;
    const std::string delivered = fmt::format("delivered: iteration {}", iteration.index);
    answer(std::exchange(entry.id, {}), !failure.empty() ? fmt::format("failed: {}", cause)
                                        : remark.empty() ? delivered
                                                         : fmt::format("{}, but {}", delivered, remark));
  });
}

void AskedTasks::end_iteration() {
  spent_ = 0;
  bool changed = false;
  for (std::size_t n = entries_.size(); n-- > 0;) {
    if (!entries_[n].done) continue;
    changed |= !entries_[n].once;
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(n));
    parts_.tasks.erase(parts_.tasks.begin() + static_cast<std::ptrdiff_t>(configured_ + n));
  }
  if (changed) retry_while_out_of_memory([&] { record(); });
}

void AskedTasks::close() {
  if (!parts_.channel) return;
  for (SteeringRequest& one : parts_.channel->requests()) waiting_.push_back(std::move(one));
  for (const SteeringRequest& one : waiting_) answer(one.id, "refused: the run is ending; no iteration comes any more");
  for (Entry& entry : entries_) {
    if (entry.once) answer(std::exchange(entry.id, {}), "refused: the run is ending; no iteration comes any more");
  }
  waiting_.clear();
}

}  // namespace sidestream
