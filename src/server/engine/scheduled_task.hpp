// One entry of `analyses:` or `outputs:` at work.
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
#include "server/engine/schedule.hpp"
#include "server/engine/watchdog.hpp"
#include "server/steering/steering_server.hpp"
#include "sidestream/extend/combination.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// What a task made of an iteration, the same on every server.
struct TaskOutcome {
  std::string failure;                 ///< what failed anywhere; empty if all went well
  std::optional<std::string> refusal;  ///< nobody took the iteration, and why (Task::refuse_iteration)
};

/// A task with its schedule and a communicator of its own, so that one that errs cannot take messages
/// of another. Runs the passes: local everywhere, agreement, combine everywhere, agreement.
class ScheduledTask {
 public:
  /// Asks for the selection, which may throw, and adds the arrays of the meshes.
  ScheduledTask(const TaskConfig& config, const Metadata& metadata, std::unique_ptr<Task> task);
  /// Before the first run.
  void set_communicator(std::unique_ptr<MpiCommunicator> communicator);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Selection& selection() const noexcept { return selection_; }
  /// What of that is published: what derived variables are computed from in their place.
  [[nodiscard]] const std::vector<Selected>& inputs() const noexcept { return inputs_; }
  /// What of it is derived.
  [[nodiscard]] const std::vector<Selected>& derived() const noexcept { return derived_; }
  /// Whether it is an analysis: that looks at values, in which every point counts once, and needs all it selects.
  [[nodiscard]] bool counts() const noexcept { return counts_; }
  [[nodiscard]] ScheduleState& schedule() noexcept { return schedule_; }
  [[nodiscard]] MpiCommunicator& communicator() noexcept { return *communicator_; }

  /// Collective over the servers. Never throws for failures of the analysis.
  struct RunInput {
    const Iteration& iteration;
    const Metadata& metadata;
    const Assembled& assembled;
    std::span<const Event> events{};
  };
  [[nodiscard]] TaskOutcome run(const RunInput& given, Results& results);

  /// The reducing half of a combined placement: analyses combine elsewhere. Writers do all they do here. `number`: of
  /// this task among all.
  void set_sender(PartialSender* sender, std::int32_t number) noexcept {
    sender_ = sender;
    number_ = number;
  }
  /// Where what it sets goes; outlives the task.
  void set_steering(const SteeringSink* sink) noexcept { steering_ = sink; }
  struct PartialInput {
    const Iteration& iteration;
    const Metadata& metadata;
    std::span<const Bytes> partials;
    int pass = 0;
  };
  /// The combining half. Collective over the combining servers. Returns what failed anywhere. What `results` throws is
  /// a failure like others, and so is a refusal: nothing carries it to the servers that reduce.
  [[nodiscard]] std::string combine_partials(const PartialInput& input, const std::function<Results&()>& results,
                                             Bytes& feedback);

  /// Warns where it takes longer than its limit; outlives the task.
  void set_watchdog(Watchdog* watchdog) noexcept { watchdog_ = watchdog; }
  [[nodiscard]] double limit() const noexcept { return limit_; }
  /// How often it passed its limit here, and the longest time.
  [[nodiscard]] const Overruns& overruns() const noexcept { return overruns_; }

  /// What the last pass of the last run returned, the same on every server.
  [[nodiscard]] const Bytes& feedback() const noexcept { return feedback_; }
  /// Seconds of the last run that `local` or `write` took on this server.
  [[nodiscard]] double local_seconds() const noexcept { return local_seconds_; }

  std::int64_t runs = 0;        ///< iterations in which it ran
  std::int64_t not_there = 0;   ///< iterations in which it was due and did not run, for want of what it needs
  std::int64_t incomplete = 0;  ///< iterations in which an output was written without a variable nobody published
  std::set<int> missing;        ///< the variables that were not there then

 private:
  [[nodiscard]] std::string pass(LocalInput input, const Views& views, Results& results, Bytes& feedback);
  [[nodiscard]] std::string run_passes(const RunInput& given, Results& results);
  [[nodiscard]] std::string attempt(const std::function<void()>& work);
  [[nodiscard]] static std::string keep(SteeringCalls& calls, std::string failure);
  [[nodiscard]] std::string send_partial(const LocalInput& input, const Bytes& partial, Bytes& feedback);
  void discard(const Iteration& iteration) noexcept;
  void count_passes();

  std::string name_;
  ScheduleState schedule_;
  std::unique_ptr<Task> task_;
  bool counts_;
  std::unique_ptr<MpiCommunicator> communicator_;
  std::unique_ptr<GuardedCommunicator> guarded_;  ///< the same group, as analyses get it
  Selection selection_;                           ///< with the arrays of meshes
  std::vector<Selected> entries_;                 ///< as it was asked for
  std::vector<Selected> inputs_, derived_;
  int passes_ = 1;  ///< in this iteration
  PartialSender* sender_ = nullptr;
  std::int32_t number_ = 0;
  const SteeringSink* steering_ = nullptr;
  bool isolated_ = false;
  double limit_ = 0;
  Watchdog* watchdog_ = nullptr;
  Overruns overruns_;
  double local_seconds_ = 0;
  Bytes feedback_;
};

}  // namespace sidestream
