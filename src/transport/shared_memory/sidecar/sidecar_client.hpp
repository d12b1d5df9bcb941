// Placement `sidecar`, the client's end: like `cores`, with servers that come and go.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "transport/shared_memory/client.hpp"
#include "transport/shared_memory/sidecar/listener.hpp"

namespace sidestream::shared_memory {

/// Joins servers at the begin of an iteration and detects in every call that they are gone. Clients do not inform each
/// other.
class SidecarClient final : public Client {
 public:
  /// `listener`: on the client that owns it, else null. `talks`: this client reports missing servers on standard error.
  SidecarClient(std::shared_ptr<Node> node, std::shared_ptr<Listener> listener, WhenFull when_full, int max_in_flight,
                std::function<void()> progress, bool talks);

  /// Sets a function that is called with their epoch when this client has joined servers.
  void on_join(std::function<void(std::uint64_t)> call) { on_join_ = std::move(call); }

  [[nodiscard]] bool begin() override;
  void end(const EndRecord& record) override;
  [[nodiscard]] Settled outcome(std::int64_t index) override;
  void await(std::int64_t index) override;
  [[nodiscard]] News news() override;
  bool drain(std::chrono::milliseconds limit) override;

 private:
  [[nodiscard]] std::string next_failure() override;
  void look_for_servers();
  void join();
  void warn_of_missing_servers();

  std::shared_ptr<Listener> listener_;
  ServiceState& service_;
  std::function<void(std::uint64_t epoch)> on_join_;
  bool talks_;
  std::uint64_t joined_ = 0;  ///< state of the service when this client joined
  bool missing_said_ = false;
  bool had_servers_ = false;  ///< true if servers were ever attached
  std::string lost_;          ///< reports that servers have ended, until `news` returns it
};

}  // namespace sidestream::shared_memory
