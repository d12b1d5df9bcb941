// Agreement of all servers on one iteration, by one bitwise-or reduction of a short array of words.
//
// Every server contributes the words below, followed by a bit per variable that was published and a bit per task whose
// wall-clock time has come. The engine combines them with one collective call (bit_or), and every server reads the same
// result. A value on which all must agree (cycle, time, refusing client) is sent together with its complement: if
// servers contribute different values, some bit is set in both combined words. Servers that do not know a value
// contribute zeros, which change nothing.
#include "server/engine/agreement.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "data/derivation.hpp"
#include "server/engine/event_order.hpp"

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
  broken_flag = 128,
  signals_flag = 256,
  absent_flag = 512,
  asked_flag = 1024,
  unasked_flag = 2048,
  late_flag = 4096
};
/// Words of the agreement. Words with a complement show whether the servers that know the value agree; the others
/// contribute zeros.
enum Word : std::size_t {
  flags_word = 0,
  events_word,
  cycle_word,
  not_cycle_word,
  time_word,  ///< time of the first client of each server, and another time of its clients
  not_time_word,
  first_time_word,  ///< time of the first of all clients
  refusal_word,
  refusing_word,  ///< number of the client that refused, from 1
  not_refusing_word,
  header_words
};

std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }
void set_bit(std::uint64_t* words, std::size_t bit) { words[bit / 64] |= std::uint64_t{1} << (bit % 64); }
bool get_bit(const std::uint64_t* words, std::size_t bit) { return (words[bit / 64] >> (bit % 64)) & 1; }

std::uint64_t flags_of(const Contribution& mine, ServerTransport& transport) {
  const int clients = transport.traits().clients;
  std::uint64_t flags = 0;
  if (mine.asked) flags |= asked_flag;
  if (mine.late) flags |= late_flag;
  if (clients == 0) return flags;
  const ServerState state = transport.state(mine.index);
  const int ended = state.ended;
  if (ended > 0) flags |= has_iteration;
  if (ended == 0) flags |= closing_flag;
  if (ended > 0) {
    const EndRecord& end = state.inbox.end;
    if (ended < clients) flags |= state.lost ? left_flag | lost_flag : left_flag;
    const bool last = (end.events & mine.last) != 0;
    if (ended < clients || end.refused || end.mismatch || (state.abandoned && !last)) flags |= refused_flag;
    if (state.abandoned && last) flags |= late_flag;
    if (end.ending & Ending::asked) flags |= asked_flag;
    if (end.ending & Ending::unasked) flags |= unasked_flag;
  }
  if (transport.state(mine.index + 1).ended == clients) flags |= lagging_flag;
  if (mine.changed) flags |= changed_flag;
  if (mine.absent) flags |= absent_flag;
  if (ended > 0 && EventOrder::concerns_others(state.inbox)) flags |= signals_flag;
  return flags;
}

/// Adds the reports of this server's clients at the end of the iteration.
void add_end(const ServerState& state, int clients, std::uint64_t last, std::vector<std::uint64_t>& words) {
  const EndRecord& end = state.inbox.end;
  words[events_word] = end.events;
  words[cycle_word] = static_cast<std::uint64_t>(end.iteration.cycle);
  // A disagreement between clients of this server is sent as a word that contradicts its own complement.
  words[not_cycle_word] = end.mismatch ? ~std::uint64_t{0} : ~words[cycle_word];
  if (end.mismatch) words[cycle_word] = ~std::uint64_t{0};
  const auto time = std::bit_cast<std::uint64_t>(end.iteration.time);
  const auto other = end.other < 0 ? time : std::bit_cast<std::uint64_t>(end.other_time);
  words[time_word] = time | other;
  words[not_time_word] = ~time | ~other;
  if (end.client == 0) words[first_time_word] = time;
  words[refusal_word] = end.refused;
  if (state.ended < clients) words[refusal_word] |= Refusal::left;
  if (state.abandoned && (end.events & last) == 0) words[refusal_word] |= Refusal::gave_up;
  if (end.refusing < 0) return;
  words[refusing_word] = static_cast<std::uint64_t>(end.refusing) + 1;
  words[not_refusing_word] = ~words[refusing_word];
}

}  // namespace

