// Whether a process of another job lives, as far as one can tell without a connection to it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/timer.hpp"
#include "transport/staging/folder.hpp"

namespace sidestream::staging {

/// Names this process so that others on the same machine can ask for it, and those elsewhere know that they can't.
[[nodiscard]] std::string this_process();

/// Whether the named process ran on this machine, in reach of us, and has ended. A process elsewhere has not.
[[nodiscard]] bool has_ended(const std::string& process);

/// Counts in a file, once a second, from a thread of its own: a process that works for long still shows that it lives,
/// one that is stopped doesn't.
class Heartbeat {
 public:
  Heartbeat(const Folder& folder, std::string name);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void beat();
  Folder folder_;
  std::string name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

/// Watches a heartbeat. No clocks are compared but this process' own with itself.
class Pulse {
 public:
  Pulse(const Folder& folder, std::string name, std::string process)
      : folder_(folder), name_(std::move(name)), process_(std::move(process)) {}
  /// Looks, and returns for how many seconds the count has stood still.
  [[nodiscard]] double silent();
  /// Why it counts as dead; empty while it lives.
  [[nodiscard]] std::string death(double limit);

 private:
  Folder folder_;
  std::string name_, process_, last_;
  double looked_ = -1e9, changed_ = now();
};

}  // namespace sidestream::staging
