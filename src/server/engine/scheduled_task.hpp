// One entry of `analyses:` or `outputs:` during a run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "server/engine/assembler.hpp"
#include "server/engine/guarded_communicator.hpp"
#include "server/engine/kept_iterations.hpp"
#include "server/engine/schedule.hpp"
#include "server/engine/watchdog.hpp"
#include "server/steering/steering_server.hpp"
#include "sidestream/extend/combination.hpp"
#include "sidestream/extend/kept_states.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// The result of a task in an iteration, the same on every server.
struct TaskOutcome {
  std::string failure;                 ///< what failed on any server; empty if nothing did
  std::optional<std::string> refusal;  ///< the reason if the task refused the iteration (Task::refuse_iteration)
};

/// A task with its schedule and its own communicator, so that a faulty task cannot receive messages of another. Runs
/// the passes: local everywhere, agreement, combine everywhere, agreement.
class ScheduledTask {
 public:
  /// Gets the task's selection, which may throw, and adds the arrays of the meshes.
  ScheduledTask(const TaskConfig& config, const Metadata& metadata, std::unique_ptr<Task> task);
  /// Call it before the first run.
  void set_communicator(std::unique_ptr<MpiCommunicator> communicator);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Selection& selection() const noexcept { return selection_; }
  /// The published part of the selection; derived variables are replaced by their inputs.
  [[nodiscard]] const std::vector<Selected>& inputs() const noexcept { return inputs_; }
  /// The derived part of the selection.
  [[nodiscard]] const std::vector<Selected>& derived() const noexcept { return derived_; }
  /// True for an analysis, which reads values (every point counts once) and needs everything that it selects.
  [[nodiscard]] bool counts() const noexcept { return counts_; }
  /// True if it keeps values of iterations in which its condition does not hold.
  [[nodiscard]] bool keeps() const noexcept { return kept_.has_value(); }
  /// True if iterations of `keep_back` were to be written, and that failed. The same on every server.
  [[nodiscard]] bool owes() const noexcept { return kept_ && kept_->owes(); }
  /// Counts a refused iteration among those that the output keeps. The same on every server.
  void pass_kept(const Iteration& iteration);
  /// Sets the run's iteration with which these servers begin: they have nothing of earlier ones.
  void begin_with(std::int64_t iteration) noexcept { begun_with_ = iteration; }
  /// The last attempt to write what is owed. Reports what is lost. Collective.
  void write_owed_at_end(const Iteration& last, const Metadata& metadata, Results& results);
  /// True if a run of this task ends the simulation.
  [[nodiscard]] bool ends_run() const noexcept { return then_ == "end"; }
  /// True if it also runs in the last iteration of a run that is told to end.
  [[nodiscard]] bool for_restart() const noexcept { return for_restart_; }
  [[nodiscard]] ScheduleState& schedule() noexcept { return schedule_; }
  [[nodiscard]] MpiCommunicator& communicator() noexcept { return *communicator_; }

  /// Collective over the servers. Never throws for failures of the analysis.
  struct RunInput {
    const Iteration& iteration;
    const Metadata& metadata;
    const Assembled& assembled;
    std::span<const Event> events{};
    bool fires = true;  ///< the condition holds; if not, an output with `keep_back` only keeps the values
  };
  [[nodiscard]] TaskOutcome run(const RunInput& given, Results& results);
  /// Calls a function of a LastingTask. Returns what failed on any server. Collective; never throws.
  [[nodiscard]] std::string call(void (LastingTask::*function)(const Iteration&, Communicator&, Results&),
                                 const Iteration& iteration, Results& results);

  /// Makes this the reducing half of a combined placement: analyses combine on other servers, writers do everything
  /// here. `number`: index of this task among all tasks.
  void set_sender(PartialSender* sender, std::int32_t number) noexcept {
    sender_ = sender;
    number_ = number;
  }
  /// Sets the receiver of steered parameters, which must outlive the task.
  void set_steering(const SteeringSink* sink) noexcept { steering_ = sink; }
  struct PartialInput {
    const Iteration& iteration;
    const Metadata& metadata;
    std::span<const Bytes> partials;
    int pass = 0;
  };
  /// Runs the combining half. Collective over the combining servers. Returns what failed on any of them. An exception
  /// of `results` counts as a failure. So does a refusal, which cannot be reported to the reducing servers.
  [[nodiscard]] std::string combine_partials(const PartialInput& input, const std::function<Results&()>& results,
                                             Bytes& feedback);

