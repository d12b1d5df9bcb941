// What a server has received, sorted by iteration: the bookkeeping that every transport shares.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sidestream/extend/transport.hpp"
#include "transport/message.hpp"

namespace sidestream {

/// Clients are counted from 0 among the clients of this server. Messages of one client come in the order it sent them;
/// clients may be many iterations apart.
class InboxStore {
 public:
  explicit InboxStore(int clients)
      : ended_(static_cast<std::size_t>(clients), 0), closed_(static_cast<std::size_t>(clients), false) {}

  /// Applies a message that means the same over every transport. False for a block, whose values each transport finds
  /// in its own way: see `add`.
  bool take(int client, const Message& message);
  void add(int client, const Arrival& arrival);
  void declare(int client, const Block& block, bool removed);
  void signal(int client, const Signal& signal) { inboxes_[current(client)].signals.push_back(signal); }
  void end(int client, const EndRecord& record);
  /// The client's first iteration is not 0; call before anything else of it.
  void begin_at(int client, std::int64_t first) { ended_.at(static_cast<std::size_t>(client)) = first; }
  void close(int client) { closed_.at(static_cast<std::size_t>(client)) = true; }

  [[nodiscard]] int clients() const noexcept { return static_cast<int>(ended_.size()); }
  /// Iteration that the client is in: the number it has ended.
  [[nodiscard]] std::int64_t current(int client) const { return ended_.at(static_cast<std::size_t>(client)); }
  [[nodiscard]] int ended(std::int64_t index) const noexcept;
  /// As ServerTransport::state and advance.
  [[nodiscard]] ServerState state(std::int64_t index) noexcept;
  void advance(std::int64_t index);
  [[nodiscard]] Inbox& inbox(std::int64_t index) { return inboxes_[index]; }
  /// Ranges of the iteration's blocks and of those that outlive iterations. `data_of` says where the values of an array
  /// are (null: not to be had); if it is empty they are where the arrivals say.
  using DataOf = std::function<const std::byte*(const BlockRecord&)>;
  [[nodiscard]] std::vector<BlockRange> ranges(std::int64_t index, std::span<const RangeRequest> requests,
                                               const DataOf& data_of);
  void drop(std::int64_t index) { inboxes_.erase(index); }

 private:
  struct Declaration {
    std::int64_t iteration;
    Block block;
    bool removed;
  };
  [[nodiscard]] int pending(std::int64_t index) const noexcept;
  void apply(const Declaration& declaration);
  void replace(const Arrival& arrival);

  std::vector<std::int64_t> ended_;
  std::vector<bool> closed_;
  bool abandoned_ = false;  ///< a client has given up waiting for what has not begun
  std::map<std::int64_t, Inbox> inboxes_;
  std::multimap<std::int64_t, Declaration> declarations_;  ///< by iteration, not applied yet
  std::multimap<std::int64_t, Arrival> new_persistent_;    ///< likewise
  ServerTables tables_;
  /// In tables_.blocks, by mesh, block id and client.
  std::map<std::tuple<std::int32_t, std::int64_t, std::int32_t>, std::size_t> places_;
};

}  // namespace sidestream
