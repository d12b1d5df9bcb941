// The client's end of placement `nodes`, by two threads (or one, if only the simulation's thread may call MPI).
//
// The publishing thread copies values into regions, registers them in the value store, and appends messages to the
// iteration's manifest. `end` queues the manifest as one packet. The moving thread sends queued packets to the contact
// in each group of servers, answers fetches (or pushes values), and frees an iteration when all groups have released it
// (`move`). The threads share the queues, outcomes and notices under `mutex_`. With one thread, every call that waits,
// and each `end`, makes a round of `move`.
#include "transport/mpi/client.hpp"

#include <signal.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/mpi/polite_wait.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/own_threads.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream::mpi {

namespace {
constexpr auto forever = std::chrono::steady_clock::time_point::max();
/// Longest pause where this thread moves the messages itself; short, so that arrivals are not delayed.
constexpr std::chrono::microseconds poll_interval{20};
}  // namespace

Client::Client(std::shared_ptr<MpiCommunicator> comm, const Options& options)
    : comm_(std::move(comm)), options_(options), uses_(std::make_shared<RegionUses>(options.limit, options.lender)) {
  memory_ = uses_;
  links_.emplace_back(Contact{comm_, options_.contact}, value_store_);
  for (const Contact& other : options_.others) links_.emplace_back(other, value_store_);
  if (!threaded()) return;
  try {
    retry_while_out_of_memory([&] { thread_ = thread_without_signals([this] { run(); }); });
  } catch (const std::system_error& e) {
    fail(Code::system,
         "no thread could be started to move data ({}); raise the limit, or set placement.progress: calls", e.what());
  }
}

Client::~Client() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
}

// ---- The moving thread, or every call where there is none -----------------------------------------------------------

/// Takes over failures and notices from a link.
void Client::take_news(Link& link) {
  std::optional<std::string> failure = link.take_failure();
  if (!failure && !link.has_notices()) return;
  const std::lock_guard lock(mutex_);
  if (failure) news_.failure = std::move(*failure);
  for (Notice& notice : link.take_notices()) {
    retry_while_out_of_memory([&] { news_.notices.push_back(std::move(notice)); });
  }
}

/// Frees iterations that no group needs any more and that MPI no longer reads.
void Client::free_memory() {
  std::int64_t free = links_.front().freed();
  for (const Link& link : links_) free = std::min(free, link.freed());
  if (free <= freed_) return;
  const std::vector<Arrival> freed = value_store_.drop(free - 1);
  {
    const std::lock_guard lock(mutex_);
    for (const Arrival& arrival : freed)
      retry_while_out_of_memory([&] { uses_->release(const_cast<std::byte*>(arrival.data)); });
    freed_ = free;
  }
  changed_.notify_all();
}

/// Frees the memory of an iteration when the servers of all groups have fetched what they need, or refused it, and MPI
/// no longer reads it. Its outcome is known when all groups have decided.
void Client::release_settled() {
  free_memory();
  std::int64_t settled = links_.front().settled();
  for (const Link& link : links_) settled = std::min(settled, link.settled());
  while (settled_ < std::min(settled, freed_)) {
    const std::int64_t index = settled_;
    Outcome outcome = Outcome::delivered;
    std::uint64_t bytes = 0;
    for (Link& link : links_) {
      outcome = joined(outcome, link.take_outcome(index));
      bytes += link.take_bytes_sent(index);
    }
    {
      const std::lock_guard lock(mutex_);
      retry_while_out_of_memory([&] { outcomes_[index] = {outcome, bytes}; });
      settled_ = index + 1;
    }
    changed_.notify_all();
  }
}

void Client::send_packets() {
  std::optional<std::deque<Bytes>> all_packets;
  std::optional<std::deque<Pushed>> all_pushes;
  retry_while_out_of_memory([&] { all_packets.emplace(), all_pushes.emplace(); });
  std::deque<Bytes>& packets = *all_packets;
  std::deque<Pushed>& pushes = *all_pushes;
  {
    const std::lock_guard lock(mutex_);
    packets.swap(packets_);
    pushes.swap(pushes_);
  }
  for (Link& link : links_) {
    for (const Bytes& packet : packets) link.send(packet);
    for (const Pushed& value : pushes) link.push(value.index, value.tag, value.data, value.bytes);
  }
}

bool Client::move() {
  bool active = false;
  send_packets();
  for (Link& link : links_) {
    active |= link.move();
    take_news(link);
  }
  release_settled();
  part();
  return active;
}

