// Handover of iterations: the writers of a stream agree with each other, and one of them agrees with the reader.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/stream.hpp"
#include "staging/step_builder.hpp"
#include "staging/stream_data_engine.hpp"
#include "staging/writer.hpp"
#include "staging/writer_coordinator.hpp"

namespace sidestream::staging {

/// A block of a variable on this server.
struct Held {
  std::int32_t variable = -1;
  BlockView view;
  Box box;  ///< the points to send: the block's, or all that the array covers
};

/// Offers iterations to readers. All calls are collective over `writers` and return the same or throw on every member.
class Offers {
 public:
  /// Creates the directory and announces the stream to readers. References must outlive this object; the destructor
  /// does not use `writers`. The group is guarded: if a member throws, the others' next communication throws.
  Offers(const StreamConfig& config, const Metadata& metadata, StreamContext& context, Communicator& writers);

  /// Offers the iteration and waits until the reader group is done with it. Returns its outcome and failures. If nobody
  /// took the iteration, returns `refused` and the reason. `blocks`: blocks of all writers, for ranges on refinement
  /// levels.
  [[nodiscard]] Answer hand_over(const Iteration& iteration, const std::vector<Held>& held,
                                 std::span<const Block> blocks);

 private:
  struct Step;
  [[nodiscard]] std::int64_t ask(const std::function<std::int64_t()>& question, std::string* trouble = nullptr);
  [[noreturn]] void fail_together(const std::string& message);
  [[nodiscard]] std::int64_t await_reader();
  void put(Step& step, std::int64_t epoch);
  void offer(Step& step, const std::vector<Held>& held, std::span<const Block> blocks, std::int64_t epoch);
  [[nodiscard]] Answer await_answer(Step& step, std::int64_t epoch);
  [[nodiscard]] Answer take_answer(std::int64_t index);
  [[nodiscard]] std::int64_t step_state(const Step& step, std::int64_t epoch, double& lost_since);
  [[nodiscard]] Answer share(const Answer& answer);
  [[nodiscard]] Answer refusal();
  void report_reader(std::int64_t epoch);

  bool acknowledged_ = false;  ///< true if the reader took the current step and released it
  StreamConfig config_;
  const Metadata& metadata_;
  StreamContext& context_;
  Communicator& writers_;
  Folder folder_;
  StepRanges ranges_;
  std::unique_ptr<WriterCoordinator> coordinator_;  ///< on rank 0
  std::unique_ptr<BulkWriter> bulk_;
  std::int64_t last_epoch_ = 0;
  bool waited_in_vain_ = false;  ///< if true, the next iteration does not wait again
};

}  // namespace sidestream::staging
