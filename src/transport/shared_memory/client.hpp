// Placement `cores`, the client's end: one copy into shared memory and one record in a ring.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/run_log.hpp"
#include "transport/shared_memory/channel.hpp"
#include "transport/shared_memory/heap.hpp"
#include "transport/shared_memory/node.hpp"
#include "transport/shared_memory/spill/spill_file.hpp"

namespace sidestream::shared_memory {

class Client : public ClientTransport {
 public:
  /// `progress` is called about every millisecond while the client waits. It keeps MPI messages of the simulation
  /// moving, which other clients may need. It may call `disconnect`, which ends the waiting.
  Client(std::shared_ptr<Node> node, WhenFull when_full, int max_in_flight, std::function<void()> progress);

  [[nodiscard]] bool begin() override;
  void prefetch() const noexcept override;
  [[nodiscard]] std::optional<Region> reserve(std::uint64_t bytes, bool persistent) override;
  [[nodiscard]] bool retire(const BlockRecord& record) override;
  void commit(const BlockRecord& record, const Region& region, bool hold) override;
  void clear(const Region& region) override;
  void declare(const Block& block, bool removed) override;
  void signal(const Signal& signal) override;
  void end(const EndRecord& record) override;
  [[nodiscard]] Settled outcome(std::int64_t index) override;
  void await(std::int64_t index) override;
  [[nodiscard]] News news() override;
  bool drain(std::chrono::milliseconds limit) override;
  /// Sets the file for blocks that find no room (WhenFull::spill). Call it before the first iteration. Throws
  /// Error(system) if its path is too long.
  void spill_to(std::unique_ptr<SpillFile> file);

  /// Connections to this client's server in each group.
  [[nodiscard]] std::deque<Channel>& channels() noexcept { return channels_; }
  /// Sidecar: others report when servers come and go, so this client stops checking its own server.
  void trust_others() noexcept { watches_ = false; }

  // Sidecar: a client that is not connected refuses every iteration. It keeps persistent arrays and the list of its
  // blocks for the servers that attach next.
  /// Disconnects from servers that are gone and no longer read. Iterations that they had received and did not announce
  /// become `undecided`; those that they had not received are refused.
  void disconnect(Outcome undecided);
  /// Starts anew with other servers, between iterations: the current one is the first they get. `ready` is called when
  /// rings and counters are at their start, before anything is sent.
  void connect(const std::function<void(std::int64_t first)>& ready);

 protected:
  /// The failure that `news` hands out.
  [[nodiscard]] virtual std::string next_failure();
  /// Directs messages to the session that made this client. Publications open no scope of their own, since most are
  /// short and log nothing.
  [[nodiscard]] LogScope logging() const noexcept { return LogScope(log_); }

 private:
  void push(const Message& message);
  void push_to(Channel& channel, const Message& message);
  void push_at_last(Channel& channel, MessageKind kind);
  [[nodiscard]] bool flush();
  [[nodiscard]] bool settled(std::int64_t below) const noexcept;
  void ring_all() noexcept;
  void lose(Channel& channel, bool left);
  [[nodiscard]] Channel& last_to_release() noexcept;
  void forget_persistent(const Block& block);
  void wait_for_release();
  void give_up();
  void check_servers(bool waits);
  void take_notices();
  void push_block(const BlockRecord& record, std::uint64_t offset, std::uint32_t segment = 0);
  void commit_spilled(const BlockRecord& record, const Region& region, bool hold);
  [[nodiscard]] bool is_spilled(const Region& region) const noexcept { return spill_ && spill_->has(region); }
  [[nodiscard]] bool never_fits(std::uint64_t bytes) const noexcept;
  /// Iterations below this number are released by all groups.
  [[nodiscard]] std::int64_t released() const noexcept {
    if (!status_.connected) return left_behind_ ? released_behind() : current_;
    std::int64_t lowest = channels_.front().released();
    for (std::size_t g = 1; g < channels_.size(); ++g) lowest = std::min(lowest, channels_[g].released());
    return lowest;
  }
  [[nodiscard]] std::int64_t released_behind() const noexcept;

  std::shared_ptr<RunLog> log_ = current_log();
  std::shared_ptr<Node> node_;
  std::deque<Channel> channels_;  ///< one channel for each group of servers
  ClientHeap heap_;
  std::unique_ptr<SpillFile> spill_;     ///< null: blocks are not spilled
  std::vector<Notice> pending_notices_;  ///< notices that were read and not handed out
  WhenFull when_full_;
  int max_in_flight_;
  std::function<void()> progress_;
  const Channel* lost_channel_ = nullptr;  ///< the channel whose server is gone, while servers of other groups remain
  bool left_behind_ = false;               ///< remaining servers finish the iterations they have, and have been closed
  std::map<std::pair<std::int32_t, std::int64_t>, Block> blocks_;  ///< latest declarations, by mesh and id
  /// Persistent arrays by variable and block.
  std::map<std::pair<std::int32_t, std::int64_t>, std::pair<BlockRecord, Region>> persistent_;
  std::int64_t current_ = 0;  ///< number of iterations ended
  std::int64_t begun_ = 0;    ///< number of iterations begun, without the first
  std::int64_t seen_released_ = 0;
  bool watches_ = true;
  double checked_at_ = 0;  ///< time of the last check that the server's process exists
  std::string lost_;       ///< describes how the server was lost, until that is reported
};

}  // namespace sidestream::shared_memory
