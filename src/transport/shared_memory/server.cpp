// Placement `cores`: a server reads its clients' rings.
//
// 1. receive: empties all rings. If they were empty it sleeps on its bell, except around the expected time of the next
//    iteration, when it polls (Anticipation).
// 2. take: each record goes to the store; values stay in the node's buffer. Spilled blocks are noted.
// 3. advance: when an iteration's turn comes, its spilled blocks are read back. If that fails, this server refuses it.
// 4. release: writes outcome and count into each client's control block.
// Nothing is collective. A record leaves its ring only after it was stored, so a shortage of memory loses none.
#include "transport/shared_memory/server.hpp"

#include <sched.h>

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream::shared_memory {

namespace {
[[nodiscard]] int count_clients(const NodeRole& role) {
  int count = 0;
  const std::size_t group = group_of(role.number, role);
  for (int c = 0; c < role.clients; ++c) count += server_of(c, role, group) == role.number;
  return count;
}

[[nodiscard]] ServerTraits traits_of(const Node& node) {
  const Segment& buffer = node.buffer_segment();
  return {
      count_clients(node.role()), true, {{buffer.descriptor(), buffer.data(), buffer.bytes(), Segment::header_bytes}}};
}

/// Pauses between two reads of memory that another core writes.
inline void rest() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}
}  // namespace

Server::Server(std::shared_ptr<Node> node, Open open, double poll)
    : ServerTransport(traits_of(*node)),
      node_(std::move(node)),
      control_(node_->layout().server(node_->control(), static_cast<std::uint32_t>(node_->role().number))),
      rings_(static_cast<std::size_t>(traits().clients)),
      readers_(rings_.size()),
      notices_(rings_.size()),
      writers_(rings_.size()),
      store_(traits().clients),
      anticipation_(std::chrono::duration_cast<Anticipation::Duration>(std::chrono::duration<double>(poll))) {
  const NodeRole& role = node_->role();
  group_ = group_of(role.number, role);
  while (first_client_ < role.clients && server_of(first_client_, role, group_) != role.number) ++first_client_;
  for (std::size_t c = 0; c < rings_.size() && open == Open::now; ++c) open_ring(c, 0);
  control_.liveness.start();
}

void Server::open_ring(std::size_t client, std::int64_t first) {
  expected_ = std::max(expected_, first);
  const std::uint32_t number = channel_of(first_client_ + static_cast<int>(client), node_->role(), group_);
  rings_[client].emplace(node_->layout().ring(node_->control(), number), node_->layout().ring_capacity);
  notices_[client].emplace(node_->layout().notices(node_->control(), number), notice_lines);
  readers_[client] = {};
  writers_[client].restart();
  store_.begin_at(static_cast<int>(client), first);
}

ClientControl& Server::client_control(std::size_t client) const noexcept {
  return node_->layout().client(node_->control(),
                                channel_of(first_client_ + static_cast<int>(client), node_->role(), group_));
}

void Server::close_clients() {
  for (int c = 0; c < store_.clients(); ++c) store_.close(c);
}

void Server::take(int client, const Message& message) {
  if (message.segment != 0 && message.segment != spill_segment) {
    fail(Code::system, "a block came that lies in segment {}, which this version of Sidestream does not know",
         message.segment);
  }
  // The message was taken from its ring, so this waits where memory is short.
  retry_while_out_of_memory([&] {
    if (store_.take(client, message)) return;
    if (message.segment == 0) return store_.add(client, Arrival{message.block, node_->buffer() + message.offset});
    // Its values are read when its iteration's turn comes. Retrying in between must not add anything twice.
    const std::int64_t iteration = store_.current(client);
    spilled_.add(iteration, static_cast<std::size_t>(client), message.offset, store_.inbox(iteration).blocks.size());
    retry_while_out_of_memory([&] { store_.add(client, Arrival{message.block, nullptr}); });
  });
}

