// Placement `sidecar`, the server's end: that of `cores`, beginning in the middle of a run.
#pragma once

#include <memory>
#include <vector>

#include "transport/shared_memory/server.hpp"
#include "transport/shared_memory/sidecar/attachment.hpp"

namespace sidestream::shared_memory {

/// Made when the attachment has said `go`. First `receive` until all clients have joined; then the servers agree on the
/// first iteration, the largest `first()` of all, and `start_at` it; then as any server.
class SidecarServer final : public Server {
 public:
  explicit SidecarServer(std::shared_ptr<Attachment> attachment, double poll = 0);

  bool receive(std::chrono::microseconds limit) override;
  [[nodiscard]] ServerState state(std::int64_t index) override;
  /// All clients of this server have joined; true from the start if it has none.
  [[nodiscard]] bool joined() const noexcept { return missing_ == 0; }
  /// The largest first iteration of its clients, 0 if it has none.
  [[nodiscard]] std::int64_t first() const noexcept { return first_; }
  /// Iterations before `index` are refused, those that have come and those that will.
  void start_at(std::int64_t index);
  /// The simulation is gone. What it had ended is in store, and every client counts as closed.
  [[nodiscard]] bool over() const noexcept { return over_; }

 private:
  void look_for_clients();
  void refuse_early(std::size_t client);

  std::shared_ptr<Attachment> attachment_;
  std::vector<bool> here_;             ///< by client: has joined
  std::vector<std::int64_t> refused_;  ///< by client: the next iteration to be refused
  std::size_t missing_ = 0;
  std::int64_t first_ = 0, start_ = -1;
  bool over_ = false;
};

}  // namespace sidestream::shared_memory
