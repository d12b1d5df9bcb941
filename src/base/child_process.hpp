// A program that this process starts, looks after, and ends.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace sidestream {

/// Started with posix_spawn: nothing of this process runs in a copy of it, which MPI forbids. Signals are as at the
/// start of any program, standard input is empty. What this process has open stays open in the child unless it closes
/// by itself. Ends with this object, together with what it started in its process group.
class ChildProcess {
 public:
  /// `socket` is descriptor 3 of the child; its standard output and error both go to `output`. Throws Error(system).
  ChildProcess(const std::string& program, const std::vector<std::string>& environment, int socket)
      : ChildProcess(program, {}, environment, socket) {}
  /// The same with arguments, and without a socket if that is negative. `program` is looked for in PATH.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
               const std::vector<std::string>& environment, int socket);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  /// To read from, without waiting.
  [[nodiscard]] int output() const noexcept { return output_.get(); }
  /// How it ended, for the end of a sentence: "was ended by SIGSEGV", "exited with status 3"; nothing while it runs.
  [[nodiscard]] std::optional<std::string> ended();
  /// Asks it to end and to say where it is, if it can.
  void ask_to_end() noexcept;
  /// Ends it and its process group, waits for that, and says how it ended.
  std::string end();

 private:
  pid_t id_ = -1;
  Descriptor output_;
  std::optional<std::string> how_;
};

/// The environment of this process without what launchers say to their ranks: code that starts MPI in a child is a job
/// of its own.
[[nodiscard]] std::vector<std::string> environment_of_child();

/// SIGSEGV, or SIGRTMIN+3 and the like as "signal 37".
[[nodiscard]] std::string name_of_signal(int number);

}  // namespace sidestream