/// Leaves once everything that servers ordered has been sent.
void Client::part() {
  {
    const std::lock_guard lock(mutex_);
    if (!closing_ || parted_) return;
    for (Link& link : links_) link.close(ended_);
    parted_ = settled_ >= ended_ && std::all_of(links_.begin(), links_.end(), [](Link& link) { return link.parted(); });
  }
  changed_.notify_all();
}

/// Sleeps without a limit while nothing is in flight, since no server can request anything then. Otherwise it polls
/// less and less often while nothing happens, because it may share its core with the simulation.
void Client::run() {
  sleep_exactly();
  try {
    for (Backoff backoff(std::chrono::microseconds(10), std::chrono::microseconds(150));;) {
      if (move()) backoff.reset();
      std::unique_lock lock(mutex_);
      if (stopping_) return;
      uses_->share();
      const auto in_flight = [&] {
        return stopping_ || ended_ > settled_ || !packets_.empty() || (closing_ && !parted_);
      };
      if (!in_flight()) {
        // Interval for offering other clients memory that this client borrowed and only keeps warm.
        constexpr std::chrono::milliseconds often{5};
        while (uses_->pool().borrowed() > 0 && !changed_.wait_for(lock, often, in_flight)) uses_->share();
        changed_.wait(lock, in_flight);
        backoff.reset();
        continue;
      }
      // Not a plain pause: an iteration that ends now should leave now.
      changed_.wait_for(lock, backoff.next(), [&] { return stopping_ || !packets_.empty(); });
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    broken_ = std::current_exception();
  }
  changed_.notify_all();
}

// ---- The publishing thread ------------------------------------------------------------------------------------------

template <class Ready>
bool Client::wait_for(Ready&& ready, std::chrono::steady_clock::time_point deadline) {
  const double start = now();
  bool done = false;
  for (;;) {
    if (!threaded()) move();
    std::unique_lock lock(mutex_);
    if (broken_) std::rethrow_exception(broken_);
    uses_->share();
    done = ready();
    if (done || std::chrono::steady_clock::now() >= deadline) break;
    // Keeps MPI messages of the simulation moving while this rank waits here; other ranks may wait for them.
    if (threaded()) changed_.wait_for(lock, std::chrono::milliseconds(1));
    lock.unlock();
    if (threaded()) {
      progress(comm_->comm());
    } else {
      pause_for(poll_interval);
    }
  }
  status_.waited += now() - start;
  return done;
}

bool Client::begin() {
  const auto below_limit = [&] { return ended_ - settled_ < options_.max_in_flight; };
  if (!threaded()) move();
  {
    const std::lock_guard lock(mutex_);
    uses_->share();
    if (below_limit()) return true;
  }
  return options_.when_full == WhenFull::wait && wait_for(below_limit, forever);
}

std::optional<Region> Client::try_reserve(std::uint64_t bytes) {
  std::byte* data = uses_->reserve(bytes);
  return data ? std::optional(Region{data, bytes, 0}) : std::nullopt;
}

/// With nothing in flight, only memory that other clients borrowed can make room. They give it back within milliseconds
/// if they only keep it. Waiting longer is not safe, because they may wait for this client inside the simulation.
bool Client::never_fits(std::uint64_t bytes) {
  if (bytes > uses_->pool().most()) return true;
  if (options_.when_full != WhenFull::wait || freed_ < ended_) {
    stuck_since_.reset();
    return false;
  }
  constexpr double patience = 1;
  if (!stuck_since_) stuck_since_ = now();
  return !options_.lender || now() - *stuck_since_ > patience;
}

std::optional<Region> Client::reserve(std::uint64_t bytes, bool) {
  std::optional<Region> region;
  bool never = false;
  stuck_since_.reset();
  const auto ready = [&] {
    region = try_reserve(bytes);
    never = !region && never_fits(bytes);
    return region || never;
  };
  {
    const std::lock_guard lock(mutex_);
    static_cast<void>(ready());
  }
  if (!region && !never) {
    if (!threaded()) move();
    static_cast<void>(wait_for(ready, options_.when_full == WhenFull::wait ? forever : Clock::now()));
  }
  if (!never) return region;
  fail(
      Code::full,
      "no room for a block of {} bytes and there never will be: of placement.buffer, {} bytes are this rank's own and {} "
      "for all clients of the node to borrow, which is less than one iteration takes; raise placement.buffer",
      bytes, uses_->pool().limit(), uses_->pool().most() - uses_->pool().limit());
}

bool Client::retire(const BlockRecord& record) {
  const std::lock_guard lock(mutex_);
  if (settled_ < ended_) return false;
  const std::optional<Arrival> kept = value_store_.take_kept(record.variable, record.block.id);
  if (kept) uses_->release(const_cast<std::byte*>(kept->data));
  return kept.has_value();
}

void Client::commit(const BlockRecord& record, const Region& region, bool hold) {
  // Adds the whole record or nothing: the manifest promises the values that follow it, and kept values are freed with
  // the iteration.
  const std::span<const MessageLine> lines = writer_.write_block(record, 0);
  if (manifest_.capacity() < manifest_.size() + lines.size()) {
    manifest_.reserve(std::max(2 * manifest_.size(), manifest_.size() + lines.size()));
  }
  if (values_.size() == values_.capacity()) values_.reserve(2 * values_.size() + 8);
  static_cast<void>(value_store_.put(ended_, Arrival{record, region.data}));
  report(lines);
  if (!threaded()) {
    values_.push_back({ended_, record.persistent ? pushed_persistent_tag : pushed_tag, region.data, record.bytes});
  }
  const std::lock_guard lock(mutex_);
  uses_->commit(region.data, hold);
}

/// Appends a message to the iteration's manifest.
void Client::report(std::span<const MessageLine> message) {
  manifest_.insert(manifest_.end(), message.begin(), message.end());
  writer_.sent();
}

/// Drops a manifest whose iteration does not end: its publications belong to no iteration and are never sent.
void Client::drop_manifest() {
  if (manifest_.empty()) return;
  retry_while_out_of_memory([&] { writer_ = ended_writer_; });  // otherwise the servers would miss messages
  manifest_.clear();
  values_.clear();
}

void Client::clear(const Region& region) {
  const std::lock_guard lock(mutex_);
  uses_->clear(region.data);
}

void Client::declare(const Block& block, bool removed) {
  Message message;
  message.kind = removed ? MessageKind::remove : MessageKind::declare;
  message.block.block = block;
  report(writer_.write(message));
  value_store_.forget(ended_, block, removed);
}

void Client::signal(const Signal& signal) {
  Message message;
  message.kind = MessageKind::signal;
  message.signal = signal;
  const std::span<const MessageLine> lines = writer_.write(message);
  manifest_.reserve(manifest_.size() + lines.size());  // nothing below throws
  report(lines);
}

void Client::end(const EndRecord& record) {
  Message last;
  last.kind = MessageKind::end;
  last.end = record;
  // Everything below must complete: others wait for the end and for the values that the manifest promises.
  retry_while_out_of_memory([&] { report(writer_.write(last)); });
  retry_while_out_of_memory([&] { value_store_.complete(ended_, record.refused != 0); });
  Bytes packet;
  retry_while_out_of_memory(
      [&] { packet = write_packet(PacketKind::manifest, ended_, 0, std::span<const MessageLine>(manifest_)); });
  {
    const std::lock_guard lock(mutex_);
    retry_while_out_of_memory([&] { packets_.emplace_back(); });
    packets_.back() = std::move(packet);
    for (const Pushed& value : values_) retry_while_out_of_memory([&] { pushes_.push_back(value); });
    ++ended_;
  }
  changed_.notify_all();
  manifest_.clear();
  retry_while_out_of_memory([&] { ended_writer_ = writer_; });
  values_.clear();
  if (!threaded()) move();
}

Settled Client::outcome(std::int64_t index) {
  const std::lock_guard lock(mutex_);
  if (broken_) std::rethrow_exception(broken_);
  const auto found = outcomes_.find(index);
  if (found == outcomes_.end()) return {};
  const Settled settled = found->second;
  outcomes_.erase(found);
  return settled;
}

void Client::await(std::int64_t index) {
  static_cast<void>(wait_for([&] { return settled_ > index; }, forever));
}

News Client::news() {
  if (!threaded()) move();
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

void Client::tell(MessageKind kind) {
  Message message;
  message.kind = kind;
  {
    const std::lock_guard lock(mutex_);
    packets_.push_back(write_packet(PacketKind::manifest, ended_, 0, writer_.write(message)));
    writer_.sent();
    closing_ = true;
  }
  changed_.notify_all();
}

bool Client::drain(std::chrono::milliseconds limit) {
  drop_manifest();
  tell(MessageKind::close);
  const auto settled = [&] { return parted_ && packets_.empty(); };
  const double waited = status_.waited;
  bool done = wait_for(settled, Clock::now() + limit);
  if (!done) {
    // The servers finish iterations that they have begun, possibly with values from here, and refuse the rest.
    tell(MessageKind::abandon);
    static_cast<void>(wait_for(settled, forever));
  }
  while (!threaded() && move()) pause_for(poll_interval);
  status_.waited = waited;
  return done;
}

}  // namespace sidestream::mpi