std::vector<std::uint64_t> agreement_words(const Contribution& mine, ServerTransport& transport,
                                           const Metadata& metadata, std::vector<ScheduledTask>& tasks) {
  const std::size_t variables = metadata.variables.size() + mine.more;
  std::vector<std::uint64_t> words(header_words + words_for(variables) + words_for(tasks.size()), 0);
  if (mine.broken) {
    words[flags_word] = broken_flag;
    return words;
  }
  words[flags_word] = flags_of(mine, transport);
  const ServerState state = transport.state(mine.index);
  if (words[flags_word] & has_iteration) {
    add_end(state, transport.traits().clients, mine.last, words);
    for (const Arrival& arrival : state.inbox.blocks) {
      set_bit(&words[header_words], static_cast<std::size_t>(arrival.record.variable));
    }
  }
  for (const Arrival& arrival : state.tables.persistent) {
    set_bit(&words[header_words], static_cast<std::size_t>(arrival.record.variable));
  }
  for (std::size_t t = 0; t < tasks.size() && mine.clock; ++t) {
    if (tasks[t].schedule().wall_due(mine.seconds)) set_bit(&words[header_words + words_for(variables)], t);
  }
  return words;
}

Agreement read_agreement(std::vector<std::uint64_t> combined, std::int64_t index, std::size_t variables) {
  Agreement agreement;
  agreement.words = std::move(combined);
  agreement.variables = variables;
  const std::vector<std::uint64_t>& words = agreement.words;
  const std::uint64_t flags = words[flags_word];
  agreement.broken = flags & broken_flag;
  if (agreement.broken) return agreement;
  agreement.iteration = flags & has_iteration;
  agreement.closing = flags & closing_flag;
  agreement.refused = (flags & refused_flag) || (agreement.iteration && agreement.closing);
  agreement.lagging = flags & lagging_flag;
  agreement.changed = flags & changed_flag;
  agreement.signals = flags & signals_flag;
  agreement.absent = flags & absent_flag;
  agreement.died = flags & lost_flag;
  agreement.asked = flags & asked_flag;
  agreement.unasked = flags & unasked_flag;
  agreement.late = flags & late_flag;
  agreement.events = words[events_word];
  agreement.at = {index, static_cast<std::int64_t>(words[cycle_word]), std::bit_cast<double>(words[first_time_word])};
  agreement.why = static_cast<std::uint32_t>(words[refusal_word]);
  if ((words[refusing_word] & words[not_refusing_word]) == 0)
    agreement.client = static_cast<int>(words[refusing_word]) - 1;
  if (agreement.iteration && agreement.closing) agreement.why |= Refusal::left;
  if (agreement.iteration && agreement.cycles_differ()) {
    agreement.refused = true;
    agreement.why |= Refusal::cycles;
  }
  return agreement;
}

bool Agreement::has(std::int32_t variable) const {
  return get_bit(&words[header_words], static_cast<std::size_t>(variable));
}

void Agreement::mark_derived(const Metadata& metadata) {
  for (const Variable& variable : metadata.variables) {
    if (!variable.derived()) continue;
    std::vector<std::int32_t> inputs = variable.derivation->inputs();
    for (const std::int32_t array : variable.derivation->arrays(metadata)) inputs.push_back(array);
    for (const std::int32_t array : variable.derivation->particles(metadata)) inputs.push_back(array);
    const bool there = std::all_of(inputs.begin(), inputs.end(), [&](std::int32_t input) { return has(input); });
    if (there) set_bit(&words[header_words], static_cast<std::size_t>(variable.id));
  }
}

bool Agreement::wall_due(std::size_t task) const {
  return task < tasks && get_bit(&words[header_words + words_for(variables)], task);
}

/// Bits set both in a word and in its complement come from clients that gave different values; all servers see them.
bool Agreement::cycles_differ() const { return (words[cycle_word] & words[not_cycle_word]) != 0; }

bool Agreement::times_differ() const { return (words[time_word] & words[not_time_word]) != 0; }

}  // namespace sidestream
