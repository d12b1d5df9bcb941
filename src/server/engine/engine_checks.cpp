// Checks of an iteration before servers decide what runs. Each gives the same result on all servers.
//
// 1. Cycles that differ refuse the iteration; times that differ are reported once.
// 2. check_blocks: updates the block table when blocks have changed. A block that two clients declare refuses
//    iterations until one removes it; a failure to update refuses this one, and the table is rebuilt.
// 3. check_absent: blocks that were declared and not published cover nothing. Servers exchange them only when they
//    change.
// 4. can_run: an analysis runs if all its variables came and no cell would count twice; an output if any came.
#include <fmt/format.h>

#include <cstring>
#include <functional>

#include "server/engine/engine.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

void Engine::check_cycles(const Agreement& agreement) {
  if (!agreement.cycles_differ()) return;
  retry_while_out_of_memory([&] {
    complain(index(),
             "the clients ended the iteration with different cycles; it was refused. Give end_iteration the same cycle "
             "on every rank");
  });
}

/// Reports differing times once. Times may differ by rounding on each rank; results carry the first client's.
void Engine::check_times(const Agreement& agreement) {
  if (times_compared_ || !agreement.times_differ()) return;
  times_compared_ = true;
  EndRecord mine;
  mine.client = -1;
  const ServerState state = parts_.transport.state(next_);
  if (state.ended > 0) mine = state.inbox.end;
  std::vector<Bytes> all;
  const auto gather = [&] { all = guarded_.gather(bytes_of(mine), 0); };
  if (!guarded_.attempt(gather).empty()) return;  // a failure here has no consequences
  for (const Bytes& bytes : all) {
    auto end = record_of<EndRecord>(bytes);
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

/// Updates the block table if blocks have changed. Collective.
void Engine::check_blocks(Agreement& agreement) {
  if (agreement.changed) {
    const auto work = [&] { assembler_.update(parts_.transport.state(next_).tables); };
    const std::string failure = guarded_.attempt(work);
    i_changed_ = !failure.empty();
    if (i_changed_) {
      assembler_.invalidate();
      agreement.refused = true;
      agreement.why |= Refusal::on_server;
      return complain(index(), failure);
    }
  }
  const std::optional<BlockTable::Repeated>& repeated = assembler_.table().repeated();
  if (!repeated) return;
  agreement.refused = true;
  agreement.why |= Refusal::repeated;
  retry_while_out_of_memory([&] {
    complain(index(),
             fmt::format("clients {} and {} both declare block {} of the mesh '{}'; iterations are refused until "
                         "one of them removes it. Give every block of a mesh an id of its own",
                         repeated->client, repeated->other, repeated->id,
                         parts_.metadata.meshes[static_cast<std::size_t>(repeated->mesh)].name));
  });
}

/// Applies missing blocks, which cover nothing. Servers exchange them only after changes. Collective.
void Engine::check_absent(Agreement& agreement) {
  // Called last, because missing blocks overlap nothing.
  const auto warn = [&] {
    if (agreement.changed || agreement.absent) retry_while_out_of_memory([&] { assembler_.warn_of_overlap(); });
  };
  missing_.clear();
  if (!agreement.absent && assembler_.absent().none()) return warn();
  const auto work = [&] {
    if (agreement.absent) assembler_.gather_absent(absent_);
    assembler_.settle_absent([&](std::int32_t variable) { return agreement.has(variable); });
  };
  const std::string failure = guarded_.attempt(work);
  if (!failure.empty()) {
    retry_while_out_of_memory(
        [&] { known_absent_.assign(1, AbsentBlock{}); });  // matches nothing, so the next iteration tries again
    assembler_.invalidate();
    i_changed_ = true;
    agreement.refused = true;
    agreement.why |= Refusal::on_server;
    return complain(index(), failure);
  }
  if (agreement.absent) retry_while_out_of_memory([&] { known_absent_ = absent_; });
  warn();
  if (!parts_.gaps) retry_while_out_of_memory([&] { note_absent(); });
}

/// Adds missing blocks to every row of the table of iterations, and to the log when they change.
void Engine::note_absent() {
  constexpr int most_logged = 5;
  missing_ = assembler_.absent().text();
  if (missing_.empty() || missing_ == logged_missing_ || parts_.servers.rank() != 0 || times_logged_ == most_logged)
    return;
  logged_missing_ = missing_;
  const std::string overlap = assembler_.absent().overlap(assembler_.table());
  ++times_logged_;
  log::warning(
      "iteration {}: {}{}. A block that is declared and not published covers nothing: what lies under it counts. Publish "
      "it whenever the variable is published, or remove it (remove_block){}",
      next_, missing_, overlap.empty() ? "" : ": " + overlap,
      times_logged_ == most_logged ? "; from now on only the table of iterations says so" : "");
}

/// A cell of the analysis' selection that is partly covered, so that the overlap would count twice. Nothing for
/// outputs, which write blocks unchanged.
std::optional<CoveredInPart> Engine::counted_twice(ScheduledTask& task) {
  if (!task.counts()) return std::nullopt;
  for (const Selected& selected : task.selection().variables) {
    const std::int32_t mesh = parts_.metadata.variables[static_cast<std::size_t>(selected.variable)].mesh;
    const auto on_it = [mesh](const CoveredInPart& one) { return one.mesh == mesh; };
    const auto& all = assembler_.table_of(selected.variable).covered_in_part(parts_.metadata);
    const auto found = std::find_if(all.begin(), all.end(), on_it);
    if (found != all.end()) return *found;
  }
  return std::nullopt;
}

/// True if no cell or point of the analysis' selection would count twice.
bool Engine::counts_once(ScheduledTask& task) {
  const std::optional<CoveredInPart> cut = counted_twice(task);
  if (!cut) return true;
  retry_while_out_of_memory([&] {
    complain(index(),
             fmt::format("analyses of the mesh '{}' do not run: block {} of level {} covers a part of cell ({}) of "
                         "block {} of level {}, which no other block completes, and what is there would count "
                         "twice; let blocks begin and end at faces of coarser cells",
                         parts_.metadata.meshes[static_cast<std::size_t>(cut->mesh)].name, cut->fine, cut->fine_level,
                         fmt::join(cut->cell, ", "), cut->coarse, cut->coarse_level));
  });
  return false;
}

/// True if enough of the task's selection was published by any client; updates the counts if not all was.
bool Engine::can_run(ScheduledTask& task, const Agreement& agreement) {
  if (!counts_once(task)) {
    ++ledger_.skipped_tasks;
    retry_while_out_of_memory([&] { left_out_ += (left_out_.empty() ? "" : "; ") + task.name() + " left out"; });
    return false;
  }
  const std::vector<Selected>& wanted = task.selection().variables;
  const auto there =
      std::count_if(wanted.begin(), wanted.end(), [&](const Selected& s) { return agreement.has(s.variable); });
  if (there == static_cast<std::ptrdiff_t>(wanted.size())) return true;
  const bool runs = !task.counts() && there > 0;  // an output is written without the missing variables
  ++(runs ? task.incomplete : task.not_there);
  retry_while_out_of_memory([&] {
    for (const Selected& selected : wanted) {
      if (!agreement.has(selected.variable)) task.missing.insert(selected.variable);
    }
    const std::string what = (left_out_.empty() ? "" : "; ") + task.name() + (runs ? " incomplete" : " left out");
    left_out_ += what;
  });
  ledger_.skipped_tasks += !runs;
  return runs;
}

/// Counts blocks of this server's clients that were declared but not delivered, for variables that any client
/// published.
void Engine::count_absent(const Agreement& agreement) {
  for (const AbsentBlock& absent : absent_) {
    const Variable& variable = parts_.metadata.variables[static_cast<std::size_t>(absent.variable)];
    if (!variable.time_varying || !agreement.has(variable.id)) continue;
    ledger_.absent_blocks += std::max(absent.all, 1);
  }
}

}  // namespace sidestream
