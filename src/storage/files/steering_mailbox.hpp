// Transport of steering requests to a running session: files in its output directory, so that any machine that mounts
// it can send them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sidestream {

/// The session's end, on its first server. A file becomes a request when it gets its name. It ends when a server takes
/// it (by renaming) or the sender withdraws it (by removing).
class SteeringMailbox {
 public:
  struct Request {
    std::string id, name, value;
  };
  /// Creates the folder in `directory`. Removes requests and answers of an earlier run, unless it `goes_on` with those
  /// of other servers of the session. Throws Error(file).
  SteeringMailbox(const std::string& directory, bool goes_on);
  /// Tells waiting senders that there will be no answer, unless the session goes on with other servers.
  ~SteeringMailbox();
  SteeringMailbox(const SteeringMailbox&) = delete;
  SteeringMailbox& operator=(const SteeringMailbox&) = delete;

  /// Takes the pending requests, in the order of their names.
  [[nodiscard]] std::vector<Request> take();
  /// Answers a request. If a process of the run posted it, a refusal is logged instead, unless the run `ends`.
  void answer(const std::string& id, const std::string& sentence, bool ends);
  /// Records the parameters for readers, a line each: `name = value (...)`.
  void record(const std::string& lines);
  /// The names and values last recorded, by these servers or earlier ones.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> recorded() const;
  /// `keeps`: the record stays after the end, for later servers of the session.
  void keep(bool keeps) noexcept { keeps_ = keeps; }

 private:
  std::string folder_;
  bool keeps_ = false;
};

/// The recorded lines of the session that runs in `directory`. Throws Error(file) if there is no such session, or it
/// cannot be steered.
[[nodiscard]] std::string steered_parameters(const std::string& directory);
/// Asks that session to set a parameter and returns its answer, a sentence. Throws Error(file) if there was none within
/// `seconds`; the request is withdrawn then, unless it has been taken.
[[nodiscard]] std::string ask_to_steer(const std::string& directory, const std::string& name, const std::string& value,
                                       double seconds);
/// Posts a request from within the run; it gets no answer. Requests are taken in the order of `number`.
void post_steering(const std::string& directory, std::int64_t number, const std::string& name,
                   const std::string& value);

}  // namespace sidestream
