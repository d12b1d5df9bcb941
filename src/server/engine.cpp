#include "server/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <utility>

#include "base/agree.hpp"
#include "base/float_environment.hpp"
#include "base/log.hpp"
#include "base/persist.hpp"
#include "base/timer.hpp"

namespace sidestream {

namespace {

enum Flag : std::uint64_t {
  has_iteration = 1,
  closing_flag = 2,
  refused_flag = 4,
  lagging_flag = 8,
  changed_flag = 16,
  left_flag = 32,
  lost_flag = 64,
  broken_flag = 128
};
/// Words of the agreement. Those with a complement show whether those who know say the same; the others are zero with
/// those who don't know.
enum Word : std::size_t {
  flags_word = 0,
  events_word,
  cycle_word,
  not_cycle_word,
  time_word,  ///< of the first client of each server, and another time of its clients
  not_time_word,
  first_time_word,  ///< of the first of all clients
  refusal_word,
  refusing_word,  ///< the client that refused, from 1
  not_refusing_word,
  header_words
};
constexpr std::chrono::microseconds sleep_limit{10'000};

std::vector<std::string> ledger_names(const std::vector<ScheduledTask>& tasks) {
  std::vector<std::string> names{"idle", "agree", "assemble"};
  for (const ScheduledTask& task : tasks) names.push_back(task.name());
  return names;
}
enum LedgerEntry : std::int32_t { idle = 0, agreement_wait = 1, assembly = 2, first_task = 3 };

std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }
void set_bit(std::uint64_t* words, std::size_t bit) { words[bit / 64] |= std::uint64_t{1} << (bit % 64); }
bool get_bit(const std::uint64_t* words, std::size_t bit) { return (words[bit / 64] >> (bit % 64)) & 1; }

}  // namespace

Engine::Engine(EngineParts parts)
    : parts_(std::move(parts)),
      guarded_(parts_.servers),
      assembler_(parts_.metadata, guarded_, parts_.movement),
      ledger_(ledger_names(parts_.tasks), parts_.timings),
      next_(parts_.first) {
  // While a server waits for the others it goes on taking in what its clients send, so that they needn't wait too.
  const auto take_in = [this] { receive(std::chrono::microseconds(0)); };
  parts_.servers.set_meanwhile(take_in);
  for (ScheduledTask& task : parts_.tasks) task.communicator().set_meanwhile(take_in);
}

/// Takes in what came. Where memory is short the next call goes on; any other failure is this server's end, and no
/// exception before the others know.
void Engine::receive(std::chrono::microseconds limit) {
  if (broken_) return;
  try {
    parts_.transport.receive(limit);
  } catch (const std::bad_alloc&) {
    // The transport has lost nothing.
  } catch (...) {
    broke();
  }
}

/// In a handler. The clients of this server hear of it at once: they may wait for it, and others for them.
void Engine::broke() noexcept {
  broken_ = std::current_exception();
  try {
    std::rethrow_exception(broken_);
  } catch (const std::exception& e) {
    try {
      parts_.transport.leave(std::string("a server can not go on: ") + e.what());
    } catch (...) {
      log::error("a server can not go on, and can not tell its clients: {}", e.what());
    }
  } catch (...) {
    log::error("a server can not go on");
  }
}

/// Collective: the sentence of the server that can not go on.
void Engine::end_together() {
  std::string why = "a server can not go on";
  try {
    together(parts_.servers, [&] {
      if (broken_) std::rethrow_exception(broken_);
    });
  } catch (const std::exception& e) {
    persist([&] { why = std::string("a server can not go on: ") + e.what(); });
  }
  if (!broken_) persist([&] { parts_.transport.leave(why); });
  throw Error(Code::system, why);
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
    if (ended < clients) flags |= parts_.transport.lost() ? left_flag | lost_flag : left_flag;
    if (ended < clients || inbox.end.refused || inbox.end.mismatch || transport.abandoned()) flags |= refused_flag;
  }
  if (transport.ended(next_ + 1) == clients) flags |= lagging_flag;
  if (i_changed_) flags |= changed_flag;
  return flags;
}

/// What the clients of this server said at the end of the iteration.
void Engine::add_end(std::vector<std::uint64_t>& words) {
  const EndRecord& end = parts_.transport.inbox(next_).end;
  words[events_word] = end.events;
  words[cycle_word] = static_cast<std::uint64_t>(end.iteration.cycle);
  // Clients of this server that differ among themselves show as a word that contradicts its own complement.
  words[not_cycle_word] = end.mismatch ? ~std::uint64_t{0} : ~words[cycle_word];
  if (end.mismatch) words[cycle_word] = ~std::uint64_t{0};
  const auto time = std::bit_cast<std::uint64_t>(end.iteration.time);
  const auto other = end.other < 0 ? time : std::bit_cast<std::uint64_t>(end.other_time);
  words[time_word] = time | other;
  words[not_time_word] = ~time | ~other;
  if (end.client == 0) words[first_time_word] = time;
  words[refusal_word] = end.refused;
  if (parts_.transport.ended(next_) < parts_.transport.clients()) words[refusal_word] |= Refusal::left;
  if (parts_.transport.abandoned()) words[refusal_word] |= Refusal::gave_up;
  if (end.refusing < 0) return;
  words[refusing_word] = static_cast<std::uint64_t>(end.refusing) + 1;
  words[not_refusing_word] = ~words[refusing_word];
}

