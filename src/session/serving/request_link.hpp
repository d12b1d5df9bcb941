// Connects people who ask for analyses with the servers that run them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "config/options/document.hpp"
#include "server/engine/asked_tasks.hpp"
#include "storage/files/mailbox.hpp"

namespace sidestream {

/// One object per server. References outlive it.
class RequestLink {
 public:
  struct Parts {
    Config& config;  ///< expressions of requests add variables to its metadata, behind the others
    const Registry& registry;
    MpiCommunicator& servers;
    std::vector<ScheduledTask>& tasks;  ///< the configured ones
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
  std::size_t most_variables_;  ///< with those of expressions in requests
  const Registry& registry_;
  std::unique_ptr<Mailbox> mailbox_;  ///< on the first server, if it could be opened
  std::optional<AskedTasks> asked_;
};

}  // namespace sidestream
