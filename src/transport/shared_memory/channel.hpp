// A client's connection to the server of one group, in both directions.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "transport/message.hpp"
#include "transport/shared_memory/node.hpp"
#include "transport/shared_memory/ring.hpp"

namespace sidestream::shared_memory {

/// A ring in each direction, and the counters of both ends. Groups are independent: each has its own pace.
class Channel {
 public:
  /// Connects this process, a client, with its server in group `group`.
  Channel(const Node& node, std::size_t group);

  /// Returns false if the ring is full, or if as many iterations are undecided as shared memory has outcomes for.
  [[nodiscard]] bool try_push(const Message& message);
  [[nodiscard]] bool try_push_block(const BlockRecord& record, std::uint64_t offset, std::uint32_t segment) {
    if (!backlog_.empty() || !ring_.try_push(writer_.write_block(record, offset, segment))) return false;
    writer_.sent();
    return true;
  }
  /// Keeps a message that found the ring full, for `flush`; it is sent before anything newer.
  void keep(const Message& message);
  /// Sends kept messages. Returns false if some are still kept.
  [[nodiscard]] bool flush();
  void drop_backlog() noexcept { backlog_.clear(); }
  /// True if the ring has room for any message of a client.
  [[nodiscard]] bool has_space() const noexcept;
  void prefetch() const noexcept {
    ring_.prefetch();
    __builtin_prefetch(&control_->released);
    __builtin_prefetch(writer_.place(), 1);
  }

  [[nodiscard]] std::int64_t released() const noexcept { return control_->released.load(std::memory_order_acquire); }
  [[nodiscard]] std::int64_t decided() const noexcept { return control_->decided.load(std::memory_order_acquire); }
  /// Number of end records put into the ring so far.
  [[nodiscard]] std::int64_t sent() const noexcept { return sent_; }
  /// Takes over outcomes that the server has announced; those below `polled` are known then.
  void poll_outcomes();
  [[nodiscard]] std::int64_t polled() const noexcept { return polled_; }
  /// Returns the outcome of an iteration below `polled` and forgets it.
  [[nodiscard]] Outcome take_outcome(std::int64_t index);
  /// Settles all iterations of a server that is gone: those it had received and did not announce become `undecided`;
  /// those it had not received, up to `current`, are refused.
  void settle(Outcome undecided, std::int64_t current);
  /// Refuses an iteration without informing a server.
  void refuse(std::int64_t index);

  /// Counts the end record of iteration `index`, which is in the ring; wakes the server if this was its last client.
  void count_end(std::int64_t index) noexcept { server_->end(index, server_clients_); }
  void ring() noexcept { server_->bell.ring(); }
  /// Sleeps until `ready`, an announcement by the server, or `limit`.
  template <class Ready>
  void wait(Ready&& ready, std::chrono::microseconds limit) {
    control_->space.wait(ready, limit);
  }
  /// Appends the server's notices to `received`.
  void take_notices(std::vector<Notice>& received);
  /// The server's failure message, if there is a new one.
  [[nodiscard]] std::string failure();
  /// True if the server has left in order; `reason_for_leaving` says why.
  [[nodiscard]] bool has_left() const noexcept { return server_->liveness.closed.load(std::memory_order_acquire) != 0; }
  [[nodiscard]] bool alive() const noexcept { return server_->liveness.alive(); }
  [[nodiscard]] std::string reason_for_leaving();

  /// Starts anew with another server, which gets iteration `current` first. That server must not read yet.
  void restart(std::int64_t current);
  [[nodiscard]] ClientControl& control() noexcept { return *control_; }

 private:
  [[nodiscard]] std::byte* ring_memory() const noexcept { return layout_->ring(memory_, number_); }
  [[nodiscard]] std::byte* notice_memory() const noexcept { return layout_->notices(memory_, number_); }

  const ControlLayout* layout_;
  std::byte* memory_;
  std::uint32_t number_;  ///< number among the channels of the node
  ClientControl* control_;
  ServerControl* server_;
  std::uint32_t server_clients_ = 1;  ///< number of clients of this client's server
  RingProducer<MessageLine> ring_;
  MessageWriter writer_;
  RingConsumer<MessageLine> notices_;
  MessageReader notice_reader_;
  std::deque<Message> backlog_;  ///< used only under skip
  std::int64_t sent_ = 0;
  std::int64_t polled_ = 0;  ///< number of outcomes read so far; shared memory keeps the last 64 only
  std::map<std::int64_t, Outcome> outcomes_;
  std::uint32_t failure_seen_ = 0;
};

}  // namespace sidestream::shared_memory
