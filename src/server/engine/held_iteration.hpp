// The last iteration, kept for requests between two iterations.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/agreement.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Copies of chosen variables of one iteration, in this server's memory. The assembler sees it as a transport with
/// values in place, so the iteration itself can be released: clients do not wait, and a request only moves data between
/// servers.
class HeldIteration final : public ServerTransport {
 public:
  /// `variables`: ids, also of the arrays of their meshes.
  HeldIteration(const std::vector<std::int32_t>& variables, const Metadata& metadata);

  /// Copies the values of the agreed iteration. Collective, between `advance` and `release`; if it throws, call `drop`
  /// on all servers. Reuses the memory of the previous iteration.
  void keep(ServerTransport& transport, const Agreement& agreement, Communicator& servers);
  /// Forgets the iteration, but keeps its memory for the next one. Tables may change afterwards.
  void clear() noexcept;
  /// Forgets the iteration and frees its memory.
  void drop() noexcept;
  /// The iteration and its published variables; null if none is held. The same on all servers.
  [[nodiscard]] Agreement* held() noexcept { return is_held_ ? &agreement_ : nullptr; }
  /// True if values of the variable are held whenever it was published. Derived variables are not held.
  [[nodiscard]] bool keeps(std::int32_t variable) const {
    const auto number = static_cast<std::size_t>(variable);
    return number < kept_.size() && kept_[number];  // requests add variables
  }

  bool receive(std::chrono::microseconds) override { return false; }
  [[nodiscard]] ServerState state(std::int64_t) override { return {inbox_, tables_}; }
  void post_failure(const std::string&) override {}
  [[nodiscard]] bool notify(const Notice&) override { return false; }
  void advance(std::int64_t) override {}
  [[nodiscard]] std::vector<const std::byte*> fetch(std::int64_t, std::span<const Wanted>, bool) override { return {}; }
  [[nodiscard]] MeasuredRanges ranges(std::int64_t, std::span<const RangeRequest> requests,
                                      std::span<const RangeRegion> regions) override;
  void release(std::int64_t, Outcome) override {}
  void finish(const std::string&) override {}

 private:
  /// Values of one block. Arrays that do not vary in time are copied once.
  struct Copy {
    std::vector<std::byte> values;
    std::int64_t since = -1;  ///< the iteration that brought them
    bool in_use = false;
  };
  void free_unused(const ServerState& state);
  void keep_each(const std::vector<Arrival>& arrivals, std::vector<Arrival>& to);
  void fetch_missing(ServerTransport& transport, std::int64_t index);

  std::vector<bool> kept_;     ///< by variable
  std::vector<Order> orders_;  ///< likewise: order of the values that a transport fetches
  bool is_held_ = false;
  Agreement agreement_;
  Inbox inbox_;
  ServerTables tables_;
  std::map<std::pair<std::int32_t, std::int64_t>, Copy> copies_;  ///< by variable and block
};

}  // namespace sidestream
