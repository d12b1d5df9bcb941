// Finds out whether a process of another job lives, without a connection to it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/waiting.hpp"
#include "transport/staging/folder.hpp"

namespace sidestream::staging {

/// Names this process so that others on the same machine can look for it, and those elsewhere know that they can't.
[[nodiscard]] std::string this_process();

/// The life of a named process; unknown if it is, or was, out of reach.
enum class Life { unknown, running, ended };
[[nodiscard]] Life life_of(const std::string& process);
[[nodiscard]] inline bool has_ended(const std::string& process) { return life_of(process) == Life::ended; }

/// Counts in a file from a thread of its own: a process that works for long shows that it lives, a stopped one doesn't.
class Heartbeat {
 public:
  /// `limit`: seconds of silence that others take for death. It counts five times in them, and at least once a second.
  Heartbeat(const Folder& folder, std::string name, double limit);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void beat();
  Folder folder_;
  std::string name_;
  std::chrono::duration<double> interval_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

/// Watches a heartbeat by this process' own clock.
class HeartbeatMonitor {
 public:
  HeartbeatMonitor(const Folder& folder, std::string name, std::string process)
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
