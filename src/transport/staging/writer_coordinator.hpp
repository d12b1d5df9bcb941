// The writers' side of the messages with readers: readers, offered steps, answers. Messages are files in the stream's
// directory, and only rank 0 of the writers handles them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sidestream/extend/transport.hpp"
#include "transport/staging/folder.hpp"
#include "transport/staging/format.hpp"
#include "transport/staging/heartbeat.hpp"

namespace sidestream::staging {

/// A reader's answer to a step, or that it came too late.
struct Answer {
  Outcome outcome = Outcome::pending;
  std::string message;  ///< the reader's failures; empty if none
};

class WriterCoordinator {
 public:
  /// `limit`: seconds of silence after which a reader counts as dead.
  WriterCoordinator(const Folder& folder, std::uint64_t session, double limit)
      : folder_(folder), session_(session), limit_(limit) {}
  ~WriterCoordinator();
  WriterCoordinator(const WriterCoordinator&) = delete;
  WriterCoordinator& operator=(const WriterCoordinator&) = delete;

  /// Removes the files of an earlier session and announces this one to readers.
  void announce(const Announced& announced, const std::string& engine, int writers);
  /// The epoch of the reader that is there and lives; 0 if none does. Epochs grow with each reader.
  [[nodiscard]] std::int64_t reader();
  /// Why the last reader is gone; empty if there was none yet.
  [[nodiscard]] const std::string& loss() const noexcept { return loss_; }

  /// Shows a step to readers.
  void offer(const StepIndex& step);
  /// The answer of a reader to the step; pending if there is none.
  [[nodiscard]] Answer answer(std::int64_t iteration);
  /// Takes the step back. False: a reader has just answered. Either side renames the step's file, so one of them wins.
  [[nodiscard]] bool withdraw(std::int64_t iteration);
  /// Removes the files of a step that was answered or withdrawn.
  void forget(std::int64_t iteration) noexcept;

 private:
  void put_announcement(const char* state);
  void refuse_running() const;
  void look_for_reader();

  Folder folder_;
  std::uint64_t session_;
  double limit_;
  std::string engine_;
  int writers_ = 0;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::int64_t epoch_ = 0;
  std::optional<HeartbeatMonitor> monitor_;  ///< of the reader of that epoch
  std::string loss_;
};

}  // namespace sidestream::staging