std::vector<std::uint64_t> Engine::my_words() {
  const std::size_t variables = parts_.metadata.variables.size();
  std::vector<std::uint64_t> words(header_words + words_for(variables) + words_for(parts_.tasks.size()), 0);
  if (broken_) {
    words[flags_word] = broken_flag;
    return words;
  }
  i_changed_ |= parts_.transport.advance(next_);
  words[flags_word] = my_flags();
  if (words[flags_word] & has_iteration) {
    const Inbox& inbox = parts_.transport.inbox(next_);
    add_end(words);
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
  persist([&] { agreement.words = my_words(); });  // the others wait for them
  if (parts_.servers.size() > 1) parts_.servers.bit_or(agreement.words);
  const std::vector<std::uint64_t>& words = agreement.words;
  const std::uint64_t flags = words[flags_word];
  agreement.broken = flags & broken_flag;
  if (agreement.broken) return agreement;
  agreement.iteration = flags & has_iteration;
  agreement.closing = flags & closing_flag;
  agreement.refused = (flags & refused_flag) || (agreement.iteration && agreement.closing);
  agreement.lagging = flags & lagging_flag;
  agreement.changed = flags & changed_flag;
  agreement.events = words[events_word];
  agreement.at = {next_, static_cast<std::int64_t>(words[cycle_word]), std::bit_cast<double>(words[first_time_word])};
  agreement.why = static_cast<std::uint32_t>(words[refusal_word]);
  if ((words[refusing_word] & words[not_refusing_word]) == 0)
    agreement.client = static_cast<int>(words[refusing_word]) - 1;
  if (!agreement.iteration) return agreement;
  if (agreement.closing) agreement.why |= Refusal::left;
  check_cycles(agreement);
  check_times(agreement);
  if (agreement.why & Refusal::left) {
    persist([&] {
      complain(next_, flags & lost_flag
                          ? "a process of the simulation died before it ended the iteration; it was refused"
                          : "some clients closed before they ended the iteration; it was refused. Every client must "
                            "end every iteration");
    });
  }
  return agreement;
}

/// A bit that is set both in a word and in its complement was given differently by two clients: all servers see it.
void Engine::check_cycles(Agreement& agreement) {
  if ((agreement.words[cycle_word] & agreement.words[not_cycle_word]) == 0) return;
  agreement.refused = true;
  agreement.why |= Refusal::cycles;
  persist([&] {
    complain(next_,
             "the clients ended the iteration with different cycles; it was refused. Give end_iteration the same cycle "
             "on every rank");
  });
}

/// Times may differ, by what a rank rounds on its own: said once, since results carry the first client's.
void Engine::check_times(const Agreement& agreement) {
  if (times_compared_ || (agreement.words[time_word] & agreement.words[not_time_word]) == 0) return;
  times_compared_ = true;
  EndRecord mine;
  mine.client = -1;
  if (parts_.transport.ended(next_) > 0) mine = parts_.transport.inbox(next_).end;
  std::vector<Bytes> all;
  const auto gather = [&] { all = guarded_.gather(std::as_bytes(std::span(&mine, 1)), 0); };
  if (!guarded_.attempt(std::cref(gather)).empty()) return;  // of no consequence
  for (const Bytes& bytes : all) {
    EndRecord end;
    std::memcpy(static_cast<void*>(&end), bytes.data(), sizeof end);
    if (end.client < 0) continue;
    if (end.client > 0 && end.iteration.time != agreement.at.time) {
      end.other = end.client;
      end.other_time = end.iteration.time;
    }
    if (end.other < 0) continue;
    log::warning(
        "iteration {}: the clients gave different times, {} on client 0 and {} on client {}; results carry that of "
        "client 0, here and in later iterations",
        next_, agreement.at.time, end.other_time, end.other);
    return;
  }
}

/// Collective.
void Engine::check_blocks(Agreement& agreement) {
  if (agreement.changed) {
    const auto work = [&] { assembler_.update(parts_.transport); };
    const std::string failure = guarded_.attempt(std::cref(work));
    i_changed_ = !failure.empty();
    if (i_changed_) {
      assembler_.distrust();
      agreement.refused = true;
      agreement.why |= Refusal::on_server;
      return complain(next_, failure);
    }
  }
  const std::optional<BlockTable::Repeated>& repeated = assembler_.table().repeated();
  if (!repeated) return;
  agreement.refused = true;
  agreement.why |= Refusal::repeated;
  persist([&] {
    complain(next_,
             fmt::format("clients {} and {} both declare block {} of the mesh '{}'; iterations are refused until "
                         "one of them removes it. Give every block of a mesh an id of its own",
                         repeated->client, repeated->other, repeated->id,
                         parts_.metadata.meshes[static_cast<std::size_t>(repeated->mesh)].name));
  });
}

/// Every server calls it for the same failure; one of them logs it, the first time. Once called, it does not fail.
void Engine::complain(std::int64_t iteration, const std::string& message) {
  bool first = false;
  persist([&] { first = ledger_.failure(iteration, message); });
  persist([&] { parts_.transport.post_failure(message); });
  if (first && parts_.servers.rank() == 0) persist([&] { log::error("iteration {}: {}", iteration, message); });
}

/// Whether enough of what the task selects was published by anybody; counts where not all was.
bool Engine::can_run(ScheduledTask& task, const Agreement& agreement) {
  const std::vector<Selected>& wanted = task.selection().variables;
  const auto there = std::count_if(wanted.begin(), wanted.end(), [&](const Selected& s) {
    return get_bit(&agreement.words[header_words], s.variable);
  });
  if (there == static_cast<std::ptrdiff_t>(wanted.size())) return true;
  const bool runs = !task.counts() && there > 0;  // an output is written without it
  ++(runs ? task.incomplete : task.not_there);
  persist([&] {
    const std::string what = (left_out_.empty() ? "" : "; ") + task.name() + (runs ? " incomplete" : " left out");
    left_out_ += what;
  });
  ledger_.skipped_tasks += !runs;
  return runs;
}

std::vector<std::size_t> Engine::due_tasks(const Agreement& agreement) {
  const std::size_t wall = header_words + words_for(parts_.metadata.variables.size());
  std::vector<std::size_t> due;
  persist([&] { due.reserve(parts_.tasks.size()); });  // schedules of all servers go on in step: nothing fails below
  for (std::size_t t = 0; t < parts_.tasks.size(); ++t) {
    ScheduledTask& task = parts_.tasks[t];
    const std::string& event = parts_.task_events[t];
    const auto found = std::find(parts_.events.begin(), parts_.events.end(), event);
    const bool signalled = event.empty() || ((agreement.events >> (found - parts_.events.begin())) & 1);
    if (!task.schedule().due(agreement.at, signalled, get_bit(&agreement.words[wall], t), agreement.lagging)) continue;
    if (can_run(task, agreement)) due.push_back(t);
  }
  return due;
}

void Engine::run_task(std::size_t number, const Iteration& iteration, const Assembled& assembled, Results& results,
                      bool& failed) {
  ScheduledTask& task = parts_.tasks[number];
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
  std::int64_t absent = 0;
  for (const Block& block : parts_.transport.blocks()) blocks[block.mesh] += !block.empty();
  for (const Arrival& arrival : parts_.transport.inbox(next_).blocks) {
    arrived[arrival.record.variable] += !arrival.record.points().empty();
  }
  for (const Variable& variable : parts_.metadata.variables) {
    if (!variable.time_varying || !get_bit(&agreement.words[header_words], variable.id)) continue;
    std::int64_t declared = blocks[variable.mesh];
    if (parts_.metadata.mesh_of(variable).is_list()) {  // which may have points and no cells
      const std::vector<Block>& all = parts_.transport.blocks();
      declared = std::count_if(all.begin(), all.end(), [&](const Block& block) {
        return block.mesh == variable.mesh && !variable.points(block).empty();
      });
    }
    absent += declared - arrived[variable.id];
  }
  ledger_.absent_blocks += absent;
}

Demand Engine::demand_of(const std::vector<std::size_t>& due) const {
  Demand demand;
  demand.tasks = due;
  demand.repeats =
      std::all_of(parts_.tasks.begin(), parts_.tasks.end(), [](ScheduledTask& t) { return t.schedule().always(); }) &&
      due.size() == parts_.tasks.size();
  for (const std::size_t t : due) {
    const Selection& selection = parts_.tasks[t].selection();
    demand.selection.insert(demand.selection.end(), selection.variables.begin(), selection.variables.end());
    demand.catalogue |= selection.catalogue;
    demand.counts |= parts_.tasks[t].counts();
    for (const RangeRequest& range : selection.ranges) {
      const bool known = std::find(demand.ranges.begin(), demand.ranges.end(), range) != demand.ranges.end();
      if (!known) demand.ranges.push_back(range);
    }
  }
  return demand;
}

/// Nothing if it failed, for want of memory on one server, say: on all servers then.
std::optional<Assembled> Engine::assemble(const std::vector<std::size_t>& due, const Iteration& iteration,
                                          std::unique_ptr<Results>& results) {
  const double start = now();
  std::optional<Assembled> assembled;
  const auto work = [&] {
    results = parts_.results(iteration);
    assembled = assembler_.assemble(parts_.transport, next_, demand_of(due));
    ledger_.work(next_, assembly, start - parts_.origin, now() - start);
    ledger_.moved({next_, assembled->moved_blocks, assembled->moved_bytes, assembled->moved_layers});
  };
  const std::string failure = guarded_.attempt(std::cref(work));
  if (failure.empty()) return assembled;
  complain(next_, failure);
  return std::nullopt;
}

Outcome Engine::process(const Agreement& agreement, std::string& failures) {
  const std::vector<std::size_t> due = due_tasks(agreement);
  if (due.empty()) return Outcome::delivered;
  std::unique_ptr<Results> results;
  const std::optional<Assembled> assembled = assemble(due, agreement.at, results);
  if (!assembled) return Outcome::refused;
  bool failed = false;
  double spent = 0;
  for (std::size_t t : due) {
    bool this_failed = false;
    run_task(t, agreement.at, *assembled, *results, this_failed);
    if (this_failed) persist([&] { failures += (failed ? " " : "failed: ") + parts_.tasks[t].name(); });
    failed |= this_failed;
    spent += parts_.tasks[t].local_seconds();
  }
  const auto note = [&] { assembler_.note_cost(spent); };
  if (assembler_.wants_cost()) static_cast<void>(guarded_.attempt(std::cref(note)));  // plans do without
  return failed ? Outcome::failed : Outcome::delivered;
}

bool Engine::step() {
  const FloatEnvironment environment;
  // A client may have given up meanwhile, or sent more: a server with iterations in store would not look otherwise.
  receive(std::chrono::microseconds(0));
  const double start = now();
  Agreement agreement = agree();
  if (agreement.broken) end_together();
  if (!agreement.iteration) return !agreement.closing;
  check_blocks(agreement);
  if (parts_.servers.size() > 1) ledger_.work(next_, agreement_wait, start - parts_.origin, now() - start);
  if (!agreement.refused) persist([&] { count_absent(agreement); });
  std::string failed;
  left_out_.clear();
  const Outcome processed = agreement.refused ? Outcome::refused : process(agreement, failed);
  if (!agreement.refused && processed == Outcome::refused) agreement.why |= Refusal::on_server;
  const Outcome outcome = parts_.transport.verdict(next_, processed);
  if (processed != Outcome::refused && outcome == Outcome::refused) agreement.why |= Refusal::not_taken;
  persist([&] { ledger_.iteration({agreement.at, outcome, agreement.why, agreement.client, failed, left_out_}); });
  ++(outcome == Outcome::refused ? ledger_.refused : ledger_.delivered);
  if (outcome == Outcome::failed) ++ledger_.failed;
  persist([&] { parts_.transport.release(next_, outcome); });  // the clients wait for it
  ++next_;
  return true;
}

void Engine::run(const std::function<bool()>& stop) {
  for (;;) {
    const double start = now();
    while (!broken_ && parts_.transport.pending(next_) > 0 && !(stop && stop())) receive(sleep_limit);
    ledger_.work(next_, idle, start - parts_.origin, now() - start);
    if (stop) {
      std::int64_t stopping = stop();
      parts_.servers.maximum(std::span(&stopping, 1));
      if (stopping) return;
    }
    if (!step()) break;
  }
  parts_.transport.finish();
}

void Engine::report() const {
  if (parts_.servers.rank() != 0) return;
  for (const Ledger::Failure& failure : ledger_.failures()) {
    if (failure.count == 1) continue;
    log::error("iterations {} to {}: failed like iteration {} in {} cases: {}", failure.first_iteration,
               failure.last_iteration, failure.first_iteration, failure.count, failure.message);
  }
  for (ScheduledTask& task : parts_.tasks) {
    if (task.schedule().thinned() > 0) {
      log::warning("{}: left out in {} of {} iterations because the servers lagged behind (every: auto)", task.name(),
                   task.schedule().thinned(), next_);
    }
    if (task.not_there > 0) {
      log::warning("{}: {}: it was due {} times without {} being published", task.name(),
                   task.runs == 0 ? "never ran" : "left out", task.not_there,
                   task.counts() ? "one of its variables" : "any of its variables");
    }
    if (task.incomplete > 0) {
      log::warning("{}: written {} times without a variable that nobody published then", task.name(), task.incomplete);
    }
  }
}

}  // namespace sidestream
