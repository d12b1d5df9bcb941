// Account of a server's work and of its times.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream {

/// One interval of work. `task` indexes Ledger::names.
struct WorkTiming {
  std::int64_t iteration = 0;
  std::int32_t task = 0;
  double start = 0;  ///< seconds since the session's start
  double seconds = 0;
  double local = -1;  ///< of these, seconds that this server worked by itself; -1: unknown
};

/// Data that came to a server for one iteration: blocks (pieces of variables) with their bytes, and layers around them.
struct MovedBytes {
  std::int64_t iteration = 0;
  std::int64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t layers = 0;
};

/// Outcome of one iteration, with its reasons.
struct IterationRow {
  Iteration at;
  Outcome outcome = Outcome::pending;
  std::uint32_t why = 0;       ///< bits of Refusal
  std::int32_t client = -1;    ///< the client that refused, if a client did
  std::string failed;          ///< names of the tasks that failed
  std::string left_out = {};   ///< names of the tasks that were due without all of their variables
  std::string not_taken = {};  ///< reason why a task refused the iteration
};

/// Readable reasons of a refusal, such as "no room in the buffer; client 3".
[[nodiscard]] std::string text_of(const IterationRow& row);

class Ledger;

/// Handling of a ledger's rows during the run.
struct LedgerRows {
  /// Takes the ledger's rows, which are then dropped. Without it they stay.
  std::function<void(const Ledger&)> take{};
  enum class Iterations {
    none,      ///< no rows: other servers record the outcomes of iterations
    taken,     ///< taken together with the other rows
    gathered,  ///< kept for joining with other groups at the end
  } iterations = Iterations::taken;
  double seconds = 0;  ///< interval between takings, for people who watch; 0: only when there are many rows
};

/// A server's account of its work, written at close. If memory is short, recording waits instead of failing, since
/// other servers wait for this one.
class Ledger {
 public:
  /// Without `timings`, only counts and failures are kept.
  Ledger(std::vector<std::string> names, bool timings, LedgerRows rows = {})
      : names_(std::move(names)), keeps_timings_(timings), rows_(std::move(rows)) {}

  /// Most rows of each kind that are kept before they are taken.
  static constexpr std::size_t most_rows = 512;

  void work(std::int64_t iteration, std::int32_t task, double start, double seconds, double local = -1) {
    if (!keeps_timings_) return;
    take_if_full(timings_.size());
    retry_while_out_of_memory([&] { timings_.push_back({iteration, task, start, seconds, local}); });
  }
  void moved(const MovedBytes& what) {
    if (!keeps_timings_) return;
    take_if_full(moved_.size());
    retry_while_out_of_memory([&] { moved_.push_back(what); });
  }
  [[nodiscard]] const std::vector<MovedBytes>& moved() const noexcept { return moved_; }
  void iteration(IterationRow row) {
    if (!keeps_timings_ || rows_.iterations == LedgerRows::Iterations::none) return;
    if (rows_.iterations == LedgerRows::Iterations::taken) take_if_full(iterations_.size());
    iterations_.push_back(std::move(row));
  }
  [[nodiscard]] const std::vector<IterationRow>& iterations() const noexcept { return iterations_; }
  /// Passes on rows that have waited long enough. Call it after each iteration.
  void refresh();
  /// Records a failure; returns true for the first of its kind. Failures whose messages differ only in numbers, such as
  /// those in file names, share one line.
  bool failure(std::int64_t iteration, const std::string& message);
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] const std::vector<WorkTiming>& timings() const noexcept { return timings_; }

  struct Failure {
    std::int64_t first_iteration;
    std::int64_t count;
    std::string message;
    std::int64_t last_iteration = 0;
  };
  [[nodiscard]] const std::vector<Failure>& failures() const noexcept { return failures_; }

  /// Serialises what other groups of servers need: counts, failures, and outcomes of iterations.
  [[nodiscard]] Bytes decisions() const;
  /// True if `iterations` has all iterations of the run.
  [[nodiscard]] bool gathers() const noexcept { return rows_.iterations == LedgerRows::Iterations::gathered; }
  /// Joins the decisions of the group `name` about the same iterations: an iteration is delivered if all groups
  /// delivered it. Rows name the group that refused an iteration that others took. An iteration is unknown if only some
  /// groups decided on it, because the others began later or ended earlier. `so_far` names the groups joined so far, as
  /// "'a', 'b'".
  void join(BytesView decisions, const std::string& name, const std::string& so_far);

  std::int64_t delivered = 0, refused = 0, failed = 0, absent_blocks = 0;
  std::int64_t unknown = 0;        ///< iterations that only some groups decided on
  std::int64_t skipped_tasks = 0;  ///< number of times that a due task was skipped because a variable was missing

 private:
  void take_if_full(std::size_t rows);
  void take();
  void join_rows(std::vector<IterationRow> others, const std::string& name, const std::string& so_far);
  std::vector<std::string> names_;
  bool keeps_timings_;
  LedgerRows rows_;
  double taken_ = 0;  ///< time when rows were last taken
  std::vector<WorkTiming> timings_;
  std::vector<MovedBytes> moved_;
  std::vector<Failure> failures_;
  std::vector<IterationRow> iterations_;
};

}  // namespace sidestream
