// How a person's changes of steered parameters reach a running session: files in its output directory, so that it works
// from every machine that sees it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sidestream {

/// The session's end, on its first server. A file is a request from its renaming to its name until it is renamed again
/// by who takes it, or removed by who withdraws it.
class SteeringMailbox {
 public:
  struct Request {
    std::string id, name, value;
  };
  /// Makes the folder in `directory`. Unless it `goes_on` with what other servers of the session left, what an earlier
  /// run left there is removed. Throws Error(file).
  SteeringMailbox(const std::string& directory, bool goes_on);
  /// Nobody answers any more: says so to who looks, unless the session goes on with other servers.
  ~SteeringMailbox();
  SteeringMailbox(const SteeringMailbox&) = delete;
  SteeringMailbox& operator=(const SteeringMailbox&) = delete;

  /// Takes the requests that have come, in the order of their names.
  [[nodiscard]] std::vector<Request> take();
  /// Logs a refusal instead where it was posted by a process of the run; if the run `ends`, nobody wants to know.
  void answer(const std::string& id, const std::string& sentence, bool ends);
  /// What people are told of the parameters, a line each: `name = value (...)`.
  void record(const std::string& lines);
  /// The names and values that were recorded last, by these servers or those before.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> recorded() const;
  /// Whether the values stay on record afterwards, for other servers of the session that come after these.
  void keep(bool keeps) noexcept { keeps_ = keeps; }

 private:
  std::string folder_;
  bool keeps_ = false;
};

/// The lines recorded of the session that runs in `directory`. Throws Error(file) if none does that can be steered.
[[nodiscard]] std::string steered_parameters(const std::string& directory);
/// Asks that session to set a parameter and waits for the answer, a sentence. Throws Error(file) if none came in so
/// many seconds; the request is withdrawn then, unless it has been taken.
[[nodiscard]] std::string ask_to_steer(const std::string& directory, const std::string& name, const std::string& value,
                                       double seconds);
/// Asks for it from within the run; nobody waits for an answer. Requests are taken in the order of `number`.
void post_steering(const std::string& directory, std::int64_t number, const std::string& name,
                   const std::string& value);

}  // namespace sidestream
