// Paths of requests to the servers: values to be steered, and analyses.
//
// SteeringLink connects the sources of steered values (people, analyses) with the server that tells the clients.
// RequestLink connects people who request analyses with the servers that run them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "config/options/document.hpp"
#include "server/engine/asked_tasks.hpp"
#include "server/steering/steering_server.hpp"
#include "storage/files/mailbox.hpp"

namespace sidestream {

/// Takes the pending requests of a mailbox; none if there is no mailbox.
[[nodiscard]] std::vector<SteeringRequest> requests_in(Mailbox* mailbox);

/// Connects steering; one object per server. `config` must outlive it.
class SteeringLink {
 public:
  /// `first`: true on the server that receives changes. `tells`: true if these servers tell the clients; otherwise
  /// values set by analyses here are posted, like people's changes, to the servers that do.
  SteeringLink(const Config& config, bool first, bool tells);
  ~SteeringLink();
  SteeringLink(const SteeringLink&) = delete;
  SteeringLink& operator=(const SteeringLink&) = delete;

  /// Null if nothing can be steered, or if other servers inform the clients.
  [[nodiscard]] SteeringServer* server() noexcept { return server_ ? &*server_ : nullptr; }
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
  std::optional<SteeringServer> server_;
  SteeringSink sink_;
  std::int64_t posted_ = 0;
};

/// Connects requests; one object per server. References must outlive it.
class RequestLink {
 public:
  struct Parts {
    Config& config;  ///< expressions of requests add variables to its metadata, behind the others
    const Registry& registry;
    MpiCommunicator& servers;
    std::vector<ScheduledTask>& tasks;  ///< the configured tasks
    Watchdog& watchdog;
  };
  explicit RequestLink(const Parts& parts);
  /// Refuses waiting requests.
  ~RequestLink();
  RequestLink(const RequestLink&) = delete;
  RequestLink& operator=(const RequestLink&) = delete;

  [[nodiscard]] AskedTasks& tasks() noexcept { return *asked_; }

 private:
  void open_mailbox();
  [[nodiscard]] RequestChannel channel();
  [[nodiscard]] AskedTasks::Made make(const std::string& text, const std::string& name,
                                      const std::vector<TaskConfig>& running);
  void derive(const Node& expression);
  [[nodiscard]] std::string description(const std::vector<std::pair<std::string, std::string>>& running) const;

  Config& config_;
  std::size_t most_variables_;  ///< number of variables, also of expressions in requests
  const Registry& registry_;
  std::unique_ptr<Mailbox> mailbox_;  ///< on the first server, if it could be opened
  std::optional<AskedTasks> asked_;
};

}  // namespace sidestream
