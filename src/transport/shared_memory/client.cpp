// A client's part in an iteration, with one channel to its server in each group.
//
// 1. begin: waits, or refuses, while `max_in_flight` iterations are not released.
// 2. reserve: space in the heap, else in the spill file; else it refuses, or waits for a release. A block that can
//    never fit is an error.
// 3. commit: a record into each channel's ring. A full ring is waited for; under `skip` the record is kept for later.
// 4. end: one record that completes the iteration. Its outcome is known when all groups have announced one.
// 5. drain: awaits all outcomes. After the limit it tells the servers to drop what they have not received.
// Every wait lets MPI of the simulation progress, and checks whether the servers live. If one is lost, all groups are,
// since no iteration may arrive in only some of them: iterations are then refused.
#include "transport/shared_memory/client.hpp"

#include <cstring>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "transport/shared_memory/copy.hpp"

namespace sidestream::shared_memory {

namespace {
constexpr std::chrono::microseconds slice{1000};
}  // namespace

Client::Client(std::shared_ptr<Node> node, WhenFull when_full, int max_in_flight, std::function<void()> progress)
    : node_(std::move(node)),
      heap_(node_->arena(), node_->role().number),
      when_full_(when_full),
      max_in_flight_(max_in_flight),
      progress_(std::move(progress)) {
  memory_ = node_;
  copy_ = copy_to_shared;
  for (std::size_t group = 0; group < groups_of(node_->role()); ++group) channels_.emplace_back(*node_, group);
}

void Client::ring_all() noexcept {
  for (Channel& channel : channels_) channel.ring();
}

/// Number of iterations that are released once servers are lost. Memory that servers of other groups may still read is
/// not free.
std::int64_t Client::released_behind() const noexcept {
  std::int64_t lowest = current_;
  for (const Channel& channel : channels_) {
    const bool reads = &channel != lost_channel_ && channel.released() < channel.sent();
    if (reads) lowest = std::min(lowest, channel.released());
  }
  return lowest;
}

Channel& Client::last_to_release() noexcept {
  return *std::min_element(channels_.begin(), channels_.end(),
                           [](const Channel& one, const Channel& other) { return one.released() < other.released(); });
}

/// Checks whether the servers are still alive. Reading their own word costs a load, checking a process a system call.
void Client::check_servers(bool waits) {
  if (!status_.connected || !watches_) return;
  constexpr double interval = 0.2;
  const bool asks = waits && now() - checked_at_ >= interval;
  if (asks) checked_at_ = now();
  for (Channel& channel : channels_) {
    const bool left = channel.has_left();
    if (left || (asks && !channel.alive())) return lose(channel, left);
  }
}

/// Loses all groups when one group ends, since no iteration may arrive in only some of them. The others finish the
/// iterations that they were given whole.
void Client::lose(Channel& channel, bool left) {
  lost_ = left ? channel.reason_for_leaving() : std::string("the process of a server has died");
  lost_ += "; what it had not answered for is unknown, and iterations are refused from now on";
  const LogScope scope = logging();
  log::error("client {} of its node: {}", node_->role().number, lost_);
  lost_channel_ = &channel;
  left_behind_ = channels_.size() > 1;
  status_.connected = false;
  for (Channel& other : channels_) {
    if (&other == &channel) continue;
    other.drop_backlog();
    push_at_last(other, MessageKind::close);
  }
  disconnect(Outcome::lost);
}

[[gnu::hot]] bool Client::begin() {
  check_servers(false);
  if (current_ > begun_) heap_.begin_iteration(begun_ = current_);
  while (status_.connected && current_ - released() >= max_in_flight_) {
    if (when_full_ == WhenFull::skip) return false;
    wait_for_release();
  }
  return status_.connected;
}

[[gnu::hot]] void Client::prefetch() const noexcept {
  for (const Channel& channel : channels_) channel.prefetch();
  heap_.prefetch();
}

void Client::wait_for_release() {
  const double start = now();
  const std::int64_t before = seen_released_;
  ring_all();  // they may sleep while records of this client are unread
  last_to_release().wait([&] { return released() != before; }, slice);
  if (progress_) progress_();
  check_servers(true);
  status_.waited += now() - start;
  seen_released_ = released();
}

[[gnu::hot]] std::optional<Region> Client::reserve(std::uint64_t bytes, bool persistent) {
  for (;;) {
    if (!status_.connected && !persistent) return std::nullopt;
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

/// True if a reservation that found no room can never succeed.
bool Client::never_fits(std::uint64_t bytes) const noexcept {
  if (bytes > node_->arena().bytes() && !(spill_ && spill_->fits(bytes))) return true;
  return when_full_ != WhenFull::skip && heap_.stuck();
}

void Client::spill_to(std::unique_ptr<SpillFile> file) {
  if (file->path().size() >= ClientControl::path_bytes) {
    fail(Code::system, "the path '{}' is longer than {} bytes; choose a shorter placement.spill.directory",
         file->path(), ClientControl::path_bytes - 1);
  }
  for (Channel& channel : channels_) {
    std::memcpy(channel.control().spill, file->path().c_str(), file->path().size() + 1);
  }
  using Both = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
  memory_ = std::make_shared<Both>(node_, file->memory());
  spill_ = std::move(file);
}

void Client::clear(const Region& region) {
  if (is_spilled(region)) return spill_->clear(region);
  heap_.clear(region);
}

Settled Client::outcome(std::int64_t index) {
  check_servers(false);
  if (status_.connected) {
    for (Channel& channel : channels_) channel.poll_outcomes();
  }
  // Takes no outcome before all groups have decided.
  const bool known =
      std::all_of(channels_.begin(), channels_.end(), [&](const Channel& channel) { return channel.polled() > index; });
  if (!known) return {};
  Outcome outcome = Outcome::delivered;
  for (Channel& channel : channels_) outcome = joined(outcome, channel.take_outcome(index));
  return {outcome, 0};
}

bool Client::flush() {
  bool all = true;
  for (Channel& channel : channels_) all &= channel.flush();
  return all;
}

void Client::push(const Message& message) {
  for (Channel& channel : channels_) {
    if (status_.connected) push_to(channel, message);
  }
}

void Client::push_to(Channel& channel, const Message& message) {
  if (channel.flush() && channel.try_push(message)) return;
  if (when_full_ == WhenFull::skip) {
    // The iteration either holds memory, which bounds the number of records, or is refused and one record long.
    channel.keep(message);
    return channel.ring();
  }
  const double start = now();
  while (status_.connected && !channel.try_push(message)) {
    channel.ring();
    channel.wait([&] { return channel.has_space(); }, slice);
    if (progress_) progress_();
    check_servers(true);
  }
  status_.waited += now() - start;
}

bool Client::retire(const BlockRecord& record) {
  const auto found = persistent_.find({record.variable, record.block.id});
  if (found == persistent_.end() || released() < current_) return false;
  heap_.release_upto(released());
  heap_.retire(found->second.second);
  persistent_.erase(found);
  return true;
}

using Place =
    std::pair<std::map<std::pair<std::int32_t, std::int64_t>, std::pair<BlockRecord, Region>>::iterator, bool>;

[[gnu::hot]] void Client::commit(const BlockRecord& record, const Region& region, bool hold) {
  if (is_spilled(region)) return commit_spilled(record, region, hold);
  const std::uint64_t offset = heap_.offset(region);
  // First, because nothing below allocates.
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

/// Commits a block to the spill file. The record follows the values, so its reader finds the values whole in the file.
void Client::commit_spilled(const BlockRecord& record, const Region& region, bool hold) {
  if (!status_.connected) {
    if (!hold) spill_->clear(region);
    return;
  }
  const std::uint64_t offset = spill_->commit(record, region, hold, current_);
  status_.bytes_spilled = spill_->written();
  push_block(record, offset, spill_segment);
}

[[gnu::hot]] void Client::push_block(const BlockRecord& record, std::uint64_t offset, std::uint32_t segment) {
  for (Channel& channel : channels_) {
    if (!status_.connected) return;
    if (channel.try_push_block(record, offset, segment)) continue;
    Message message;
    message.kind = MessageKind::block;
    message.segment = segment;
    message.block = record;
    message.offset = offset;
    push_to(channel, message);
  }
}

void Client::declare(const Block& block, bool removed) {
  Message message;
  message.kind = removed ? MessageKind::remove : MessageKind::declare;
  message.block.block = block;
  push(message);
  // Servers keep the arrays of a block whose declaration is unchanged, so this client must keep them too.
  const auto known = blocks_.find({block.mesh, block.id});
  const bool same = !removed && known != blocks_.end() && known->second.same_shape(block);
  if (!same) forget_persistent(block);
  if (removed) {
    blocks_.erase({block.mesh, block.id});
  } else {
    blocks_[{block.mesh, block.id}] = block;
  }
}

/// Drops the persistent arrays of a block that is declared anew or removed.
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
  for (Channel& channel : channels_) {
    if (status_.connected) {
      channel.count_end(current_);
    } else if (channel.polled() <= current_) {
      channel.refuse(current_);
    }
  }
  ++current_;
}

void Client::disconnect(Outcome undecided) {
  retry_while_out_of_memory([&] { take_notices(); });  // notices count even if their servers are gone
  for (Channel& channel : channels_) channel.settle(undecided, current_);
  status_.connected = false;
}

void Client::connect(const std::function<void(std::int64_t first)>& ready) {
  // The previous servers are gone and the next ones read nothing before `ready`, so all of this belongs to this client.
  for (Channel& channel : channels_) channel.restart(current_);
  seen_released_ = current_;
  status_.connected = true;
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

/// True if all groups have decided on every iteration below `below`.
bool Client::settled(std::int64_t below) const noexcept {
  return !status_.connected || std::all_of(channels_.begin(), channels_.end(),
                                           [&](const Channel& channel) { return channel.decided() >= below; });
}

void Client::await(std::int64_t index) {
  if (settled(index + 1)) return;
  const double start = now();
  while (!settled(index + 1)) {
    static_cast<void>(flush());  // under skip the servers may not have received it yet
    ring_all();
    last_to_release().wait([&] { return settled(index + 1); }, slice);
    if (progress_) progress_();
    check_servers(true);
  }
  status_.waited += now() - start;
}

void Client::take_notices() {
  for (Channel& channel : channels_) channel.take_notices(pending_notices_);
}

/// Hands out the news. If memory is short, nothing is lost and the next call returns it.
News Client::news() {
  if (status_.connected) take_notices();
  News all;
  all.failure = next_failure();
  all.notices = std::exchange(pending_notices_, {});
  return all;
}

std::string Client::next_failure() {
  if (!lost_.empty()) return std::exchange(lost_, {});
  for (Channel& channel : channels_) {
    if (std::string sentence = channel.failure(); !sentence.empty()) return sentence;
  }
  return {};
}

/// Sends a message to a server that is still reading, ahead of everything that is kept.
void Client::push_at_last(Channel& channel, MessageKind kind) {
  Message message;
  message.kind = kind;
  while (channel.alive() && !channel.has_left() && !channel.try_push(message)) {
    channel.ring();
    channel.wait([&] { return channel.has_space(); }, slice);
    if (progress_) progress_();
  }
  channel.ring();
}

/// Stops the servers, ahead of all records that still wait here. Records that they never receive are refused; the
/// account reports them as unknown.
void Client::give_up() {
  for (Channel& channel : channels_) {
    channel.drop_backlog();
    for (const MessageKind kind : {MessageKind::close, MessageKind::abandon}) {
      if (status_.connected) push_at_last(channel, kind);
    }
    check_servers(true);
  }
}

bool Client::drain(std::chrono::milliseconds limit) {
  Message message;
  message.kind = MessageKind::close;
  push(message);
  const auto deadline = Clock::now() + limit;
  while (!flush() || !settled(current_)) {
    ring_all();
    last_to_release().wait([&] { return settled(current_); }, slice);
    if (progress_) progress_();
    check_servers(true);
    if (Clock::now() < deadline) continue;
    give_up();
    return false;  // also if the servers have dropped everything by now
  }
  ring_all();
  return true;
}

}  // namespace sidestream::shared_memory
