#include "server/engine.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "base/float_environment.hpp"
#include "base/log.hpp"
#include "base/timer.hpp"

namespace sidestream {

namespace {

enum Flag : std::uint64_t {
  has_iteration = 1,
  closing_flag = 2,
  refused_flag = 4,
  lagging_flag = 8,
  changed_flag = 16,
  left_flag = 32
};
constexpr std::size_t header_words = 6;  // flags, events, cycle, time, and the complements of the last two
constexpr std::chrono::microseconds sleep_limit{10'000};

std::vector<std::string> ledger_names(const std::vector<Task>& tasks) {
  std::vector<std::string> names{"idle", "agree", "assemble"};
  for (const Task& task : tasks) names.push_back(task.name());
  return names;
}
enum LedgerEntry : std::int32_t { idle = 0, agreement_wait = 1, assembly = 2, first_task = 3 };

std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }
void set_bit(std::uint64_t* words, std::size_t bit) { words[bit / 64] |= std::uint64_t{1} << (bit % 64); }
bool get_bit(const std::uint64_t* words, std::size_t bit) { return (words[bit / 64] >> (bit % 64)) & 1; }

}  // namespace

Engine::Engine(EngineParts parts)
    : parts_(std::move(parts)),
      assembler_(parts_.metadata, parts_.servers, parts_.movement),
      ledger_(ledger_names(parts_.tasks), parts_.timings),
      next_(parts_.first) {
  // While a server waits for the others it goes on taking in what its clients send, so that they needn't wait too.
  const auto take_in = [&transport = parts_.transport] { transport.receive(std::chrono::microseconds(0)); };
  parts_.servers.set_meanwhile(take_in);
  for (Task& task : parts_.tasks) task.communicator().set_meanwhile(take_in);
}

std::uint64_t Engine::my_flags() {
  ServerTransport& transport = parts_.transport;
  const int clients = transport.clients();
  if (clients == 0) return 0;
  const int ended = transport.ended(next_);
  std::uint64_t flags = 0;
  if (ended > 0) flags |= has_iteration;
  if (ended == 0) flags |= closing_flag;
  if (ended > 0) {
    const Inbox& inbox = transport.inbox(next_);
    if (ended < clients) flags |= left_flag;
    if (ended < clients || inbox.end.refused || transport.abandoned()) flags |= refused_flag;
  }
  if (transport.ended(next_ + 1) == clients) flags |= lagging_flag;
  if (i_changed_) flags |= changed_flag;
  return flags;
}

std::vector<std::uint64_t> Engine::my_words() {
  const std::size_t variables = parts_.metadata.variables.size();
  std::vector<std::uint64_t> words(header_words + words_for(variables) + words_for(parts_.tasks.size()), 0);
  i_changed_ |= parts_.transport.advance(next_);
  words[0] = my_flags();
  if (words[0] & has_iteration) {
    const Inbox& inbox = parts_.transport.inbox(next_);
    words[1] = inbox.end.events;
    words[2] = static_cast<std::uint64_t>(inbox.end.iteration.cycle);
    words[3] = std::bit_cast<std::uint64_t>(inbox.end.iteration.time);
    words[4] = ~words[2];
    // Clients of this server that differ among themselves show as a word that contradicts its own complement.
    words[5] = inbox.mismatch ? ~std::uint64_t{0} : ~words[3];
    if (inbox.mismatch) words[3] = ~std::uint64_t{0};
    for (const Arrival& arrival : inbox.blocks) set_bit(&words[header_words], arrival.record.variable);
  }
  for (const Arrival& arrival : parts_.transport.persistent()) set_bit(&words[header_words], arrival.record.variable);
  if (parts_.servers.rank() == 0) {
    const double seconds = now() - parts_.origin;
    for (std::size_t t = 0; t < parts_.tasks.size(); ++t) {
      if (parts_.tasks[t].schedule().wall_due(seconds)) set_bit(&words[header_words + words_for(variables)], t);
    }
  }
  return words;
}

Engine::Agreement Engine::agree() {
  Agreement agreement;
  agreement.words = my_words();
  if (parts_.servers.size() > 1) parts_.servers.bit_or(agreement.words);
  const std::uint64_t flags = agreement.words[0];
  agreement.iteration = flags & has_iteration;
  agreement.closing = flags & closing_flag;
  agreement.refused = (flags & refused_flag) || (agreement.iteration && agreement.closing);
  agreement.lagging = flags & lagging_flag;
  agreement.changed = flags & changed_flag;
  agreement.events = agreement.words[1];
  agreement.at = {next_, static_cast<std::int64_t>(agreement.words[2]), std::bit_cast<double>(agreement.words[3])};
  // A bit that is set both in a word and in its complement was given differently by two servers: all servers see it.
  if ((agreement.words[2] & agreement.words[4]) != 0 || (agreement.words[3] & agreement.words[5]) != 0) {
    agreement.refused = true;
    complain(
        next_,
        "the clients ended the iteration with different cycles or times; it was refused. Give end_iteration the same "
        "cycle and time on every rank");
  }
  if ((flags & left_flag) || (agreement.iteration && agreement.closing)) {
    complain(next_,
             "some clients closed before they ended the iteration; it was refused. Every client must end every "
             "iteration");
  }
  table_changed_ |= agreement.changed;
  i_changed_ = false;
  return agreement;
}

/// Every server calls it for the same failure; one of them logs it, the first time.
void Engine::complain(std::int64_t iteration, const std::string& message) {
  const bool first = ledger_.failure(iteration, message);
  parts_.transport.post_failure(message);
  if (first && parts_.servers.rank() == 0) log::error("iteration {}: {}", iteration, message);
}

bool Engine::all_there(const Task& task, const Agreement& agreement) const {
  return std::all_of(task.selection().variables.begin(), task.selection().variables.end(),
                     [&](const Selected& s) { return get_bit(&agreement.words[header_words], s.variable); });
}

std::vector<std::size_t> Engine::due_tasks(const Agreement& agreement) {
  const std::size_t wall = header_words + words_for(parts_.metadata.variables.size());
  std::vector<std::size_t> due;
  for (std::size_t t = 0; t < parts_.tasks.size(); ++t) {
    Task& task = parts_.tasks[t];
    const std::string& event = parts_.task_events[t];
    const auto found = std::find(parts_.events.begin(), parts_.events.end(), event);
    const bool signalled = event.empty() || ((agreement.events >> (found - parts_.events.begin())) & 1);
    if (!task.schedule().due(agreement.at, signalled, get_bit(&agreement.words[wall], t), agreement.lagging)) continue;
    if (all_there(task, agreement)) {
      due.push_back(t);
    } else {
      ++task.not_there;
    }
  }
  return due;
}

void Engine::run_task(std::size_t number, const Iteration& iteration, const Assembled& assembled, Results& results,
                      bool& failed) {
  Task& task = parts_.tasks[number];
  const double start = now();
  const std::string failure = task.run(iteration, parts_.metadata, assembled, results);
  ledger_.work(iteration.index, first_task + static_cast<std::int32_t>(number), start - parts_.origin, now() - start);
  if (failure.empty()) return;
  failed = true;
  complain(iteration.index, failure);
}

/// Counts blocks of this server's clients that were declared and not delivered, of variables that somebody published.
void Engine::count_absent(const Agreement& agreement) {
  std::map<std::int32_t, std::int64_t> blocks, arrived;
  for (const Block& block : parts_.transport.blocks()) blocks[block.mesh] += !block.cells.empty();
  for (const Arrival& arrival : parts_.transport.inbox(next_).blocks) {
    arrived[arrival.record.variable] += !arrival.record.block.cells.empty();
  }
  for (const Variable& variable : parts_.metadata.variables) {
    if (!variable.time_varying || !get_bit(&agreement.words[header_words], variable.id)) continue;
    ledger_.absent_blocks += blocks[variable.mesh] - arrived[variable.id];
  }
}

Demand Engine::demand_of(const std::vector<std::size_t>& due) const {
  Demand demand;
  demand.tasks = due;
  for (const std::size_t t : due) {
    const Selection& selection = parts_.tasks[t].selection();
    demand.selection.insert(demand.selection.end(), selection.variables.begin(), selection.variables.end());
    demand.catalogue |= selection.catalogue;
    for (const RangeRequest& range : selection.ranges) {
      const bool known = std::find(demand.ranges.begin(), demand.ranges.end(), range) != demand.ranges.end();
      if (!known) demand.ranges.push_back(range);
    }
  }
  return demand;
}

/// Nothing if it failed, for want of memory on one server, say: on all servers then.
std::optional<Assembled> Engine::assemble(const std::vector<std::size_t>& due) {
  const double start = now();
  try {
    Assembled assembled = assembler_.assemble(parts_.transport, next_, demand_of(due), table_changed_);
    table_changed_ = false;
    ledger_.work(next_, assembly, start - parts_.origin, now() - start);
    ledger_.moved({next_, assembled.moved_blocks, assembled.moved_bytes, assembled.moved_layers});
    return assembled;
  } catch (const Error& e) {
    complain(next_, e.what());
    return std::nullopt;
  }
}

Outcome Engine::process(const Agreement& agreement) {
  const std::vector<std::size_t> due = due_tasks(agreement);
  if (due.empty()) return Outcome::delivered;
  const std::optional<Assembled> assembled = assemble(due);
  if (!assembled) return Outcome::refused;
  const std::unique_ptr<Results> results = parts_.results(agreement.at);
  bool failed = false;
  double spent = 0;
  for (std::size_t t : due) {
    run_task(t, agreement.at, *assembled, *results, failed);
    spent += parts_.tasks[t].local_seconds();
  }
  assembler_.note_cost(spent);
  return failed ? Outcome::failed : Outcome::delivered;
}

bool Engine::step() {
  const FloatEnvironment environment;
  // A client may have given up meanwhile, or sent more: a server with iterations in store would not look otherwise.
  parts_.transport.receive(std::chrono::microseconds(0));
  const double start = now();
  const Agreement agreement = agree();
  if (!agreement.iteration) return !agreement.closing;
  if (parts_.servers.size() > 1) ledger_.work(next_, agreement_wait, start - parts_.origin, now() - start);
  if (!agreement.refused) count_absent(agreement);
  const Outcome outcome = agreement.refused ? Outcome::refused : process(agreement);
  ++(outcome == Outcome::refused ? ledger_.refused : ledger_.delivered);
  if (outcome == Outcome::failed) ++ledger_.failed;
  parts_.transport.release(next_, outcome);
  ++next_;
  return true;
}

void Engine::run(const std::function<bool()>& stop) {
  for (;;) {
    const double start = now();
    while (parts_.transport.pending(next_) > 0 && !(stop && stop())) parts_.transport.receive(sleep_limit);
    ledger_.work(next_, idle, start - parts_.origin, now() - start);
    if (stop) {
      std::int64_t stopping = stop();
      parts_.servers.maximum(std::span(&stopping, 1));
      if (stopping) return;
    }
    if (!step()) return;
  }
}

void Engine::report() const {
  if (parts_.servers.rank() != 0) return;
  for (Task& task : parts_.tasks) {
    if (task.schedule().thinned() > 0) {
      log::warning("{}: left out in {} of {} iterations because the servers lagged behind (every: auto)", task.name(),
                   task.schedule().thinned(), next_);
    }
    if (task.runs == 0 && task.not_there > 0) {
      log::warning("{}: never ran: it was due {} times, each time without one of its variables being published",
                   task.name(), task.not_there);
    }
  }
}

}  // namespace sidestream
