#include "base/run_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <iterator>
#include <new>
#include <utility>

#include "base/own_environment.hpp"
#include "base/time_of_day.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

namespace {

/// Returns the log of this thread's innermost scope. It is a pointer of the thread, not of the program: it is null
/// before the outermost scope and after it.
RunLog*& innermost() noexcept {
  thread_local RunLog* log = nullptr;
  return log;
}

LogLevel level_of(std::string_view name) noexcept {
  if (name == "error") return LogLevel::error;
  return name == "warning" ? LogLevel::warning : LogLevel::note;
}

/// Appends a sentence on one line: readers count on one message a line, and names must not control terminals.
/// The file is UTF-8, which a path in a message may not be.
void add_on_one_line(std::string& line, std::string_view sentence) {
  for (const char c : escaped_utf8(sentence)) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (code < 0x20 || code == 0x7f) {
      fmt::format_to(std::back_inserter(line), "\\x{:02x}", code);
    } else {
      line += c;
    }
  }
}

/// Returns 0, or the error. `torn`: true if a part of the text was written.
int append_at_once(const std::string& path, const std::string& text, bool& torn) noexcept {
  const FileSizeSignalHeld held;
  const Descriptor file(open_or_create(path, O_WRONLY | O_APPEND));
  if (file.get() < 0) return errno;
  ssize_t written = -1;
  do {
    written = ::write(file.get(), text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return errno;
  torn = static_cast<std::size_t>(written) < text.size();
  return torn ? ENOSPC : 0;
}

}  // namespace

void RunLog::begin(Place place) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    place_ = std::move(place);
    begun_ = true;
    append(std::exchange(kept_, {}));
  } catch (const std::exception&) {
    report_failure(ENOMEM);
  }
}

void RunLog::add(std::string_view level, std::string_view sentence) noexcept {
  try {
    retry_while_out_of_memory([&] {
      const std::lock_guard lock(mutex_);
      if (begun_ ? level_of(level) > place_.upto : kept_.size() >= most_kept) return;
      Message message{level_of(level), fmt::format("{} {} ", time_of_day(), level), 0};
      message.process_at = message.text.size();
      message.text += ": ";
      add_on_one_line(message.text, sentence);
      message.text += '\n';
      if (begun_) return append({message});
      kept_.push_back(std::move(message));
    });
  } catch (const std::exception&) {
    report_failure(ENOMEM);
  }
}

/// Writes the messages in one call.
void RunLog::append(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& message : messages) {
    if (message.level > place_.upto) continue;
    text += message.text;
    text.insert(text.size() - message.text.size() + message.process_at, place_.process);
  }
  if (text.empty()) return;
  if (torn_) text.insert(0, 1, '\n');  // ends a line that a full disk cut off
  const int error = append_at_once(place_.path, text, torn_);
  if (error != 0) report_failure(error);
}

/// Says once, on standard error only, that messages are missing.
void RunLog::report_failure(int error) noexcept {
  if (std::exchange(failure_logged_, true)) return;
  const LogScope none(nullptr);
  try {
    log::warning("'{}' lacks messages, which are on standard error only: {}", place_.path, system_text(error));
  } catch (const std::bad_alloc&) {  // the messages themselves are there
  }
}

LogScope::LogScope(RunLog* log) noexcept : before_(std::exchange(innermost(), log)) {}
LogScope::~LogScope() { innermost() = before_; }

std::shared_ptr<RunLog> current_log() noexcept {
  RunLog* const log = innermost();
  return log ? log->shared_from_this() : nullptr;
}

}  // namespace sidestream

namespace sidestream::log {

void put(const char* severity, fmt::string_view format, fmt::format_args args) noexcept {
  try {
    std::string sentence;
    retry_while_out_of_memory([&] {
      sentence = fmt::vformat(format, args);
      const std::string line = fmt::format("sidestream: {}: {}\n", severity, sentence);
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    });
    if (const std::shared_ptr<RunLog> log = current_log()) log->add(severity, sentence);
  } catch (const std::exception&) {
    constexpr char none[] = "sidestream: a message is missing: no memory for it\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, none, sizeof none - 1);
  }
}

}  // namespace sidestream::log
