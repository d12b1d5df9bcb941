// Handing iterations over: the writers of a stream agree on everything with each other, and one of them with the
// reader.
#pragma once

#include <memory>
#include <vector>

#include "config/stream_config.hpp"
#include "sidestream/data/metadata.hpp"
#include "transport/staging/context.hpp"
#include "transport/staging/stream_data_engine.hpp"
#include "transport/staging/writer_coordinator.hpp"

namespace sidestream::staging {

/// A block of a variable, as the server has it.
struct Held {
  std::int32_t variable = -1;
  BlockView view;
  Box box;  ///< the points that go: the block's, or what the array covers
};

/// All calls are collective over `writers` and give the same result on every member, or throw on every member.
class Offers {
 public:
  /// Makes the directory and lets readers find the stream. References outlive this; `writers` is not used by the
  /// destructor. It is guarded: if a member leaves a call by an exception, the others' next communication throws.
  Offers(const StreamConfig& config, const Metadata& metadata, StreamContext& context, Communicator& writers);

  /// Offers the iteration and waits until the reader group is done with it. Refused: nobody took it; the message says
  /// why. Otherwise the outcome and the failures that the reader group had.
  [[nodiscard]] Answer hand_over(const Iteration& iteration, const std::vector<Held>& held);

 private:
  struct Step;
  [[nodiscard]] std::int64_t ask(const std::function<std::int64_t()>& question, std::string* trouble = nullptr);
  [[noreturn]] void fail_together(const std::string& message);
  [[nodiscard]] std::int64_t await_reader();
  void put(Step& step, std::int64_t epoch);
  void offer(Step& step, const std::vector<Held>& held, std::int64_t epoch);
  [[nodiscard]] Answer await_answer(Step& step, std::int64_t epoch);
  [[nodiscard]] Answer take_answer(std::int64_t index);
  [[nodiscard]] std::int64_t look(const Step& step, std::int64_t epoch, double& lost_since);
  [[nodiscard]] Answer share(const Answer& answer);
  [[nodiscard]] Answer refusal();
  void report_reader(std::int64_t epoch);

  bool acknowledged_ = false;  ///< the reader has had the step at hand and let go of it
  StreamConfig config_;
  const Metadata& metadata_;
  StreamContext& context_;
  Communicator& writers_;
  Folder folder_;
  std::unique_ptr<WriterCoordinator> coordinator_;  ///< on rank 0
  std::unique_ptr<BulkWriter> bulk_;
  std::int64_t last_epoch_ = 0;
  bool waited_in_vain_ = false;  ///< the next iteration does not wait again
};

}  // namespace sidestream::staging
