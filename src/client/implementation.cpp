#include "client/implementation.hpp"

#include <cstring>

#include "base/agree.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "client/record.hpp"
#include "client/sidecar_start.hpp"

namespace sidestream {

Session::Implementation::~Implementation() = default;

Declarations& Session::Implementation::declarations(const char* call) {
  if (is_server()) fail(Code::usage, "{}: this rank is a server; only clients declare", call);
  if (state_ != State::open) {
    fail(Code::usage,
         "{}: the declarations are frozen since the session started; call it before start and the first publish", call);
  }
  return declarations_;
}

void Session::Implementation::set_block(const std::string& mesh, std::int64_t block, const Box& cells) {
  if (state_ == State::started && publisher_) return publisher_->set_block(mesh, block, cells);
  declarations("set_block").blocks.push_back({mesh, block, cells, false});
}

void Session::Implementation::remove_block(const std::string& mesh, std::int64_t block) {
  if (state_ == State::started && publisher_) return publisher_->remove_block(mesh, block);
  declarations("remove_block").blocks.push_back({mesh, block, {}, true});
}

void Session::Implementation::set_allocated(const std::string& variable, std::int64_t block, const Box& box) {
  if (state_ == State::started && publisher_) return publisher_->set_allocated(variable, block, box);
  declarations("set_allocated").allocated.push_back({variable, block, box});
}

Publisher& Session::Implementation::publisher(const char* call) {
  if (is_server()) fail(Code::usage, "{}: this rank is a server; only clients publish", call);
  if (state_ == State::open) start();
  if (state_ != State::started) fail(Code::usage, "{}: the session failed to start; close it", call);
  return *publisher_;
}

Taken Session::Implementation::end_iteration(std::int64_t cycle, double time) {
  Publisher& mine = publisher("end_iteration");
  if (!engine_) return mine.end(cycle, time, {});
  return mine.end(cycle, time, [this] { engine_->step(); });
}

RunFacts Session::Implementation::facts() const {
  const PlacementMode mode = opening_.placement.mode;
  return {file_,
          text_,
          name_of(mode),
          static_cast<int>(roles_.client_ranks.size()),
          static_cast<int>(roles_.server_ranks.size()),
          roles_.nodes};
}

/// Collective: everybody's rows go to the first server, which writes the file.
void Session::Implementation::write_run_table_of_all(const RunTable& table, const std::string& rows) {
  const int root = roles_.server_ranks.front();
  const std::vector<Bytes> all = world_->gather(std::as_bytes(std::span(rows)), root);
  together(*world_, [&] {
    if (world_->rank() != root) return;
    std::vector<std::string> texts;
    for (const Bytes& part : all) texts.emplace_back(reinterpret_cast<const char*>(part.data()), part.size());
    write_run_table(opening_.directory, table, texts, opening_.existing == Existing::resume);
  });
}

/// Of a server or a forwarder that works; null on others.
const Ledger* Session::Implementation::ledger() const noexcept {
  if (engine_) return &engine_->ledger();
  return combiner_ ? &combiner_->ledger() : nullptr;
}

/// The rank whose ledger has what failed anywhere: one of those that agree about iterations.
int Session::Implementation::recording_rank() const noexcept {
  const bool reduced =
      opening_.placement.mode == PlacementMode::nodes && opening_.placement.forward == Forward::partials;
  return (reduced ? roles_.forwarder_ranks : roles_.server_ranks).front();
}

std::string Session::Implementation::timing_rows() const {
  std::string rows;
  if (publisher_) rows += client_rows(world_->rank(), publisher_->timings());
  if (ledger()) rows += server_rows(world_->rank(), *ledger());
  return rows;
}

std::string Session::Implementation::moved_rows() const {
  if (engine_) return movement_rows(world_->rank(), "server", engine_->ledger().moved());
  std::vector<MovedBytes> moved;
  if (wires_.forwarder) {
    for (const auto& [index, bytes] : wires_.forwarder->bytes_sent()) moved.push_back({index, 0, bytes, 0});
    return movement_rows(world_->rank(), "forwarder", moved);
  }
  for (std::int64_t index = 0; publisher_ && index < publisher_->account().iterations; ++index) {
    moved.push_back({index, 0, wires_.client->bytes_sent(index), 0});
  }
  return movement_rows(world_->rank(), "client", moved);
}

/// Collective: the account that the clients have, with what the servers counted, on every rank.
Account Session::Implementation::agree_on_account() {
  std::int64_t absent = engine_ ? engine_->ledger().absent_blocks : 0;
  world_->sum(std::span(&absent, 1));
  if (publisher_) publisher_->close_account(absent);
  Account account = this->account();
  Bytes from_client(sizeof account);
  std::memcpy(from_client.data(), &account, sizeof account);
  world_->broadcast(from_client, roles_.client_ranks.front());
  std::memcpy(&account, from_client.data(), sizeof account);
  return account;
}

/// Collective: what the run leaves beside its results.
void Session::Implementation::write_timings() {
  if (opening_.placement.mode == PlacementMode::sidecar) {
    return write_client_records(*world_, facts(), config_.opening, *publisher_);
  }
  const Account account = agree_on_account();
  if (config_.opening.timings) write_run_table_of_all(timings_table, timing_rows());
  const bool moves = opening_.placement.mode == PlacementMode::nodes;
  if (config_.opening.timings && moves) write_run_table_of_all(movement_table, moved_rows());
  together(*world_, [&] {
    if (engine_) engine_->report();
    if (world_->rank() != recording_rank()) return;
    if (account.absent_blocks > 0) {
      log::warning("{} blocks were declared and not published, in iterations in which others published their variable",
                   account.absent_blocks);
    }
    write_record(opening_.directory, facts(), &account, ledger());
  });
}

/// In the order that the members depend on each other; communicators are freed by all their members at this point.
void Session::Implementation::free_everything() {
  engine_.reset();
  combiner_.reset();
  tasks_.clear();
  servers_.reset();
  publisher_.reset();
  wires_ = {};
  roles_.members.reset();
  roles_.node_members.reset();
  world_.reset();
}

}  // namespace sidestream
