// A client's way to the server of one group, and back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "transport/message_lines.hpp"
#include "transport/shared_memory/node.hpp"
#include "transport/shared_memory/ring.hpp"

namespace sidestream::shared_memory {

/// A ring there, one back, and the counters of both. Groups know nothing of each other: each has its own pace.
class Channel {
 public:
  /// Of this process, a client, to its server in group `group`.
  Channel(const Node& node, std::size_t group);

  /// False: the ring is full, or as many iterations are undecided as shared memory has outcomes for.
  [[nodiscard]] bool try_push(const Message& message);
  [[nodiscard]] bool try_push_block(const BlockRecord& record, std::uint64_t offset, std::uint32_t segment) {
    if (!backlog_.empty() || !ring_.try_push(writer_.write_block(record, offset, segment))) return false;
    writer_.sent();
    return true;
  }
  /// Keeps what found the ring full, for `flush`; it is sent before anything newer.
  void keep(const Message& message);
  /// False: something is still kept.
  [[nodiscard]] bool flush();
  void drop_backlog() noexcept { backlog_.clear(); }
  /// For any message of a client.
  [[nodiscard]] bool has_room() const noexcept;
  void prefetch() const noexcept {
    ring_.prefetch();
    __builtin_prefetch(&control_->released);
    __builtin_prefetch(writer_.place(), 1);
  }

  [[nodiscard]] std::int64_t released() const noexcept { return control_->released.load(std::memory_order_acquire); }
  [[nodiscard]] std::int64_t decided() const noexcept { return control_->decided.load(std::memory_order_acquire); }
  /// End records in the ring so far.
  [[nodiscard]] std::int64_t sent() const noexcept { return sent_; }
  /// Takes over outcomes that the server has announced; those below `polled` are known then.
  void poll_outcomes();
  [[nodiscard]] std::int64_t polled() const noexcept { return polled_; }
  /// Of an iteration below `polled`; forgets it.
  [[nodiscard]] Outcome take_outcome(std::int64_t index);
  /// The server says nothing any more: what it had been given and did not announce becomes `undecided`, what it had not
  /// been given, up to `current`, is refused.
  void settle(Outcome undecided, std::int64_t current);
  /// An iteration that nobody is told of.
  void refuse(std::int64_t index);

  /// The end record of iteration `index` is in the ring: wakes the server if this was its last client.
  void count_end(std::int64_t index) noexcept { server_->end(index, server_clients_); }
  void ring() noexcept { server_->bell.ring(); }
  /// Sleeps until `ready`, or what the server announces moves, or `limit`.
  template <class Ready>
  void wait(Ready&& ready, std::chrono::microseconds limit) {
    control_->room.wait(ready, limit);
  }
  /// Adds what the server has told to `told`.
  void take_notices(std::vector<Notice>& told);
  /// The server's sentence, if there is a new one.
  [[nodiscard]] std::string failure();
  /// The server has left in order, and says why in `why`.
  [[nodiscard]] bool has_left() const noexcept { return server_->liveness.closed.load(std::memory_order_acquire) != 0; }
  [[nodiscard]] bool alive() const noexcept { return server_->liveness.alive(); }
  [[nodiscard]] std::string last_words();

  /// Begins anew with another server, which gets iteration `current` first. It looks at nothing yet.
  void restart(std::int64_t current);
  [[nodiscard]] ClientControl& control() noexcept { return *control_; }

 private:
  [[nodiscard]] std::byte* ring_memory() const noexcept { return layout_->ring(memory_, number_); }
  [[nodiscard]] std::byte* notice_memory() const noexcept { return layout_->notices(memory_, number_); }

  const ControlLayout* layout_;
  std::byte* memory_;
  std::uint32_t number_;  ///< among the channels of the node
  ClientControl* control_;
  ServerControl* server_;
  std::uint32_t server_clients_ = 1;  ///< clients of my server
  RingProducer<MessageLine> ring_;
  MessageWriter writer_;
  RingConsumer<MessageLine> notices_;
  MessageReader notice_reader_;
  std::deque<Message> backlog_;  ///< under skip
  std::int64_t sent_ = 0;
  std::int64_t polled_ = 0;  ///< outcomes read so far; shared memory keeps the last 64 only
  std::map<std::int64_t, Outcome> outcomes_;
  std::uint32_t failure_seen_ = 0;
};

}  // namespace sidestream::shared_memory
