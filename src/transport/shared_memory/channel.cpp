#include "transport/shared_memory/channel.hpp"

#include <algorithm>

#include "sidestream/kit/base/waiting.hpp"

namespace sidestream::shared_memory {

namespace {
std::uint32_t clients_of(int server, std::size_t group, const NodeRole& role) {
  std::uint32_t count = 0;
  for (int c = 0; c < role.clients; ++c) count += server_of(c, role, group) == server;
  return count;
}
}  // namespace

Channel::Channel(const Node& node, std::size_t group)
    : layout_(&node.layout()),
      memory_(node.control()),
      number_(channel_of(node.role().number, node.role(), group)),
      control_(&layout_->client(memory_, number_)),
      server_(&layout_->server(memory_, static_cast<std::uint32_t>(server_of(node.role().number, node.role(), group)))),
      server_clients_(clients_of(server_of(node.role().number, node.role(), group), group, node.role())),
      ring_(ring_memory(), layout_->ring_capacity),
      notices_(notice_memory(), notice_lines) {
  control_->liveness.start();
}

[[gnu::hot]] bool Channel::try_push(const Message& message) {
  // At most 64 undecided iterations may be on their way, since shared memory has room for that many outcomes. Under
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

void Channel::keep(const Message& message) {
  retry_while_out_of_memory([&] { backlog_.push_back(message); });
}

bool Channel::flush() {
  for (; !backlog_.empty(); backlog_.pop_front()) {
    if (!try_push(backlog_.front())) return false;
  }
  return true;
}

bool Channel::has_space() const noexcept {
  constexpr std::uint64_t longest =
      1 + payload_lines(std::max({sizeof(BlockRecord), sizeof(EndRecord), sizeof(SignalHead) + longest_event}));
  return ring_.size() + longest <= ring_.capacity();
}

void Channel::poll_outcomes() {
  for (const std::int64_t now = decided(); polled_ < now; ++polled_) {
    retry_while_out_of_memory([&] { outcomes_[polled_] = control_->outcome(polled_); });
  }
}

Outcome Channel::take_outcome(std::int64_t index) {
  const auto found = outcomes_.find(index);
  if (found == outcomes_.end()) return Outcome::pending;
  const Outcome outcome = found->second;
  outcomes_.erase(found);
  return outcome;
}

void Channel::settle(Outcome undecided, std::int64_t current) {
  poll_outcomes();
  for (; polled_ < current; ++polled_) {
    retry_while_out_of_memory([&] { outcomes_[polled_] = polled_ < sent_ ? undecided : Outcome::refused; });
  }
  backlog_.clear();
}

void Channel::refuse(std::int64_t index) {
  retry_while_out_of_memory([&] { outcomes_[index] = Outcome::refused; });
  polled_ = index + 1;
}

void Channel::take_notices(std::vector<Notice>& received) {
  std::vector<MessageLine> lines;
  while (peek_message(notices_, lines)) {
    received.reserve(received.size() + 1);  // nothing may fail between reading and keeping
    received.push_back(notice_reader_.read_notice(lines));
    notices_.drop(lines.size());
  }
}

std::string Channel::failure() {
  const std::uint32_t version = server_->failure.version();
  if (version == failure_seen_ || version % 2 == 1) return {};  // odd: being written, read next time
  std::string text = server_->failure.read();
  failure_seen_ = version;  // only now: reading allocates
  return text;
}

std::string Channel::reason_for_leaving() {
  failure_seen_ = server_->failure.version();
  return server_->failure.read();
}

void Channel::restart(std::int64_t current) {
  auto* indices = reinterpret_cast<RingIndices*>(ring_memory());
  indices->pushed.store(0, std::memory_order_relaxed);
  indices->popped.store(0, std::memory_order_relaxed);
  ring_ = RingProducer<MessageLine>(ring_memory(), layout_->ring_capacity);
  writer_.restart();
  auto* notice_indices = reinterpret_cast<RingIndices*>(notice_memory());
  notice_indices->pushed.store(0, std::memory_order_relaxed);
  notice_indices->popped.store(0, std::memory_order_relaxed);
  notices_ = RingConsumer<MessageLine>(notice_memory(), notice_lines);
  notice_reader_ = {};
  control_->released.store(current, std::memory_order_relaxed);
  control_->decided.store(current, std::memory_order_relaxed);
  sent_ = polled_ = current;
}

}  // namespace sidestream::shared_memory
