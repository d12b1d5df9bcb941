// The file with the messages of a run, and the run of each thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sidestream {

/// Levels of messages, the gravest first. `none` is below all of them.
enum class LogLevel { none, error, warning, note };

/// Messages of one process of a run. Every line is appended by one write to a file that all processes of the run share,
/// so lines are not torn on file systems where appending is atomic (all local ones). The file is opened for each line,
/// and created with the first one: a run without messages costs nothing. Any thread may add lines.
class RunLog : public std::enable_shared_from_this<RunLog> {
 public:
  struct Place {
    std::string path;     ///< of the file
    std::string process;  ///< "server 2": the role, and the rank in the session's communicator
    LogLevel upto = LogLevel::note;
  };
  /// Begins with the file. Earlier messages, kept until now, are written first (the first `most_kept` of them).
  void begin(Place place) noexcept;
  /// Adds a message. `level`: "error", "warning" or "note". If it cannot be written, standard error says so once; no
  /// operation fails because of that.
  void add(std::string_view level, std::string_view sentence) noexcept;

  static constexpr std::size_t most_kept = 256;

 private:
  struct Message {
    LogLevel level;
    std::string text;  ///< the line without the process
    std::size_t process_at;
  };
  void append(const std::vector<Message>& messages);
  void report_failure(int error) noexcept;

  std::mutex mutex_;
  bool begun_ = false, torn_ = false, failure_logged_ = false;
  Place place_;
  std::vector<Message> kept_;  ///< until `begin`
};

/// While it lives, messages of this thread also go to `log`; with null they go to standard error only. Sessions make
/// one at each entry point where they may log, so sessions of one program do not mix; see docs/design.md.
class LogScope {
 public:
  explicit LogScope(RunLog* log) noexcept;
  /// `log` outlives the scope.
  explicit LogScope(const std::shared_ptr<RunLog>& log) noexcept : LogScope(log.get()) {}
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

 private:
  RunLog* before_;
};

/// The log of this thread's innermost scope, for threads and objects that outlive it; null without one.
[[nodiscard]] std::shared_ptr<RunLog> current_log() noexcept;

}  // namespace sidestream
