// Requests of people to a running session: files in its output directory, so that any machine that mounts it can send
// them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sidestream {

/// The purpose of a mailbox.
struct MailboxKind {
  const char* folder;  ///< its name in the output directory
  const char* record;  ///< name of the file that lists the possible requests
  const char* what;    ///< for messages: `can be steered`
  const char* remedy;  ///< for messages: how a run gets such a mailbox
};
inline constexpr MailboxKind steering_mailbox{".sidestream-steering", "parameters", "can be steered",
                                              "declare its parameters under 'steering:' in the configuration"};
inline constexpr MailboxKind request_mailbox{".sidestream-requests", "record", "takes requests",
                                             "write 'live: {requests: yes}' in the configuration"};

/// The session's end, on its first server. A file becomes a request when it gets its name. It ends when a server takes
/// it (by renaming) or the sender withdraws it (by removing).
class Mailbox {
 public:
  struct Request {
    std::string id, name, value;  ///< `name` and `value` are the two lines
  };
  /// Creates the folder in `directory`. Removes requests and answers of an earlier run, unless it `goes_on` after other
  /// servers of the same session. Throws Error(file).
  Mailbox(const MailboxKind& kind, const std::string& directory, bool goes_on);
  /// Tells waiting senders that there will be no answer, unless other servers of the session follow.
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Takes the pending requests, in the order of their names.
  [[nodiscard]] std::vector<Request> take();
  /// Answers a request. If a process of the run posted it, a refusal is logged instead, unless the run `ends`.
  void answer(const std::string& id, const std::string& sentence, bool ends);
  /// Replaces the record, where senders read which requests are possible.
  void record(const std::string& text);
  /// The names and values in a record of lines `name = value (...)`, of these servers or earlier ones.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> recorded() const;
  /// `keeps`: the record stays after the end, for later servers of the session.
  void keep(bool keeps) noexcept { keeps_ = keeps; }

 private:
  std::string folder_, record_;
  bool keeps_ = false;
};

/// The record of the session that runs in `directory`. Throws Error(file) if no session there has such a mailbox.
[[nodiscard]] std::string record_in(const MailboxKind& kind, const std::string& directory);
/// Sends a request of two lines to that session and returns its answer, a sentence. Throws Error(file) if no answer
/// comes within `seconds`; the request is then withdrawn, unless it has been taken.
[[nodiscard]] std::string ask_run(const MailboxKind& kind, const std::string& directory, const std::string& name,
                                  const std::string& value, double seconds);
/// Posts a request from within the run; it gets no answer. Requests are taken in the order of `number`.
void post_from_run(const MailboxKind& kind, const std::string& directory, std::int64_t number, const std::string& name,
                   const std::string& value);

}  // namespace sidestream
