// Joins what changes steered parameters (people, analyses) to what tells the clients.
#pragma once

#include <memory>
#include <optional>

#include "config/config.hpp"
#include "server/steering/steering_server.hpp"
#include "storage/files/steering_mailbox.hpp"

namespace sidestream {

/// One for each server. `config` outlives it.
class SteeringLink {
 public:
  /// `first`: the server that changes come to. `tells`: these servers tell the clients; otherwise, what analyses set
  /// here goes the way that people's changes go, to those that do.
  SteeringLink(const Config& config, bool first, bool tells);
  ~SteeringLink();
  SteeringLink(const SteeringLink&) = delete;
  SteeringLink& operator=(const SteeringLink&) = delete;

  /// Null if there is nothing to steer, or if others tell the clients.
  [[nodiscard]] SteeringServer* desk() noexcept { return desk_ ? &*desk_ : nullptr; }
  [[nodiscard]] const SteeringSink& sink() const noexcept { return sink_; }
  /// No more iterations come to these servers; if the session is `over`, to no others either.
  void close(bool over);

 private:
  void open_mailbox();
  [[nodiscard]] SteeringChannel channel();
  void record(const std::vector<SteeredParameter::Value>& values);
  void take(std::size_t parameter, const SteeredParameter::Value& value);

  const Config& config_;
  bool first_;
  bool closing_ = false;
  std::unique_ptr<SteeringMailbox> mailbox_;  ///< on the first server, if it could be opened
  std::optional<SteeringServer> desk_;
  SteeringSink sink_;
  std::int64_t posted_ = 0;
};

}  // namespace sidestream
