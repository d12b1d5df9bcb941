// Messages between the writers and the readers of a stream: readers, offered steps, answers.
//
// Messages are files in the stream's directory, and only rank 0 of each side handles them. The readers' side finds the
// stream, becomes its reader, and takes and answers steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sidestream/extend/transport.hpp"
#include "staging/folder.hpp"
#include "staging/format.hpp"
#include "staging/heartbeat.hpp"

namespace sidestream::staging {

/// A reader's answer to a step, or the report that it came too late.
struct Answer {
  Outcome outcome = Outcome::pending;
  std::string message;  ///< the reader's failures; empty if none
};

class WriterCoordinator {
 public:
  /// `limit`: after so many seconds of silence a reader counts as dead.
  WriterCoordinator(const Folder& folder, std::uint64_t session, double limit)
      : folder_(folder), session_(session), limit_(limit) {}
  ~WriterCoordinator();
  WriterCoordinator(const WriterCoordinator&) = delete;
  WriterCoordinator& operator=(const WriterCoordinator&) = delete;

  /// Removes the files of an earlier session and announces this one to readers.
  void announce(const Announced& announced, const std::string& engine, int writers);
  /// The epoch of the living reader; 0 if there is none. Epochs grow with each reader.
  [[nodiscard]] std::int64_t reader();
  /// Reason why the last reader is gone; empty if there was none yet.
  [[nodiscard]] const std::string& loss() const noexcept { return loss_; }

  /// Shows a step to readers.
  void offer(const StepIndex& step);
  /// The answer of a reader to the step; pending if there is none.
  [[nodiscard]] Answer answer(std::int64_t iteration);
  /// Takes the step back. Returns false if a reader has just answered. Either side renames the step's file, so exactly
  /// one of them succeeds.
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
  std::optional<HeartbeatMonitor> monitor_;  ///< monitor of the reader of that epoch
  std::string loss_;
};

/// The announcement of a stream.
struct Announcement {
  std::uint64_t session = 0;
  std::string engine;
  int writers = 0;
  bool ended = false;
  double limit = 60;  ///< after so many seconds of silence each side assumes that the other is dead
  std::string process;
};

/// The readers' side, used only on their rank 0. Functions throw Error(file) if files are invalid.
class ReaderCoordinator {
 public:
  explicit ReaderCoordinator(const Folder& folder) : folder_(folder) {}
  ~ReaderCoordinator();
  ReaderCoordinator(const ReaderCoordinator&) = delete;
  ReaderCoordinator& operator=(const ReaderCoordinator&) = delete;

  /// Looks for a stream whose simulation lives. Throws if its version differs.
  [[nodiscard]] bool find();
  /// Becomes the stream's reader. Returns false if another reader lives as far as is known yet; ask again later.
  [[nodiscard]] bool take();
  /// True if the stream that was found has been closed, or replaced by another.
  [[nodiscard]] bool has_closed() const;
  [[nodiscard]] const Announcement& stream() const noexcept { return stream_; }
  [[nodiscard]] Announced announced() const;
  [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }

  /// The next thing to do.
  enum class News : std::int64_t { nothing = 0, step = 1, ended = 2, writer_died = 3, replaced = 4 };
  /// Looks for news. `after`: the iteration that was taken last. With News::step, `step()` is the offered step.
  [[nodiscard]] News poll(std::int64_t after);
  [[nodiscard]] const Bytes& step() const noexcept { return step_; }
  [[nodiscard]] std::int64_t step_number() const noexcept { return step_number_; }

  /// Acknowledges a step. Returns false if the writers have withdrawn it.
  [[nodiscard]] bool answer(std::int64_t iteration, Outcome outcome, const std::string& message);

 private:
  [[nodiscard]] std::optional<Announcement> read() const;
  [[nodiscard]] bool somebody_reads();

  Folder folder_;
  Announcement stream_;
  std::int64_t epoch_ = 0;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::optional<HeartbeatMonitor> writer_;
  std::int64_t rival_epoch_ = 0;  ///< epoch of the reader that is attached
  std::optional<HeartbeatMonitor> rival_;
  Bytes step_;
  std::int64_t step_number_ = -1;
};

}  // namespace sidestream::staging
