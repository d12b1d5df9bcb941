// Placement `cores`, the server's end: reads rings, never copies values.
#pragma once

#include <memory>
#include <vector>

#include "transport/inbox_store.hpp"
#include "transport/shared_memory/node.hpp"
#include "transport/shared_memory/ring.hpp"

namespace sidestream::shared_memory {

class Server final : public ServerTransport {
 public:
  explicit Server(std::shared_ptr<Node> node);

  [[nodiscard]] int clients() const override { return store_.clients(); }
  bool receive(std::chrono::microseconds limit) override;
  [[nodiscard]] const Inbox& inbox(std::int64_t index) override { return store_.inbox(index); }
  [[nodiscard]] int ended(std::int64_t index) const override { return store_.ended(index); }
  [[nodiscard]] int pending(std::int64_t index) const override { return store_.pending(index); }
  [[nodiscard]] bool abandoned() const override { return store_.abandoned(); }
  bool advance(std::int64_t index) override { return store_.advance(index); }
  [[nodiscard]] const std::vector<Block>& blocks() const override { return store_.blocks(); }
  [[nodiscard]] std::vector<BlockChange> take_changes() override { return store_.take_changes(); }
  [[nodiscard]] const std::vector<Arrival>& persistent() const override { return store_.persistent(); }
  [[nodiscard]] bool at_hand() const override { return true; }
  [[nodiscard]] std::vector<const std::byte*> fetch(std::int64_t, std::span<const Wanted>) override { return {}; }
  [[nodiscard]] std::vector<BlockRange> ranges(std::int64_t index, std::span<const RangeRequest> requests) override {
    return store_.ranges(index, requests, nullptr);
  }
  void release(std::int64_t index, Outcome outcome) override;
  void post_failure(const std::string& message) override { box_.failure.post(message); }
  [[nodiscard]] std::uint64_t bytes_received() const override { return store_.bytes(); }

 private:
  void take(int client, const Message& message);

  std::shared_ptr<Node> node_;
  ServerBox& box_;
  int first_client_ = 0;
  std::vector<RingConsumer<Message>> rings_;
  InboxStore store_;
};

}  // namespace sidestream::shared_memory
