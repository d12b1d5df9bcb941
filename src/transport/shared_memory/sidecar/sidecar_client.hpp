// Placement `sidecar`, the client's end: that of `cores`, for servers that come and go.
#pragma once

#include <memory>

#include "transport/shared_memory/client.hpp"
#include "transport/shared_memory/sidecar/listener.hpp"

namespace sidestream::shared_memory {

/// Joins servers at the begin of an iteration and detects in every call that they are gone. Clients do not tell each
/// other.
class SidecarClient final : public ClientTransport {
 public:
  /// `listener`: on the client that owns it, else null. `talks`: this client reports missing servers on standard error.
  SidecarClient(std::shared_ptr<Node> node, std::shared_ptr<Listener> listener, WhenFull when_full, int max_in_flight,
                std::function<void()> progress, bool talks);

  [[nodiscard]] bool begin() override;
  void prefetch() const noexcept override { client_.prefetch(); }
  [[nodiscard]] std::optional<Region> reserve(std::uint64_t bytes, bool persistent) override {
    return client_.reserve(bytes, persistent);
  }
  [[nodiscard]] bool retire(const BlockRecord& record) override { return client_.retire(record); }
  void fill(const Region& region, const void* values, std::uint64_t bytes) override {
    client_.fill(region, values, bytes);
  }
  void commit(const BlockRecord& record, const Region& region, bool hold) override {
    client_.commit(record, region, hold);
  }
  void clear(const Region& region) override { client_.clear(region); }
  [[nodiscard]] std::shared_ptr<const void> memory() const override { return client_.memory(); }
  void declare(const Block& block, bool removed) override { client_.declare(block, removed); }
  void signal(const Signal& signal) override { client_.signal(signal); }
  void end(const EndRecord& record) override;
  [[nodiscard]] Outcome outcome(std::int64_t index) override;
  void await(std::int64_t index) override;
  [[nodiscard]] std::string failure() override;
  [[nodiscard]] std::vector<Notice> notices() override { return client_.notices(); }
  bool drain(std::chrono::milliseconds limit) override;
  [[nodiscard]] double waited() const override { return client_.waited(); }
  [[nodiscard]] std::uint64_t bytes_spilled() const override { return client_.bytes_spilled(); }
  /// See Client::spill_to.
  void spill_to(std::unique_ptr<SpillFile> file) { client_.spill_to(std::move(file)); }
  [[nodiscard]] bool connected() const override { return client_.connected(); }

 private:
  void look();
  void join();
  void say_missing();

  std::shared_ptr<Node> node_;
  std::shared_ptr<Listener> listener_;
  ServiceState& service_;
  Client client_;
  bool talks_;
  std::uint64_t joined_ = 0;  ///< the service state when this client joined
  bool missing_said_ = false;
  bool had_servers_ = false;  ///< true if servers were ever attached
  std::string lost_;          ///< reports that servers have ended, until `failure` returns it
};

}  // namespace sidestream::shared_memory
