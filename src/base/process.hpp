// Child processes: starts one, watches and ends it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "sidestream/kit/base/files.hpp"

namespace sidestream {

/// A child started with posix_spawn: no code of this process runs in a forked copy, which MPI forbids. Signals are as
/// at the start of any program, standard input is empty. Descriptors of this process stay open in the child unless they
/// are close-on-exec. The child ends with this object, together with the processes of its process group.
class ChildProcess {
 public:
  /// Starts `program`. `socket` becomes descriptor 3 of the child; its standard output and error both go to `output`.
  /// Throws Error(system).
  ChildProcess(const std::string& program, const std::vector<std::string>& environment, int socket)
      : ChildProcess(program, {}, environment, socket) {}
  /// Starts it with arguments, and without a socket if that is negative. `program` is looked up in PATH.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
               const std::vector<std::string>& environment, int socket);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  /// The descriptor to read its output from, non-blocking.
  [[nodiscard]] int output() const noexcept { return output_.get(); }
  /// Returns the end of a sentence about how it ended: "was ended by SIGSEGV", "exited with status 3"; nothing while it
  /// runs.
  [[nodiscard]] std::optional<std::string> ended();
  /// Asks it to end and to report its position, if it can.
  void ask_to_end() noexcept;
  /// Ends it and its process group, waits for that, and returns how it ended.
  std::string end();

 private:
  pid_t id_ = -1;
  Descriptor output_;
  std::optional<std::string> how_;
};

/// The environment of this process, without variables that identify ranks to MPI: a child that starts MPI is a separate
/// job.
[[nodiscard]] std::vector<std::string> environment_of_child();

/// The name of a signal: SIGSEGV, or SIGRTMIN+3 and the like as "signal 37".
[[nodiscard]] std::string name_of_signal(int number);

}  // namespace sidestream
