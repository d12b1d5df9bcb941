// Placement `sidecar`, the server's end: that of `cores`, beginning in the middle of a run.
#pragma once

#include <memory>
#include <vector>

#include "transport/shared_memory/server.hpp"
#include "transport/shared_memory/sidecar/attachment.hpp"

namespace sidestream::shared_memory {

/// Created when the attachment has sent `go`. Call `receive` until all clients have joined. Then the servers agree on
/// the first iteration, the largest `first()` of all, and call `start_at`. From then on it works like any server.
class SidecarServer final : public Server {
 public:
  explicit SidecarServer(std::shared_ptr<Attachment> attachment, double poll = 0);

  bool receive(std::chrono::microseconds limit) override;
  [[nodiscard]] ServerState state(std::int64_t index) override;
  /// True if all clients of this server have joined; true from the start if it has none.
  [[nodiscard]] bool joined() const noexcept { return missing_ == 0; }
  /// The largest first iteration of its clients, 0 if it has none.
  [[nodiscard]] std::int64_t first() const noexcept { return first_; }
  /// Refuses all iterations before `index`, those received already and those still to come.
  void start_at(std::int64_t index);
  /// True if the simulation is gone. The iterations that it had ended are stored, and every client counts as closed.
  [[nodiscard]] bool over() const noexcept { return over_; }

 private:
  void look_for_clients();
  void refuse_early(std::size_t client);

  std::shared_ptr<Attachment> attachment_;
  std::vector<bool> here_;             ///< by client: true if it has joined
  std::vector<std::int64_t> refused_;  ///< by client: the next iteration to refuse
  std::size_t missing_ = 0;
  std::int64_t first_ = 0, start_ = -1;
  bool over_ = false;
};

}  // namespace sidestream::shared_memory
