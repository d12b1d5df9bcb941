#include "transport/shared_memory/client.hpp"

#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/persist.hpp"
#include "base/timer.hpp"
#include "transport/shared_memory/copy.hpp"

namespace sidestream::shared_memory {

namespace {
constexpr std::chrono::microseconds slice{1000};

std::uint32_t clients_of(int server, const NodeRole& role) {
  std::uint32_t count = 0;
  for (int c = 0; c < role.clients; ++c) count += server_of(c, role) == server;
  return count;
}
}  // namespace

Client::Client(std::shared_ptr<Node> node, WhenFull when_full, int max_in_flight, std::function<void()> progress)
    : node_(std::move(node)),
      control_(node_->layout().client(node_->control(), static_cast<std::uint32_t>(node_->role().number))),
      server_(node_->layout().server(node_->control(),
                                     static_cast<std::uint32_t>(server_of(node_->role().number, node_->role())))),
      server_clients_(clients_of(server_of(node_->role().number, node_->role()), node_->role())),
      heap_(node_->arena(), node_->role().number),
      ring_(ring_memory(), node_->layout().ring_capacity),
      notices_(notice_memory(), notice_lines),
      when_full_(when_full),
      max_in_flight_(max_in_flight),
      progress_(std::move(progress)) {
  control_.liveness.start();
}

std::byte* Client::ring_memory() const noexcept {
  return node_->layout().ring(node_->control(), static_cast<std::uint32_t>(node_->role().number));
}

std::byte* Client::notice_memory() const noexcept {
  return node_->layout().notices(node_->control(), static_cast<std::uint32_t>(node_->role().number));
}

/// Whether the server can still be waited for. Its own word costs a load, whether its process is there a system call.
void Client::look(bool waits) {
  if (!connected_ || !watches_) return;
  const bool left = server_.liveness.closed.load(std::memory_order_acquire) != 0;
  constexpr double interval = 0.2;
  if (!left) {
    if (!waits || now() - looked_ < interval) return;
    looked_ = now();
    if (server_.liveness.alive()) return;
  }
  disconnect(Outcome::lost);
  failure_seen_ = server_.failure.version();  // it is told below
  lost_ = left ? server_.failure.read() : std::string("the process of a server has died");
  lost_ += "; what it had not answered for is unknown, and iterations are refused from now on";
  log::error("client {} of its node: {}", node_->role().number, lost_);
}

[[gnu::hot]] bool Client::begin() {
  look(false);
  if (current_ > begun_) heap_.begin_iteration(begun_ = current_);
  while (connected_ && current_ - released() >= max_in_flight_) {
    if (when_full_ == WhenFull::skip) return false;
    wait_for_release();
  }
  return connected_;
}

[[gnu::hot]] void Client::prefetch() const noexcept {
  ring_.prefetch();
  __builtin_prefetch(&control_.released);
  __builtin_prefetch(writer_.place(), 1);
  heap_.prefetch();
}

void Client::wait_for_release() {
  const double start = now();
  const std::int64_t before = seen_released_;
  server_.bell.ring();  // it may sleep with records of ours unread
  control_.room.wait([&] { return released() != before; }, slice);
  if (progress_) progress_();
  look(true);
  waited_ += now() - start;
  seen_released_ = released();
}

[[gnu::hot]] std::optional<Region> Client::reserve(std::uint64_t bytes, bool persistent) {
  for (;;) {
    if (!connected_ && !persistent) return std::nullopt;
    seen_released_ = released();
    heap_.release_upto(seen_released_);
    std::optional<Region> region = heap_.reserve(bytes, persistent);
    if (region) return region;
    if (spill_ && !persistent) {
      spill_->release_upto(seen_released_);
      if (std::optional<Region> spilled = spill_->reserve(bytes)) return spilled;
    }
    if (never_fits(bytes)) {
      fail(Code::full,
           "no room for a block of {} bytes and there never will be: {}. The node's buffer has {} bytes; raise "
           "placement.buffer, or declare all blocks before the session starts",
           bytes, heap_.why(), node_->arena().bytes());
    }
    if (when_full_ == WhenFull::skip) return std::nullopt;
    wait_for_release();
  }
}

/// After a reservation that found no room.
bool Client::never_fits(std::uint64_t bytes) const noexcept {
  if (bytes > node_->arena().bytes() && !(spill_ && spill_->fits(bytes))) return true;
  return when_full_ != WhenFull::skip && heap_.stuck();
}

void Client::spill_to(std::unique_ptr<SpillFile> file) {
  if (file->path().size() >= ClientControl::path_bytes) {
    fail(Code::system, "the path '{}' is longer than {} bytes; choose a shorter placement.spill.directory",
         file->path(), ClientControl::path_bytes - 1);
  }
  std::memcpy(control_.spill, file->path().c_str(), file->path().size() + 1);
  spill_ = std::move(file);
}

std::shared_ptr<const void> Client::memory() const {
  if (!spill_) return node_;
  return std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(node_, spill_->memory());
}

void Client::clear(const Region& region) {
  if (is_spilled(region)) return spill_->clear(region);
  heap_.clear(region);
}

void Client::poll_outcomes() {
  if (!connected_) return;
  const std::int64_t decided = control_.decided.load(std::memory_order_acquire);
  for (; polled_ < decided; ++polled_) persist([&] { outcomes_[polled_] = control_.outcome(polled_); });
}

Outcome Client::outcome(std::int64_t index) {
  look(false);
  poll_outcomes();
  const auto found = outcomes_.find(index);
  if (found == outcomes_.end()) return Outcome::pending;
  const Outcome outcome = found->second;
  outcomes_.erase(found);
  return outcome;
}

bool Client::try_push(const Message& message) {
  // Not more than 64 undecided iterations may be on their way: that is how many outcomes fit in shared memory. Under
  // skip a client may be any number of refused iterations ahead; their records wait here.
  const bool ends = message.kind == MessageKind::end;
  if (ends && sent_ - polled_ >= slots) {
    poll_outcomes();
    if (sent_ - polled_ >= slots) return false;
  }
  if (!ring_.try_push(writer_.write(message))) return false;
  writer_.sent();
  sent_ += ends;
  return true;
}

/// For any message of a client.
bool Client::has_room() const noexcept {
  constexpr std::uint64_t longest =
      1 + payload_lines(std::max({sizeof(BlockRecord), sizeof(EndRecord), sizeof(SignalHead) + longest_event}));
  return ring_.size() + longest <= ring_.capacity();
}

bool Client::flush() {
  while (!backlog_.empty()) {
    if (!try_push(backlog_.front())) return false;
    backlog_.pop_front();
  }
  return true;
}

void Client::push(const Message& message) {
  if (!connected_) return;
  if (flush() && try_push(message)) return;
  if (when_full_ == WhenFull::skip) {
    // The iteration either holds memory, which bounds how many records there are, or is refused and one record long.
    persist([&] { backlog_.push_back(message); });
    server_.bell.ring();
    return;
  }
  const double start = now();
  while (connected_ && !try_push(message)) {
    server_.bell.ring();
    control_.room.wait([&] { return has_room(); }, slice);
    if (progress_) progress_();
    look(true);
  }
  waited_ += now() - start;
}

bool Client::retire(const BlockRecord& record) {
  const auto found = persistent_.find({record.variable, record.block.id});
  if (found == persistent_.end() || released() < current_) return false;
  heap_.release_upto(released());
  heap_.retire(found->second.second);
  persistent_.erase(found);
  return true;
}

[[gnu::hot]] void Client::fill(const Region& region, const void* values, std::uint64_t bytes) {
  copy_to_shared(region.data, values, bytes);
}

using Place =
    std::pair<std::map<std::pair<std::int32_t, std::int64_t>, std::pair<BlockRecord, Region>>::iterator, bool>;

[[gnu::hot]] void Client::commit(const BlockRecord& record, const Region& region, bool hold) {
  if (is_spilled(region)) return commit_spilled(record, region, hold);
  const std::uint64_t offset = heap_.offset(region);
  // First: nothing after it fails for want of memory.
  Place place{};
  if (record.persistent) place = persistent_.try_emplace({record.variable, record.block.id}, record, region);
  heap_.commit(region, hold);
  if (record.persistent) {
    if (!place.second) {
      heap_.retire(place.first->second.second);
      place.first->second = {record, region};
    }
  }
  push_block(record, offset);
}

/// The record follows the values: who finds it finds these whole in the file.
void Client::commit_spilled(const BlockRecord& record, const Region& region, bool hold) {
  if (connected_) return push_block(record, spill_->commit(record, region, hold, current_), spill_segment);
  if (!hold) spill_->clear(region);
}

[[gnu::hot]] void Client::push_block(const BlockRecord& record, std::uint64_t offset, std::uint32_t segment) {
  if (!connected_) return;
  if (backlog_.empty() && ring_.try_push(writer_.write_block(record, offset, segment))) return writer_.sent();
  Message message;
  message.kind = MessageKind::block;
  message.segment = segment;
  message.block = record;
  message.offset = offset;
  push(message);
}

void Client::declare(const Block& block, bool removed) {
  Message message;
  message.kind = removed ? MessageKind::remove : MessageKind::declare;
  message.block.block = block;
  push(message);
  // Servers keep the arrays of a block that is declared as it was: so must this client.
  const auto known = blocks_.find({block.mesh, block.id});
  const bool same = !removed && known != blocks_.end() && known->second.same_shape(block);
  if (!same) forget_persistent(block);
  if (removed) {
    blocks_.erase({block.mesh, block.id});
  } else {
    blocks_[{block.mesh, block.id}] = block;
  }
}

/// A block that is declared anew or removed takes its persistent arrays with it.
void Client::forget_persistent(const Block& block) {
  for (auto it = persistent_.begin(); it != persistent_.end();) {
    const bool same = it->second.first.block.mesh == block.mesh && it->first.second == block.id;
    if (same) heap_.retire(it->second.second);
    it = same ? persistent_.erase(it) : std::next(it);
  }
}

void Client::signal(const Signal& signal) {
  Message message;
  message.kind = MessageKind::signal;
  message.signal = signal;
  push(message);
}

void Client::end(const EndRecord& record) {
  Message message;
  message.kind = MessageKind::end;
  message.end = record;
  push(message);
  if (connected_) {
    server_.end(current_, server_clients_);
  } else {
    persist([&] { outcomes_[current_] = Outcome::refused; });
  }
  ++current_;
}

void Client::disconnect(Outcome undecided) {
  persist([&] { take_notices(); });  // what the servers told counts although they are gone
  poll_outcomes();
  const auto settle = [&](Outcome outcome) { persist([&] { outcomes_[polled_] = outcome; }); };
  for (; polled_ < sent_; ++polled_) settle(undecided);
  for (; polled_ < current_; ++polled_) settle(Outcome::refused);
  backlog_.clear();
  connected_ = false;
}

void Client::connect(const std::function<void(std::int64_t first)>& ready) {
  // The servers before are gone, those to come look at nothing before `ready`: all of this is ours alone.
  auto* indices = reinterpret_cast<RingIndices*>(ring_memory());
  indices->pushed.store(0, std::memory_order_relaxed);
  indices->popped.store(0, std::memory_order_relaxed);
  ring_ = RingProducer<MessageLine>(ring_memory(), node_->layout().ring_capacity);
  writer_.restart();
  auto* told = reinterpret_cast<RingIndices*>(notice_memory());
  told->pushed.store(0, std::memory_order_relaxed);
  told->popped.store(0, std::memory_order_relaxed);
  notices_ = RingConsumer<MessageLine>(notice_memory(), notice_lines);
  notice_reader_ = {};
  control_.released.store(current_, std::memory_order_relaxed);
  control_.decided.store(current_, std::memory_order_relaxed);
  sent_ = polled_ = seen_released_ = current_;
  connected_ = true;
  heap_.release_upto(current_);
  ready(current_);
  Message message;
  message.kind = MessageKind::declare;
  for (const auto& [key, block] : blocks_) {
    message.block.block = block;
    push(message);
  }
  for (const auto& [key, kept] : persistent_) push_block(kept.first, heap_.offset(kept.second));
}

void Client::await(std::int64_t index) {
  const auto settled = [&] { return !connected_ || control_.decided.load(std::memory_order_acquire) > index; };
  if (settled()) return;
  const double start = now();
  while (!settled()) {
    static_cast<void>(flush());  // under skip the servers may not have heard of it yet
    server_.bell.ring();
    control_.room.wait(settled, slice);
    if (progress_) progress_();
    look(true);
  }
  waited_ += now() - start;
}

void Client::take_notices() {
  std::vector<MessageLine> lines;
  while (peek_message(notices_, lines)) {
    told_.reserve(told_.size() + 1);  // nothing fails between reading and keeping
    told_.push_back(notice_reader_.read_notice(lines));
    notices_.drop(lines.size());
  }
}

std::vector<Notice> Client::notices() {
  if (connected_) take_notices();
  return std::exchange(told_, {});
}

std::string Client::failure() {
  if (!lost_.empty()) return std::exchange(lost_, {});
  const std::uint32_t version = server_.failure.version();
  if (version == failure_seen_ || version % 2 == 1) return {};  // odd: being written, seen next time
  failure_seen_ = version;
  return server_.failure.read();
}

/// Tells the server past everything that still waits here. What it never hears of is refused; the account says unknown.
void Client::give_up() {
  backlog_.clear();
  for (const MessageKind kind : {MessageKind::close, MessageKind::abandon}) {
    Message message;
    message.kind = kind;
    while (connected_ && !try_push(message)) {
      server_.bell.ring();
      control_.room.wait([&] { return has_room(); }, slice);
      if (progress_) progress_();
      look(true);
    }
  }
  server_.bell.ring();
}

bool Client::drain(std::chrono::milliseconds limit) {
  Message message;
  message.kind = MessageKind::close;
  push(message);
  const auto deadline = Clock::now() + limit;
  const auto settled = [&] { return !connected_ || control_.decided.load(std::memory_order_acquire) >= current_; };
  while (!flush() || !settled()) {
    server_.bell.ring();
    control_.room.wait(settled, slice);
    if (progress_) progress_();
    look(true);
    if (Clock::now() < deadline) continue;
    give_up();
    return false;  // also if the servers have dropped everything by now
  }
  server_.bell.ring();
  return true;
}

}  // namespace sidestream::shared_memory
