// Closing a session. Every step before the last is collective over all ranks; a failure is thrown on all of them.
//
// 1. A session that has not started votes to cancel, so that ranks that start or serve do not wait for this one.
// 2. Clients drain: they wait for the outcomes of their iterations, at most `drain_limit` seconds. Servers come here
//    when their clients have closed.
// 3. The account: the clients' numbers and the servers' counts are combined, and the same on every rank.
// 4. The records: tables of all ranks, the joined ledgers of groups, and the record itself.
// 5. Everything is freed in the order of dependencies, also after a failure.
// MPI_Finalize closes a session that is still open in the same way, and says so.
#include <fmt/format.h>

#include "base/own_environment.hpp"
#include "base/run_log.hpp"
#include "session/implementation.hpp"
#include "session/opening/sidecar_start.hpp"
#include "session/serving/record.hpp"
#include "session/serving/server_groups.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

/// The clients' account, completed with the counts of the servers, on every rank. Collective.
Account Session::Implementation::agree_on_account() {
  // The servers of each group count the missing blocks of all clients, so one group's counts suffice.
  const bool counts = serving_ && serving_->decides() && !gaps_ && roles_.group == 0;
  std::int64_t absent = counts ? ledger()->absent_blocks : 0;
  world_->sum(std::span(&absent, 1));
  if (publisher_) publisher_->close_account(absent);
  Account account = this->account();
  std::int64_t dropped = account.dropped;
  world_->maximum(std::span(&dropped, 1));
  std::int64_t spilled = account.spilled, bytes_spilled = static_cast<std::int64_t>(account.bytes_spilled);
  world_->maximum(std::span(&spilled, 1));
  world_->sum(std::span(&bytes_spilled, 1));
  // The first among the clients that ended most iterations, since others may have closed earlier.
  std::int64_t most = publisher_ ? account.iterations : -1;
  world_->maximum(std::span(&most, 1));
  std::int64_t speaker = publisher_ && account.iterations == most ? world_->rank() : world_->size();
  world_->minimum(std::span(&speaker, 1));
  const BytesView mine = bytes_of(account);
  Bytes from_client(mine.begin(), mine.end());
  world_->broadcast(from_client, static_cast<int>(speaker));
  account = record_of<Account>(from_client);
  account.dropped = dropped;
  account.spilled = spilled;
  account.bytes_spilled = static_cast<std::uint64_t>(bytes_spilled);
  return account;
}

/// Writes the records of the run next to its results. Collective.
void Session::Implementation::write_timings() {
  if (opening_.placement.mode == PlacementMode::sidecar) {
    dropped_ = write_client_records(*world_, facts(), config_.opening, *publisher_, tables_.get());
    return;
  }
  const Account account = agree_on_account();
  dropped_ = account.dropped;
  const bool records = world_->rank() == recording_rank(), timings = config_.opening.timings;
  if (timings) {
    take_last_rows();
    write_run_table_of_all(timings_table, tables_->timings);
  }
  if (timings && opening_.placement.mode == PlacementMode::nodes) {
    write_run_table_of_all(movement_table, tables_->movement);
  }
  const Ledger* const decided = serving_ && serving_->decides() ? ledger() : nullptr;
  const std::optional<Ledger> joint =
      join_ledgers(*world_, roles_, config_.opening.placement, decided, recording_rank());
  if (timings && records && joint->gathers()) tables_->iterations.add(iteration_rows(joint->iterations()));
  const bool listed = timings && write_run_table_of_all(iterations_table, tables_->iterations);
  if (serving_) serving_->report();
  if (records) warn_of_losses(account, joint->skipped_tasks, listed ? iterations_table.file : "");
  attempt_record(*world_, [&] {
    if (records) write_record(opening_.directory, facts(), &account, &*joint);
  });
}

/// Logs that MPI_Finalize found the session open. Collective. The lowest rank that has not closed logs it, since others
/// may have closed correctly.
void Session::Implementation::log_finalize() {
  std::int64_t first = finalizing_ ? world_->rank() : world_->size();
  world_->minimum(std::span(&first, 1));
  if (first != world_->rank()) return;
  log::error(
      "MPI_Finalize was called on rank {} while a session was open, which is closed now; call sidestream_close (C++: "
      "Session::close) on every rank before MPI_Finalize",
      first);
}

/// Logs values published without a following end_iteration, which are in no iteration and so not in the account.
/// Collective; one rank logs it.
void Session::Implementation::warn_of_open_iteration() {
  std::int64_t first = publisher_ && publisher_->left_open() ? world_->rank() : world_->size();
  world_->minimum(std::span(&first, 1));
  if (first != world_->rank()) return;
  log::warning(
      "values published after the last end_iteration are dropped; call end_iteration on every rank after the "
      "publications of an iteration");
}

/// Closes the session in MPI_Finalize. Otherwise it would wait for all ranks while servers wait for clients to close: a
/// deadlock.
void Session::Implementation::close_at_finalize() noexcept {
  const LogScope scope = logging();
  try {
    finalizing_ = true;
    close();
  } catch (const std::exception& e) {
    log::error("closing a session in MPI_Finalize: {}", e.what());
  }
}

/// Writes the records. Collective. The session is freed even if this throws.
void Session::Implementation::leave_records() {
  try {
    jointly([&] {
      log_finalize();
      if (is_off()) return;
      warn_of_open_iteration();
      write_timings();
    });
  } catch (...) {
    free_all();
    throw;
  }
}

Account Session::Implementation::close() {
  if (mpi_is_finalized()) fail(Code::usage, "close: MPI is finalized already; close sessions before MPI_Finalize");
  const OwnEnvironment environment;
  const LogScope scope = logging();
  if (state_ == State::open) {
    if (finalizing_ && roles_.members && roles_.members->rank() == 0) {
      log::error(
          "MPI_Finalize was called while a session was open; call sidestream_close (C++: Session::close) on every rank "
          "before it");
    }
    // Tells ranks that start or serve that this one does not; otherwise they would wait forever.
    state_ = State::ended;
    // If other ranks start, they throw, and so does this rank's vote; the session is freed in any case.
    try {
      jointly([&] { static_cast<void>(vote(Vote::cancel)); });
    } catch (...) {
      free_all();
      throw;
    }
    free_all();
    return {};
  }
  if (state_ == State::started || state_ == State::failed) {
    if (publisher_) {
      const double limit = config_.opening.drain_limit;
      publisher_->drain(ending_ ? ending_->drain_limit(limit, config_.opening.drain_given) : limit);
      if (serving_) {
        while (serving_->step()) {
        }
      }
    }
    // Servers arrive here when their clients have closed.
    leave_records();
  }
  Account account = this->account();
  account.dropped = dropped_;
  free_all();
  return account;
}

/// Frees members in the order of their dependencies. All members of a communicator free it here.
void Session::Implementation::free_all() {
  state_ = State::ended;
  if (!finalizing_) guard_.reset();
  serving_.reset();
  stream_openings_.clear();
  publisher_.reset();
  tables_.reset();
  transports_ = {};
  roles_.group_members.reset();
  roles_.members.reset();
  roles_.node_members.reset();
  world_.reset();
  ending_.reset();
  directory_lock_.reset();
}

}  // namespace sidestream