  /// Warns when the task takes longer than its limit; `watchdog` must outlive the task.
  void set_watchdog(Watchdog* watchdog) noexcept { watchdog_ = watchdog; }
  [[nodiscard]] double limit() const noexcept { return limit_; }
  /// Number of times that the task exceeded its limit here, and the longest time.
  [[nodiscard]] const Overruns& overruns() const noexcept { return overruns_; }

  /// Feedback of the last pass of the last run, the same on every server.
  [[nodiscard]] const Bytes& feedback() const noexcept { return feedback_; }
  /// Seconds that `local` or `write` of the last run took on this server.
  [[nodiscard]] double local_seconds() const noexcept { return local_seconds_; }

  std::int64_t runs = 0;        ///< iterations in which it ran
  std::int64_t not_there = 0;   ///< iterations in which it was due but did not run, because variables were missing
  std::int64_t incomplete = 0;  ///< iterations in which an output was written without a variable that nobody published
  std::set<int> missing;        ///< variables that were missing in these iterations

 private:
  [[nodiscard]] std::string pass(LocalInput input, const Views& views, Results& results, Bytes& feedback);
  [[nodiscard]] std::string run_passes(const RunInput& given, Results& results);
  [[nodiscard]] const Views& views_of(const Assembled& assembled) const noexcept {
    return completed_ && assembled.completed ? *assembled.completed : assembled.views;
  }
  // Defined in scheduled_task_keeping.cpp.
  /// Kept iterations that were written, failed or were missing when the condition held.
  struct KeptOutcome {
    std::string failure{};  ///< the first one
    std::vector<std::int64_t> written{}, failed{}, absent{};
  };
  [[nodiscard]] TaskOutcome run_and_keep(const RunInput& given, Results& results);
  [[nodiscard]] std::string keep_values(const RunInput& given, Results& results);
  [[nodiscard]] KeptOutcome write_kept(const RunInput& given, Results& results);
  [[nodiscard]] bool keep_unwritten(const RunInput& given);
  [[nodiscard]] std::string write_owed(const Iteration& during, const Metadata& metadata, Results& results);
  [[nodiscard]] std::string never_kept() const;
  void tell(const RunInput& given, const KeptOutcome& kept, const std::string& unknown) const;
  void tell_lost(std::int64_t iteration);
  [[nodiscard]] std::string steer();
  [[nodiscard]] std::string attempt(CallRef work);
  [[nodiscard]] static std::string keep(SteeringCalls& calls, std::string failure);
  [[nodiscard]] std::string send_partial(const LocalInput& input, const Bytes& partial, Bytes& feedback);
  void discard(const Iteration& iteration) noexcept;
  void count_passes();

  std::string name_;
  ScheduleState schedule_;
  std::unique_ptr<Task> task_;
  bool counts_;
  bool for_restart_;
  std::unique_ptr<MpiCommunicator> communicator_;
  std::unique_ptr<GuardedCommunicator> guarded_;  ///< the same group, as analyses get it
  Selection selection_;                           ///< including the arrays of meshes
  bool completed_ = false;                        ///< true if some entry has Selected::completed
  std::vector<Selected> entries_;                 ///< the entries as the task gave them
  std::vector<Selected> inputs_, derived_;
  int passes_ = 1;  ///< number of passes in this iteration
  PartialSender* sender_ = nullptr;
  std::int32_t number_ = 0;
  const SteeringSink* steering_ = nullptr;
  std::optional<KeptIterations> kept_;
  std::string owed_failure_;     ///< why the last attempt to write kept iterations failed
  std::int64_t begun_with_ = 0;  ///< the run's iteration with which these servers began
  bool fired_ = false;           ///< true once the condition has held here
  std::string then_;             ///< action after the task has run: `end`, `stop = 1`, or nothing
  bool isolated_ = false;
  double limit_ = 0;
  Watchdog* watchdog_ = nullptr;
  Overruns overruns_;
  double local_seconds_ = 0;
  Bytes feedback_;
};

}  // namespace sidestream