void Server::advance(std::int64_t index) {
  store_.advance(index);
  if (!spilled_.waits(index)) return;
  Inbox& inbox = store_.inbox(index);
  if (inbox.end.refused == 0) {
    const std::string wrong =
        spilled_.load(index, inbox, [this](std::size_t client) { return std::string(client_control(client).spill); });
    if (wrong.empty()) return;
    inbox.end.refused |= Refusal::on_server;
    log::error("iteration {}: {}; it is refused", index, wrong);
    control_.failure.post(wrong);
  }
}

void Server::forget(std::int64_t index) {
  store_.drop(index);
  spilled_.drop(index);
}

bool Server::take_one(std::size_t client) {
  bool found = false;
  Message message;
  retry_while_out_of_memory([&] {
    found = peek_message(*rings_[client], lines_);
    if (found) readers_[client].read(lines_, message);
  });
  if (!found) return false;
  take(static_cast<int>(client), message);
  rings_[client]->drop(lines_.size());
  return true;
}

bool Server::notify(const Notice& notice) {
  const std::uint64_t lines = 1 + payload_lines(notice.payload.size());
  for (auto& ring : notices_) {
    if (lines <= most_message_lines && (!ring || !ring->has_space(lines))) return false;
  }
  for (std::size_t c = 0; c < notices_.size(); ++c) {
    static_cast<void>(notices_[c]->try_push(writers_[c].write_notice(notice)));
    writers_[c].sent();
  }
  return true;
}

bool Server::take_all() {
  bool any = false;
  for (std::size_t c = 0; c < rings_.size(); ++c) {
    while (rings_[c] && take_one(c)) any = true;
  }
  if (any && store_.ended(expected_) == store_.clients()) {
    while (store_.ended(expected_) == store_.clients()) ++expected_;
    anticipation_.came(std::chrono::steady_clock::now());
  }
  return any;
}

/// Waits for a record: asleep, except around the time when the next iteration is expected.
void Server::await_record(std::chrono::steady_clock::time_point deadline) {
  using std::chrono::steady_clock;
  const auto ready = [&] {
    return std::any_of(rings_.begin(), rings_.end(), [](auto& ring) { return ring && !ring->empty(); });
  };
  const auto sleep_until = [&](steady_clock::time_point end) {
    const auto left = std::chrono::ceil<std::chrono::microseconds>(end - steady_clock::now());
    return left.count() <= 0 ? ready() : control_.bell.wait(ready, left);
  };
  const auto window = anticipation_.next();
  if (window && window->first < deadline && steady_clock::now() < window->second) {
    // The bell may ring early for any reason; the caller checks what has arrived.
    if (sleep_until(window->first) || steady_clock::now() < window->first) return;
    const auto end = std::min(window->second, deadline);
    while (steady_clock::now() < end) {
      for (int polls = 0; polls < 64; ++polls) {
        if (ready()) return;
        rest();
      }
      sched_yield();  // other processes may need the core more
    }
  }
  sleep_until(deadline);
}

bool Server::receive(std::chrono::microseconds limit) {
  if (take_all()) return true;
  if (limit.count() == 0) return false;
  await_record(std::chrono::steady_clock::now() + limit);
  return take_all();
}

void Server::finish(const std::string& trouble) {
  if (trouble.empty()) return;
  control_.failure.post(trouble);
  control_.liveness.closed.store(1, std::memory_order_release);
  for (std::size_t c = 0; c < rings_.size(); ++c) client_control(c).space.ring();
}

/// A forwarder releases with a pending outcome when its servers have fetched what they need from here.
void Server::release(std::int64_t index, Outcome outcome) {
  const bool decided = outcome != Outcome::pending;
  if (decided) forget(index);
  for (std::size_t c = 0; c < rings_.size(); ++c) {
    if (decided) client_control(c).announce(index, outcome);
    client_control(c).release(index);
  }
}

}  // namespace sidestream::shared_memory
