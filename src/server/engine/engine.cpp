// One step of a server, collective over all servers:
//
// 1. agree: one reduction decides whether there is an iteration, whether it is refused, and what was published
//    (agreement).
// 2. steer and take_events: apply changed parameters and order the events of all clients.
// 3. check_blocks and check_absent: update the block table, and account for blocks that were not published.
// 4. process: evaluate conditions, find due tasks, assemble their values once, run them one after the other.
// 5. release: tell the clients the outcome and free the iteration's memory.
//
// Between two steps servers take requests, if these are allowed (engine_requests.cpp). Failures of tasks are contained
// (see guarded_communicator). A failure of this server's transport is kept in `broken_` until the next agreement, which
// then ends all servers with the same error.
#include "server/engine/engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "base/mpi/agree.hpp"
#include "data/derivation.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/float_environment.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

namespace {

/// Bits of the events that some task counts by node.
std::uint64_t counted_by_node(const EngineParts& parts) {
  std::uint64_t bits = 0;
  for (const TaskEvent& event : parts.task_events) {
    if (event.from != EventFrom::node) continue;
    const auto found = std::find(parts.events.begin(), parts.events.end(), event.name);
    bits |= std::uint64_t{1} << (found - parts.events.begin());
  }
  return bits;
}

/// Longest time that a server receives while it waits for clients, before it does other work.
constexpr std::chrono::microseconds sleep_limit{10'000};

constexpr double first_patience = 60;  // seconds
constexpr const char* late_sentence =
    "the servers have waited 60 s since the start, and not all clients have ended their first iteration. If the "
    "simulation computes, all is well. If it hangs, a call of MPI in it most likely still names MPI_COMM_WORLD, which has "
    "the servers' ranks too: give it the communicator of sidestream_comm (C++ Session::comm, Python session.comm)";

std::vector<std::string> engine_ledger_names(const std::vector<ScheduledTask>& tasks, bool asked) {
  std::vector<std::string> names{"idle", "agree", "assemble"};
  for (const ScheduledTask& task : tasks) names.push_back(task.name());
  if (asked) names.emplace_back("requests");
  return names;
}

}  // namespace

Engine::Engine(EngineParts parts)
    : parts_(std::move(parts)),
      guarded_(parts_.servers),
      assembler_(parts_.metadata, guarded_, parts_.movement),
      events_(parts_.events, parts_.node, parts_.clients, counted_by_node(parts_)),
      ledger_(engine_ledger_names(parts_.tasks, parts_.asked != nullptr), parts_.timings, parts_.rows),
      next_(parts_.first),
      most_variables_(parts_.metadata.variables.size() + (parts_.asked ? AskedTasks::most_new : 0)) {
  if (parts_.hears) bell_.emplace(parts_.servers);
  if (bell_ && !parts_.held.empty() && can_hold()) held_.emplace(parts_.held, parts_.metadata);
  // While a server waits for others it keeps receiving from its clients, so that they need not wait too.
  const auto receive_pending = [this] { receive(std::chrono::microseconds(0)); };
  parts_.servers.set_meanwhile(receive_pending);
  for (ScheduledTask& task : parts_.tasks) task.communicator().set_meanwhile(receive_pending);
  if (parts_.statistics) parts_.statistics->communicator().set_meanwhile(receive_pending);
  if (parts_.asked) {
    parts_.asked->on_new(
        [receive_pending](ScheduledTask& task) { task.communicator().set_meanwhile(receive_pending); });
  }
}

/// False if a partitioner omits blocks before they move: requests on values in place would see these blocks.
bool Engine::can_hold() const {
  const PartitionerKind* const partitioner = parts_.movement.partitioner;
  return parts_.transport.traits().values_in_place || partitioner == nullptr || !partitioner->restrict_to;
}

/// Receives what has arrived. If memory is short, the next call continues. Any other failure ends this server, but is
/// thrown only after the other servers know of it.
void Engine::receive(std::chrono::microseconds limit) {
  if (broken_) return;
  try {
    parts_.transport.receive(limit);
  } catch (const std::bad_alloc&) {
    // The transport has lost nothing: the next call continues.
  } catch (...) {
    mark_broken();
  }
}

/// Records the current exception; call it in a handler. Tells this server's clients at once, because they may wait for
/// it, and other clients for them.
void Engine::mark_broken() noexcept {
  broken_ = std::current_exception();
  try {
    std::rethrow_exception(broken_);
  } catch (const std::exception& e) {
    try {
      parts_.transport.finish(std::string("a server cannot go on: ") + e.what());
    } catch (...) {
      log::error("a server cannot go on, and cannot tell its clients: {}", e.what());
    }
  } catch (...) {
    log::error("a server cannot go on");
  }
}

/// Throws the error of the server that cannot continue. Collective.
void Engine::throw_on_all() {
  std::string why = "a server cannot go on";
  try {
    run_collectively(parts_.servers, [&] {
      if (broken_) std::rethrow_exception(broken_);
    });
  } catch (const std::exception& e) {
    retry_while_out_of_memory([&] { why = std::string("a server cannot go on: ") + e.what(); });
  }
  if (!broken_) retry_while_out_of_memory([&] { parts_.transport.finish(why); });
  throw Error(Code::system, why);
}

Agreement Engine::agree() {
  std::vector<std::uint64_t> words;
  retry_while_out_of_memory([&] {  // the others wait for these words
    bool there = false;
    absent_.clear();
    if (!broken_) {
      parts_.transport.advance(next_);
      const ServerState state = parts_.transport.state(next_);
      i_changed_ |= !state.tables.changes.empty();
      there = state.ended > 0;
      if (there) absent_ = find_absent(state, parts_.metadata);
    }
    const Contribution mine{next_,
                            i_changed_,
                            there && absent_ != known_absent_,
                            broken_ != nullptr,
                            parts_.servers.rank() == 0,
                            now() - parts_.origin,
                            most_variables_ - parts_.metadata.variables.size(),
                            is_asked_to_end(),
                            is_late(),
                            parts_.ending.event};
    words = agreement_words(mine, parts_.transport, parts_.metadata, parts_.tasks);
    if (parts_.asked) words.push_back(broken_ ? 0 : parts_.asked->contribute(now()));
    if (!parts_.steering) return;
    words.resize(words.size() + parts_.steering->words());
    const std::span<std::uint64_t> changes = std::span(words).last(parts_.steering->words());
    if (!broken_) parts_.steering->contribute(changes, next_, now());
  });
  if (parts_.servers.size() > 1) parts_.servers.bit_or(words);
  Agreement agreement = read_agreement(std::move(words), index(), most_variables_);
  agreement.tasks = parts_.tasks.size();
  if (agreement.broken || !agreement.iteration) return agreement;
  agreement.mark_derived(parts_.metadata);
  check_cycles(agreement);
  check_times(agreement);
  if (agreement.why & Refusal::left) {
    retry_while_out_of_memory([&] {
      complain(index(), agreement.died
                            ? "a process of the simulation died before it ended the iteration; it was refused"
                            : "some clients closed before they ended the iteration; it was refused. Every client must "
                              "end every iteration");
    });
  }
  return agreement;
}

/// Tells the clients the changed parameters before the iteration's outcome. Closed clients no longer read.
void Engine::steer(const Agreement& agreement) {
  if (!parts_.steering || (agreement.why & Refusal::left) != 0) return;
  try {
    const std::span<const std::uint64_t> words(agreement.words);
    const std::optional<Notice> notice = parts_.steering->take_up(words.last(parts_.steering->words()), next_);
    if (notice && !parts_.transport.notify(*notice)) {
      fail(Code::internal, "the clients cannot be told of changed parameters");
    }
    parts_.steering->confirm();
  } catch (...) {
    mark_broken();  // otherwise its clients would continue with other values than the rest
  }
}

/// Reports a failure. Every server calls it for the same failure; one of them logs it, the first time. Never fails.
void Engine::complain(std::int64_t iteration, const std::string& message) {
  bool first = false;
  retry_while_out_of_memory([&] { first = ledger_.failure(iteration, message); });
  retry_while_out_of_memory([&] { parts_.transport.post_failure(message); });
  if (first && !parts_.index && parts_.servers.rank() == 0)
    retry_while_out_of_memory([&] { log::error("iteration {}: {}", iteration, message); });
}

std::vector<std::size_t> Engine::due_tasks(const Agreement& agreement) {
  std::vector<std::size_t> due;
  retry_while_out_of_memory([&] { due.reserve(parts_.tasks.size()); });  // schedules of all servers advance in step, so
                                                                         // nothing below may fail
  for (std::size_t t = 0; t < configured(); ++t) {
    ScheduledTask& task = parts_.tasks[t];
    const bool signalled = is_signalled(parts_.task_events[t]);
    const bool holds = !parts_.triggers || parts_.triggers->holds(t);
    // An output that keeps iterations has work in every iteration.
    const bool has_work = signalled && (holds || task.keeps());
    const bool in_time = task.schedule().due(agreement.at, has_work, agreement.wall_due(t), agreement.lagging);
    if (runs_at_end(task, agreement, in_time) && can_run(task, agreement)) due.push_back(t);
  }
  if (parts_.asked && !agreement.late) add_asked(due, agreement);
  return due;
}

/// Runs a task. A task for the servers of some clients gets no blocks and no events on the other servers, which take
/// part in `combine` with an empty result.
void Engine::run_task(std::size_t number, const Iteration& iteration, const Assembled& assembled, Results& results,
                      Processed& processed) {
  ScheduledTask& task = parts_.tasks[number];
  const TaskEvent& event = parts_.task_events[number];
  const bool is_here = event.name.empty() || events_.is_here(event.from, number_of(event));
  Assembled nothing;
  if (!is_here) retry_while_out_of_memory([&] { nothing.views.blocks.resize(assembled.views.blocks.size()); });
  const double start = now();
  const bool fires = !parts_.triggers || parts_.triggers->holds(number);
  TaskOutcome done = is_here ? task.run({iteration, parts_.metadata, assembled, events_.pending(), fires}, results)
                             : task.run({iteration, parts_.metadata, nothing, {}, fires}, results);
  ledger_.work(iteration.index, first_task + static_cast<std::int32_t>(number), start - parts_.origin, now() - start,
               task.local_seconds());
  if (done.refusal) processed.refusal = std::move(done.refusal);
  if (done.failure.empty()) {
    if (task.ends_run() && fires && ending_task_.empty()) {
      retry_while_out_of_memory([&] { ending_task_ = fmt::format("'then: end' of {}", task.name()); });
    }
    return;
  }
  const bool first = processed.outcome != Outcome::failed;
  processed.outcome = Outcome::failed;
  complain(iteration.index, done.failure);
  retry_while_out_of_memory([&] { processed.failures += (first ? "failed: " : " ") + task.name(); });
}

Demand Engine::demand_of(const std::vector<std::size_t>& due, const Iteration& iteration) const {
  Demand demand;
  for (const std::size_t t : due) demand.tasks.push_back(parts_.asked ? parts_.asked->number_of(t) : t);
  demand.iteration = iteration;
  demand.repeats =
      std::all_of(parts_.tasks.begin(), parts_.tasks.end(), [](ScheduledTask& t) { return t.schedule().always(); }) &&
      due.size() == parts_.tasks.size();
  for (const std::size_t t : due) {
    const Selection& selection = parts_.tasks[t].selection();
    const std::vector<Selected>&inputs = parts_.tasks[t].inputs(), &derived = parts_.tasks[t].derived();
    demand.selection.insert(demand.selection.end(), inputs.begin(), inputs.end());
    demand.derived.insert(demand.derived.end(), derived.begin(), derived.end());
    demand.catalogue |= selection.catalogue;
    demand.counts |= parts_.tasks[t].counts() || has_deposits(derived, parts_.metadata);
    for (const RangeRequest& range : selection.ranges) {
      const bool known = std::find(demand.ranges.begin(), demand.ranges.end(), range) != demand.ranges.end();
      if (!known) demand.ranges.push_back(range);
    }
  }
  return demand;
}

/// Assembles the values of due tasks. If it fails on one server, for example for lack of memory, it tries again without
/// asked analyses. Returns null on all servers if that fails, too.
const Assembled* Engine::assemble(std::vector<std::size_t>& due, const Iteration& iteration,
                                  std::unique_ptr<Results>& results) {
  const double start = now();
  const Assembled* assembled = nullptr;
  const auto work = [&] {
    if (!results) results = parts_.results(iteration);
    assembled = &assembler_.assemble(parts_.transport, next_, demand_of(due, iteration));
    ledger_.work(next_, assembly, start - parts_.origin, now() - start);
    ledger_.moved({next_, assembled->moved_blocks, assembled->moved_bytes, assembled->moved_layers});
  };
  std::string failure = guarded_.attempt(work);
  if (!failure.empty() && held_ && held_->held()) {
    held_->drop();  // the memory of held values may suffice
    assembler_.end();
    failure = guarded_.attempt(work);
  }
  if (failure.empty()) {
    if (!parts_.transport.traits().values_in_place) {  // lets clients continue meanwhile
      retry_while_out_of_memory([&] { parts_.transport.release(next_, Outcome::pending); });
    }
    return assembled;
  }
  if (drop_asked(due, iteration, failure)) {
    assembler_.end();
    return due.empty() ? nullptr : assemble(due, iteration, results);
  }
  complain(index(), failure);
  return nullptr;
}

Engine::Processed Engine::process(const Agreement& agreement) {
  std::unique_ptr<Results> results;
  Processed processed;
  if (!judge(agreement, results)) {
    processed.outcome = Outcome::failed;
    retry_while_out_of_memory([&] { processed.failures = "failed: when"; });
  }
  std::vector<std::size_t> due = due_tasks(agreement);
  if (due.empty()) return processed;
  const Assembled* assembled = assemble(due, agreement.at, results);
  if (!assembled) {
    if (!due.empty()) processed.outcome = Outcome::refused;
    return processed;
  }
  double spent = 0;
  bool is_checkpoint = false;
  for (std::size_t t : due) {
    if (t >= configured()) {
      run_asked(t, agreement.at, *assembled, *results);
      continue;
    }
    run_task(t, agreement.at, *assembled, *results, processed);
    spent += parts_.tasks[t].local_seconds();
    is_checkpoint |= parts_.tasks[t].for_restart();
  }
  if (is_checkpoint && !parts_.index) keep_states(agreement.at, false);
  const auto note = [&] { assembler_.note_cost(spent); };
  if (assembler_.wants_cost()) static_cast<void>(guarded_.attempt(note));  // plans work without it
  return processed;
}

bool Engine::step() {
  const FloatEnvironment environment;
  // A client may have given up or sent more meanwhile; a server with stored iterations would not check otherwise.
  receive(std::chrono::microseconds(0));
  const double start = now();
  Agreement agreement = agree();
  if (agreement.broken) throw_on_all();
  if (!agreement.iteration) {
    if (agreement.closing) end_of_iterations();
    return !agreement.closing;
  }
  if (held_) held_->clear();
  steer(agreement);
  end_run(agreement);
  take_requests(agreement);
  take_events(agreement);
  check_blocks(agreement);
  if (!agreement.refused) check_absent(agreement);
  if (parts_.servers.size() > 1) ledger_.work(next_, agreement_wait, start - parts_.origin, now() - start);
  if (!agreement.refused) count_absent(agreement);
  if (held_ && !agreement.refused && !agreement.lagging) hold(agreement);
  latest_ = agreement.at;
  left_out_ = std::move(missing_);
  if (agreement.refused) leave_out(agreement);
  if (agreement.refused) pass_kept(agreement.at);
  const Processed processed = agreement.refused ? Processed{Outcome::refused} : process(agreement);
  if (!agreement.refused && processed.outcome == Outcome::refused) agreement.why |= Refusal::on_server;
  if (processed.outcome != Outcome::refused) events_.clear();
  const Outcome outcome = processed.refusal ? Outcome::refused : processed.outcome;
  retry_while_out_of_memory([&] {
    ledger_.iteration({agreement.at, outcome, agreement.why, agreement.client, processed.failures, left_out_,
                       processed.refusal.value_or("")});
  });
  if (held_ && outcome == Outcome::refused) held_->clear();
  ++(outcome == Outcome::refused ? ledger_.refused : ledger_.delivered);
  if (outcome == Outcome::failed) ++ledger_.failed;
  assembler_.end();
  retry_while_out_of_memory([&] { parts_.transport.release(next_, outcome); });  // the clients wait for it
  if (parts_.asked) parts_.asked->end_iteration();
  ledger_.refresh();
  ++next_;
  return true;
}

/// Counts a refused iteration in the outputs that would have kept it. That is unknown for schedules in units other than
/// iterations.
void Engine::pass_kept(const Iteration& iteration) {
  for (std::size_t t = 0; t < configured(); ++t) {
    ScheduledTask& task = parts_.tasks[t];
    const Schedule& schedule = task.schedule().schedule();
    const double from_start = static_cast<double>(iteration.index) - schedule.start.value_or(0);
    const bool due = schedule.unit == Schedule::Unit::iterations && std::fmod(from_start, schedule.every) == 0;
    if (task.keeps() && due) retry_while_out_of_memory([&] { task.pass_kept(iteration); });
  }
}

/// Receives until every client has ended the next iteration or closed, or `stops` is true.
void Engine::wait_for_clients(const std::function<bool()>& stops, LateNote& late) {
  while (!broken_ && parts_.transport.state(next_).pending > 0 && !stops()) {
    receive(sleep_limit);
    if (next_ == 0) late.check();
  }
}

void Engine::run(const std::function<bool()>& stop, const Meet& meet) {
  std::optional<std::int64_t> end;  // other servers have reached this iteration, so all of it will arrive
  const auto stops = [&] { return stop && !end && stop(); };
  LateNote late(!stop && parts_.servers.rank() == 0 && next_ == 0, first_patience, late_sentence);
  for (;;) {
    const double start = now();
    const double answering = !bell_           ? 0
                             : parts_.in_step ? await_requests_in_step(stops, late)
                                              : await_requests(stops, late);
    wait_for_clients(stops, late);
    ledger_.work(next_, idle, start - parts_.origin, now() - start - answering);
    if (stop && !end) {
      std::int64_t stopping = stop();
      parts_.servers.maximum(std::span(&stopping, 1));
      if (stopping) end = meet ? meet(next_) : next_;
    }
    if (end && next_ >= *end) {
      if (latest_) keep_states(*latest_, true);  // other servers continue
      return;
    }
    if (!step()) break;
  }
  if (meet && !end) static_cast<void>(meet(next_));
  parts_.transport.finish({});
}

}  // namespace sidestream
