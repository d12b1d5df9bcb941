// A client's part of the end of a run that is told to end (docs/ending.md).
//
// No message is added: clients say what they know in their ends of iterations, servers in the reduction before each
// iteration, and notices go the way of steered parameters. A client whose process got the signal says `asked`. When all
// clients have said so in their ends of iteration j, the servers send the notice `last: j + 1`, before the outcome of
// j. Clients mark the end of j + 1 with the event `ending`, which reaches every server, in all groups, and the endpoint
// of a `job`. Waiting cannot deadlock: nobody needs the waiting client to end j.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "data/steering.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// This process' clock and signals.
struct EndingSource {
  std::function<bool()> asked{};  ///< true once the process was told to end; null: nothing can end the run
  std::function<void()> tell{};   ///< called when the servers say that another process was
  std::uint64_t event = 0;        ///< bit of the event of the last iteration
};

/// Tracks the end of the run. A client that reports `asked` at the end of iteration k waits for the outcome of k before
/// it begins k + 1. By then it has read what servers sent before that outcome.
class EndOfRun {
 public:
  explicit EndOfRun(EndingSource source) : source_(std::move(source)) {}

  [[nodiscard]] bool possible() const noexcept { return source_.asked != nullptr; }
  /// True if this client must know the outcome of an iteration before it begins the next one.
  [[nodiscard]] bool waits() const noexcept { return asked_ && !last_; }
  /// Takes a notice; ignores other kinds.
  void take(const Notice& notice) {
    if (notice.kind != ending_notice || !possible()) return;
    if (!asked_ && source_.tell) source_.tell();
    asked_ = true;
    if (notice.iteration >= 0 && !last_) last_ = notice.iteration;
  }
  /// Adds what this client knows to the end record of iteration `index`.
  void describe(std::int64_t index, EndRecord& end) {
    if (!possible() || over_) return;
    if (last_) {
      if (index >= *last_) end.events |= source_.event;
      return;
    }
    asked_ = asked_ || source_.asked();
    end.ending = asked_ ? Ending::asked : Ending::unasked;
  }
  /// Call it when iteration `index` has ended.
  void advance(std::int64_t index) noexcept { over_ = over_ || (last_ && index >= *last_); }
  /// True if the last iteration has ended.
  [[nodiscard]] bool over() const noexcept { return over_; }

 private:
  EndingSource source_;
  bool asked_ = false, over_ = false;
  std::optional<std::int64_t> last_;
};

}  // namespace sidestream
