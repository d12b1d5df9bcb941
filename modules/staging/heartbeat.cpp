#include "staging/heartbeat.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/own_threads.hpp"
#include "sidestream/kit/base/process_status.hpp"
#include "staging/posix_file.hpp"

namespace sidestream::staging {

namespace {

std::string first_word(const std::string& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

/// Names the space in which a process number is valid: the machine since its last start, and the PID namespace.
std::string reach() {
  char space[64] = "";
  const ssize_t size = ::readlink("/proc/self/ns/pid", space, sizeof space - 1);
  return first_word("/proc/sys/kernel/random/boot_id") + " " +
         std::string(space, static_cast<std::size_t>(std::max<ssize_t>(0, size)));
}

}  // namespace

std::string this_process() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("{} {} {} {}", host, reach(), ::getpid(), process_status(::getpid()).start);
}

ProcessState state_of(const std::string& process) {
  std::istringstream words(process);
  std::string host, boot, space;
  int pid = 0;
  std::uint64_t start = 0;
  words >> host >> boot >> space >> pid >> start;
  if (!words || boot + " " + space != reach()) return ProcessState::unknown;
  const ProcessStatus status = process_status(pid);
  return status.start != start || status.state == 'Z' || status.state == 'X' ? ProcessState::ended
                                                                             : ProcessState::running;
}

Heartbeat::Heartbeat(const Folder& folder, std::string name, double limit)
    : folder_(folder), name_(std::move(name)), interval_(std::min(1.0, limit / 5)) {
  folder_.put(name_, std::string_view("000000000000\n"));
  thread_ = thread_without_signals([this] { beat(); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
  folder_.remove(name_);
}

void Heartbeat::beat() {
  std::unique_lock lock(mutex_);
  for (std::int64_t count = 1; !changed_.wait_for(lock, interval_, [this] { return ending_; }); ++count) {
    try {
      // The count keeps its offset and length, so that writing it also works on a full disk.
      const std::string text = fmt::format("{:012}\n", count);
      folder_.open_to_overwrite(name_).overwrite(std::as_bytes(std::span(text)), 0);
    } catch (const std::exception&) {  // the other side reports the silence
    }
  }
}

double HeartbeatMonitor::silent() {
  // Interval in seconds. Each look opens the file, because that is when network file systems ask the server.
  constexpr double interval = 0.2;
  if (now() - looked_ >= interval) {
    looked_ = now();
    const std::optional<std::string> count = folder_.text(name_);
    if (count && *count != last_) {
      last_ = *count;
      changed_ = looked_;
    }
  }
  return now() - changed_;
}

std::string HeartbeatMonitor::death(double limit) {
  if (has_ended(process_)) return "its process has ended";
  const double seconds = silent();
  if (seconds <= limit) return {};
  return fmt::format("it gave no sign of life for {:.0f} s", limit);
}

}  // namespace sidestream::staging
