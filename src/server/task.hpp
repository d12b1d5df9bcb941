// One entry of `analyses:` or `outputs:` at work.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/communicator.hpp"
#include "server/assembler.hpp"
#include "server/schedule.hpp"
#include "sidestream/extend/combination.hpp"
#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// Agrees on failure: returns the message of the lowest member that has one, the same on every member; empty if none.
/// Collective.
[[nodiscard]] std::string agree_on_failure(Communicator& communicator, const std::string& message);

/// An analysis or a writer with its schedule and a communicator of its own, so that one that errs cannot take messages
/// of another. Runs the passes: local everywhere, agreement, combine everywhere, agreement.
class Task {
 public:
  /// One of `analysis` and `writer` is null. Asks for the selection, which may throw.
  Task(const TaskConfig& config, std::unique_ptr<Analysis> analysis, std::unique_ptr<Writer> writer);
  /// Before the first run.
  void set_communicator(std::unique_ptr<MpiCommunicator> communicator) { communicator_ = std::move(communicator); }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Selection& selection() const noexcept { return selection_; }
  [[nodiscard]] ScheduleState& schedule() noexcept { return schedule_; }
  [[nodiscard]] MpiCommunicator& communicator() noexcept { return *communicator_; }

  /// Collective over the servers. Returns what failed, the same on every server; empty if all went well. Never throws
  /// for failures of the analysis.
  [[nodiscard]] std::string run(const Iteration& iteration, const Metadata& metadata, const Assembled& assembled,
                                Results& results);

  /// The reducing half of a combined placement: analyses combine elsewhere. Writers do all they do here. `number`: of
  /// this task among all.
  void set_sender(PartialSender* sender, std::int32_t number) noexcept {
    sender_ = sender;
    number_ = number;
  }
  /// The combining half. Collective over the combining servers; returns as `run` does.
  [[nodiscard]] std::string combine_partials(const CombineInput& input, Bytes& feedback);

  /// Seconds of the last run that `local` or `write` took on this server.
  [[nodiscard]] double local_seconds() const noexcept { return local_seconds_; }

  std::int64_t runs = 0;       ///< iterations in which it ran
  std::int64_t not_there = 0;  ///< iterations in which it was due and a variable of it was not published

 private:
  [[nodiscard]] std::string pass(const LocalInput& input, Results& results, Bytes& feedback);
  [[nodiscard]] Bytes local(const LocalInput& input);
  [[nodiscard]] Bytes combine(const CombineInput& input);

  std::string name_;
  ScheduleState schedule_;
  std::unique_ptr<Analysis> analysis_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<MpiCommunicator> communicator_;
  Selection selection_;
  PartialSender* sender_ = nullptr;
  std::int32_t number_ = 0;
  double local_seconds_ = 0;
};

}  // namespace sidestream
