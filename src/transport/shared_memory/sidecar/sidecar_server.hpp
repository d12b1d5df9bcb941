// Placement `sidecar`, the server's end: that of `cores`, beginning in the middle of a run.
// Attachment is a server process' connection to the listener of its node.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sidestream/kit/base/files.hpp"
#include "transport/shared_memory/node.hpp"
#include "transport/shared_memory/server.hpp"
#include "transport/shared_memory/sidecar/attach_protocol.hpp"

namespace sidestream::shared_memory {

/// Holds the place of one accepted server among the servers of its node. The place is free again when this object, or
/// the process, ends.
class Attachment {
 public:
  /// Result of asking a listener for a place.
  struct Attempt {
    enum class Result { accepted, nobody, busy, refused } result = Result::nobody;
    std::string reason;  ///< busy, refused: the reason as a sentence
    std::unique_ptr<Attachment> attachment;
  };
  /// Tries once, and waits only for the answer of an existing listener. Throws Error(system) if the received memory is
  /// unusable.
  [[nodiscard]] static Attempt attempt(const std::string& name, const AttachRequest& request);

  [[nodiscard]] const AttachAnswer& answer() const noexcept { return answer_; }
  [[nodiscard]] const std::shared_ptr<Node>& node() const noexcept { return node_; }
  [[nodiscard]] BytesView declarations() const noexcept;
  /// The epoch that begins when all servers of the node have sent `go`.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return answer_.epoch + 1; }

  void signal(AttachSignal what) noexcept;
  /// True if the simulation's end of the connection is gone: it closed or died.
  [[nodiscard]] bool ended() noexcept;
  /// After `ended`: true if it closed in order.
  [[nodiscard]] bool closed() const noexcept;
  /// Disconnects as if this process had died: clients look for other servers.
  void hang_up() noexcept;
  /// True if a server of this node has died or hung up.
  [[nodiscard]] bool broken() const noexcept;

 private:
  Attachment(Descriptor socket, const AttachAnswer& answer, std::shared_ptr<Node> node, Segment declarations);

  Descriptor socket_;
  AttachAnswer answer_;
  std::shared_ptr<Node> node_;
  Segment declarations_;
  bool ended_ = false;
};

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
