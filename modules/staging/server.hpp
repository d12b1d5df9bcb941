// The reader of a stream.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/stream.hpp"
#include "sidestream/kit/base/region_pool.hpp"
#include "staging/stream_data_engine.hpp"
#include "staging/writer_coordinator.hpp"

namespace sidestream::staging {

/// Reads a stream; one object on each rank of the reader group, with an equal share of the blocks.
class Server final : public StreamReader {
 public:
  /// Waits until the stream exists, at most `patience` seconds, and becomes its reader. Collective; throws the same
  /// Error everywhere. References must outlive this object. The stream ends between two iterations once `stop` is true
  /// on a rank.
  Server(const StreamConfig& config, Communicator& readers, double patience, std::function<bool()> stop);

  [[nodiscard]] const Bytes& declarations() const noexcept override { return announced_.declarations; }
  [[nodiscard]] std::uint64_t session() const noexcept override { return session_; }
  void translate(const Metadata& there, const Metadata& here, const std::vector<std::string>& events) override;
  [[nodiscard]] std::int64_t current() const noexcept override { return current_; }
  [[nodiscard]] bool has_ended() const noexcept override { return ended_; }
  [[nodiscard]] bool writer_died() const noexcept override { return writer_died_; }

  /// Collective over the readers; returns the same on all. With limit 0 it does nothing.
  bool receive(std::chrono::microseconds limit) override;
  [[nodiscard]] ServerState state(std::int64_t index) override;
  /// Does nothing: the tables change when a step is taken, since there is one step at a time.
  void advance(std::int64_t) override {}
  /// Reads blocks when an analysis needs them, on the rank that needs them.
  [[nodiscard]] std::vector<const std::byte*> fetch(std::int64_t index, std::span<const Wanted> wanted,
                                                    bool again) override;
  /// Regions get the ranges that writers have measured, otherwise the ranges of whole blocks.
  [[nodiscard]] MeasuredRanges ranges(std::int64_t index, std::span<const RangeRequest> requests,
                                      std::span<const RangeRegion> regions) override;
  /// Acknowledges the iteration. Collective.
  void release(std::int64_t index, Outcome outcome) override;
  void post_failure(const std::string& message) override;
  /// Streams carry no notices.
  [[nodiscard]] bool notify(const Notice&) override { return false; }
  void finish(const std::string& trouble) override;

 private:
  using Key = std::tuple<std::int32_t, std::int64_t>;  ///< variable here, block

  [[nodiscard]] ReaderCoordinator::News connect(double patience);
  [[nodiscard]] ReaderCoordinator::News attach(double patience);
  [[noreturn]] void fail_waiting(bool found, double patience) const;
  void join(const std::string& engine, BytesView announced);
  [[nodiscard]] ReaderCoordinator::News await_news(std::chrono::microseconds limit);
  void take();
  void repeat_answer();
  [[nodiscard]] bool act_on(ReaderCoordinator::News news);
  void fill_inbox();
  void take_events();
  void change_blocks(std::vector<Block> mine);
  [[nodiscard]] std::byte* memory(std::uint64_t bytes);
  [[nodiscard]] BlockRecord describe(const StepRecord& record) const;
  void read(std::span<const Piece> pieces);
  void turn(const Wanted& wanted, std::byte* values);
  [[nodiscard]] BlockRange range_of(const Arrival& arrival, std::int32_t component, const BlockRange* known);
  [[nodiscard]] std::set<std::int32_t> complete_variables() const;

  StreamConfig config_;
  Communicator& readers_;
  std::function<bool()> stop_;
  Folder folder_;
  std::unique_ptr<ReaderCoordinator> coordinator_;  ///< on rank 0
  std::unique_ptr<BulkReader> bulk_;
  Announced announced_;
  std::uint64_t session_ = 0;

  Metadata there_;  ///< declarations of the simulation; steps are checked against them
  const Metadata* here_ = nullptr;
  std::vector<std::int32_t> meshes_, variables_;  ///< local ids, by ids of the simulation
  std::vector<int> events_;                       ///< likewise; -1: not known here

  std::int64_t current_ = -1;    ///< newest iteration that was offered
  Bytes file_;                   ///< content of a step that was found and not taken yet
  bool taken_ = false;           ///< true if `file_` holds a step
  bool repeats_answer_ = false;  ///< true if that step is the newest one, which was processed before
  bool held_ = false;            ///< true until the current step is released
  bool ended_ = false, writer_died_ = false;
  /// This group's answer to the newest iteration, if the writers did not receive it because they had given the group
  /// up. It is repeated if they still have the iteration when the group attaches again. On rank 0.
  struct MissedAnswer {
    Outcome outcome;
    std::string message;
  };
  std::optional<MissedAnswer> missed_answer_;
  StepIndex step_;
  std::map<Key, const StepRecord*> records_;  ///< records of all blocks of the step
  Inbox inbox_, skipped_;
  ServerTables tables_;
  std::string failure_;
  RegionPool pool_;
  std::vector<std::byte*> regions_;
  Bytes turned_;  ///< values of a block whose variable is in row order
};

}  // namespace sidestream::staging
