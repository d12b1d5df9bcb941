// Bookkeeping of all transports: messages that a server has received, sorted by iteration.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "sidestream/extend/transport.hpp"
#include "transport/message.hpp"

namespace sidestream {

/// Stores what the clients of this server sent, by iteration. Clients are numbered from 0 among the clients of this
/// server. Messages of one client arrive in the order it sent them; clients may be many iterations apart.
class InboxStore {
 public:
  explicit InboxStore(int clients)
      : ended_(static_cast<std::size_t>(clients), 0), closed_(static_cast<std::size_t>(clients), false) {}

  /// Applies a message that means the same over every transport. Returns false for a block, whose values each transport
  /// finds in its own way; see `add`.
  bool take(int client, const Message& message);
  void add(int client, const Arrival& arrival);
  void declare(int client, const Block& block, bool removed);
  void signal(int client, const Signal& signal) { inboxes_[current(client)].signals.push_back(signal); }
  void end(int client, const EndRecord& record);
  /// Sets the client's first iteration if it is not 0; call it before anything else of that client.
  void begin_at(int client, std::int64_t first) { ended_.at(static_cast<std::size_t>(client)) = first; }
  void close(int client) { closed_.at(static_cast<std::size_t>(client)) = true; }

  [[nodiscard]] int clients() const noexcept { return static_cast<int>(ended_.size()); }
  /// The iteration that the client is in, which is the number of iterations it has ended.
  [[nodiscard]] std::int64_t current(int client) const { return ended_.at(static_cast<std::size_t>(client)); }
  [[nodiscard]] int ended(std::int64_t index) const noexcept;
  /// See ServerTransport::state and ServerTransport::advance.
  [[nodiscard]] ServerState state(std::int64_t index) noexcept;
  void advance(std::int64_t index);
  [[nodiscard]] Inbox& inbox(std::int64_t index) { return inboxes_[index]; }
  /// Value ranges of the iteration's blocks and of blocks that outlive iterations, and of regions of them. `data_of`
  /// returns where the values of an array are, or null if they are not available; if `data_of` is empty, the arrivals
  /// say where.
  using DataOf = std::function<const std::byte*(const BlockRecord&)>;
  [[nodiscard]] MeasuredRanges ranges(std::int64_t index, std::span<const RangeRequest> requests,
                                      std::span<const RangeRegion> regions, const DataOf& data_of);
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
  bool abandoned_ = false;  ///< true if a client gave up waiting for iterations that have not begun
  std::map<std::int64_t, Inbox> inboxes_;
  std::multimap<std::int64_t, Declaration> declarations_;  ///< declarations that are not applied yet, by iteration
  std::multimap<std::int64_t, Arrival> new_persistent_;    ///< persistent arrays that are not applied yet, by iteration
  ServerTables tables_;
  /// Index into tables_.blocks, by mesh, block id and client.
  std::map<std::tuple<std::int32_t, std::int64_t, std::int32_t>, std::size_t> places_;
};

}  // namespace sidestream
