// Connects the sources of steered values (people, analyses) with the server that tells the clients.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "config/config.hpp"
#include "server/steering/steering_server.hpp"
#include "storage/files/mailbox.hpp"

namespace sidestream {

/// Takes the pending requests of a mailbox; none if there is no mailbox.
[[nodiscard]] std::vector<SteeringRequest> requests_in(Mailbox* mailbox);

/// One object per server. `config` outlives it.
class SteeringLink {
 public:
  /// `first`: true on the server that receives changes. `tells`: these servers tell the clients; otherwise values set
  /// by analyses here are posted, like people's changes, to the servers that do.
  SteeringLink(const Config& config, bool first, bool tells);
  ~SteeringLink();
  SteeringLink(const SteeringLink&) = delete;
  SteeringLink& operator=(const SteeringLink&) = delete;

  /// Null if there is nothing to steer, or if others tell the clients.
  [[nodiscard]] SteeringServer* desk() noexcept { return desk_ ? &*desk_ : nullptr; }
  [[nodiscard]] const SteeringSink& sink() const noexcept { return sink_; }
  /// Call when these servers get no more iterations. `over`: the session has no other servers either.
  void close(bool over);

 private:
  void open_mailbox();
  [[nodiscard]] SteeringChannel channel();
  void record(const std::vector<SteeredParameter::Value>& values);
  void take(std::size_t parameter, const SteeredParameter::Value& value);

  const Config& config_;
  bool first_;
  bool closing_ = false;
  std::unique_ptr<Mailbox> mailbox_;  ///< on the first server, if it could be opened
  std::optional<SteeringServer> desk_;
  SteeringSink sink_;
  std::int64_t posted_ = 0;
};

}  // namespace sidestream
