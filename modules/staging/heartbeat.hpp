// Detects whether a process of another job lives, without a connection to it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "sidestream/kit/base/waiting.hpp"
#include "staging/folder.hpp"

namespace sidestream::staging {

/// Name of this process. Processes on the same machine can look for it; those elsewhere recognise that they cannot.
[[nodiscard]] std::string this_process();

/// The life of a named process; `unknown` if the process cannot be seen from here.
enum class ProcessState { unknown, running, ended };
[[nodiscard]] ProcessState state_of(const std::string& process);
[[nodiscard]] inline bool has_ended(const std::string& process) { return state_of(process) == ProcessState::ended; }

/// Counts in a file from its own thread: a process that computes for long shows that it lives, a stopped process does
/// not.
class Heartbeat {
 public:
  /// `limit`: after so many seconds of silence others assume death. Counts five times in that time, and at least once a
  /// second.
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
  /// Reads the count, and returns for how many seconds it has stood still.
  [[nodiscard]] double silent();
  /// Reason why the process counts as dead; empty while it lives.
  [[nodiscard]] std::string death(double limit);

 private:
  Folder folder_;
  std::string name_, process_, last_;
  double looked_ = -1e9, changed_ = now();
};

}  // namespace sidestream::staging
