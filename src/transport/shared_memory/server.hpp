// Placement `cores`, the server's end: reads rings, never copies values.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "transport/inbox_store.hpp"
#include "transport/shared_memory/anticipation.hpp"
#include "transport/shared_memory/node.hpp"
#include "transport/shared_memory/ring.hpp"
#include "transport/shared_memory/spill/spill_file.hpp"

namespace sidestream::shared_memory {

class Server : public ServerTransport {
 public:
  /// `poll`: seconds to poll without sleeping when an iteration is expected; see Anticipation.
  explicit Server(std::shared_ptr<Node> node, double poll = 0) : Server(std::move(node), Open::now, poll) {}

  bool receive(std::chrono::microseconds limit) override;
  [[nodiscard]] ServerState state(std::int64_t index) override { return store_.state(index); }
  /// Also reads back the blocks of the iteration that clients spilled; if that fails, refuses it and says why.
  void advance(std::int64_t index) override;
  [[nodiscard]] std::vector<const std::byte*> fetch(std::int64_t, std::span<const Wanted>, bool) override { return {}; }
  [[nodiscard]] MeasuredRanges ranges(std::int64_t index, std::span<const RangeRequest> requests,
                                      std::span<const RangeRegion> regions) override {
    return store_.ranges(index, requests, regions, nullptr);
  }
  void release(std::int64_t index, Outcome outcome) override;
  void post_failure(const std::string& message) override { control_.failure.post(message); }
  [[nodiscard]] bool notify(const Notice& notice) override;
  void finish(const std::string& trouble) override;

 protected:
  /// When to open the rings: a ring must be in the state that its client left for this server.
  enum class Open { now, later };
  Server(std::shared_ptr<Node> node, Open open, double poll);
  /// `client` is the number among this server's own clients. Its first iteration is `first`.
  void open_ring(std::size_t client, std::int64_t first);
  [[nodiscard]] ClientControl& client_control(std::size_t client) const noexcept;
  /// The iteration that the client is in.
  [[nodiscard]] std::int64_t current(std::size_t client) const { return store_.current(static_cast<int>(client)); }
  void forget(std::int64_t index);
  /// Counts all clients as closed.
  void close_clients();

 private:
  void take(int client, const Message& message);
  [[nodiscard]] bool take_one(std::size_t client);
  [[nodiscard]] bool take_all();
  void await_record(std::chrono::steady_clock::time_point deadline);

  std::shared_ptr<Node> node_;
  ServerControl& control_;
  int first_client_ = 0;
  std::size_t group_ = 0;
  std::vector<std::optional<RingConsumer<MessageLine>>> rings_;
  std::vector<MessageReader> readers_;
  std::vector<std::optional<RingProducer<MessageLine>>> notices_;
  std::vector<MessageWriter> writers_;
  std::vector<MessageLine> lines_;  ///< lines of the message being read
  InboxStore store_;
  SpillReader spilled_;
  Anticipation anticipation_;
  std::int64_t expected_ = 0;  ///< the iteration that `anticipation_` predicts
};

}  // namespace sidestream::shared_memory
