#include "session/implementation.hpp"
#include "base/own_environment.hpp"
#include "base/run_log.hpp"

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

Session::Implementation::Implementation() = default;
Session::Implementation::~Implementation() = default;

/// Throws for a session that has ended, or that never opened.
void Session::Implementation::fail_ended(const char* call) const {
  if (finalizing_ || mpi_is_finalized()) {
    fail(Code::usage,
         "{}: MPI_Finalize was called, which closed the session; call it after the last call of Sidestream", call);
  }
  fail(Code::usage, "{}: the session failed to start, or has served; close it", call);
}

Declarations& Session::Implementation::declarations(const char* call) {
  if (is_over()) fail_ended(call);
  if (is_server()) fail(Code::usage, "{}: this rank is a server; only clients declare", call);
  if (state_ != State::open) {
    fail(Code::usage,
         "{}: the declarations are frozen since the session started; call it before start and the first publish", call);
  }
  return declarations_;
}

using What = Declarations::BlockDeclaration::What;

void Session::Implementation::set_block(const std::string& mesh, const Block& block) {
  if (state_ == State::started && publisher_) return publisher_->set_block(mesh, block);
  const What what = block.is_list() ? What::list : What::box;
  declarations(block.is_list() ? "set_block_list" : "set_block").blocks.push_back({what, mesh, block});
}

void Session::Implementation::set_block_bounds(const std::string& mesh, std::int64_t block, const Bounds& bounds) {
  if (state_ == State::started && publisher_) return publisher_->set_block_bounds(mesh, block, bounds);
  Block what;
  what.id = block;
  what.bounds = bounds;
  declarations("set_block_bounds").blocks.push_back({What::bounds, mesh, what});
}

void Session::Implementation::remove_block(const std::string& mesh, std::int64_t block) {
  if (state_ == State::started && publisher_) return publisher_->remove_block(mesh, block);
  Block what;
  what.id = block;
  declarations("remove_block").blocks.push_back({What::removed, mesh, what});
}

void Session::Implementation::replace_blocks(const std::string& mesh, std::vector<Block> blocks) {
  if (state_ == State::started && publisher_) return publisher_->replace_blocks(mesh, std::move(blocks));
  declarations("replace_blocks").blocks.push_back({What::replaced, mesh, {}, std::move(blocks)});
}

void Session::Implementation::set_allocated(const std::string& variable, std::int64_t block, const Box& box) {
  if (state_ == State::started && publisher_) return publisher_->set_allocated(variable, block, box);
  Declarations& all = declarations("set_allocated");
  all.allocated.push_back({variable, block, box, all.blocks.size()});
}

[[gnu::hot]] Publisher& Session::Implementation::publisher(const char* call) {
  if (is_over()) fail_ended(call);
  if (is_server()) fail(Code::usage, "{}: this rank is a server; only clients publish", call);
  if (state_ == State::open) start();
  return *publisher_;
}

Taken Session::Implementation::end_iteration(std::int64_t cycle, double time) {
  Publisher& mine = publisher("end_iteration");
  const LogScope scope = logging();
  if (!serving_) return mine.end(cycle, time, {});
  const OwnEnvironment environment;
  return mine.end(cycle, time, [this] { serving_->step(); });
}

const SteeredValues& Session::Implementation::steered(const char* call) const {
  if (is_over()) fail_ended(call);
  if (is_server()) fail(Code::usage, "{}: this rank is a server; only clients read parameters", call);
  if (state_ != State::started) {
    fail(Code::usage, "{}: the session has not started; call start first, or read it after the first end_iteration",
         call);
  }
  return publisher_->steered();
}

RunFacts Session::Implementation::facts() const {
  const PlacementMode mode = opening_.placement.mode;
  return {file_,
          text_,
          name_of(mode),
          roles_.clients.count,
          roles_.servers.count,
          roles_.nodes,
          config_.opening.placement.groups,
          started_};
}

/// Writes a table of the run: servers write their own rows and share out the clients' rows. Collective.
bool Session::Implementation::write_run_table_of_all(const RunTable& table, RowSpool& rows) {
  return write_run_table_together(*world_, {roles_.recorder, roles_.servers.first}, opening_.directory, table, rows,
                                  opening_.existing == Existing::resume);
}

/// The ledger of a working server or forwarder; null on others.
const Ledger* Session::Implementation::ledger() const noexcept {
  return serving_ && serving_->has_begun() ? &serving_->ledger() : nullptr;
}

/// The rank whose ledger has all failures: one that agrees about iterations.
int Session::Implementation::recording_rank() const noexcept {
  const bool reduced =
      opening_.placement.mode == PlacementMode::nodes && opening_.placement.forward == Forward::partials;
  return (reduced ? roles_.forwarders : roles_.servers).first;
}

/// Takes the rows that the publisher and the ledger still hold.
void Session::Implementation::take_last_rows() {
  if (publisher_) tables_->take(*publisher_);
  if (ledger()) tables_->take(*ledger());
}

}  // namespace sidestream
