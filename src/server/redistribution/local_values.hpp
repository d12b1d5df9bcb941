// Exchange of values between servers that each read their own clients' values in place.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Exchange for one demand, valid as long as the demand stays the same. Every server tells the others once what it
/// needs from them. In each iteration a server then sends each other server one message with all ordered values, or
/// none if nothing is ordered.
class LocalValues {
 public:
  /// Collective. wanted[n] belongs to the clients of server holders[n].
  LocalValues(const Metadata& metadata, std::span<const Wanted> wanted, std::span<const std::int32_t> holders,
              Communicator& servers);

  struct Result {
    std::vector<ArrayView> values;  ///< by wanted; null data if it was not published
    std::vector<MemberMessage> messages;
  };
  /// Collective. `arrivals`: published by this server's clients in this iteration; `persistent`: in earlier ones.
  [[nodiscard]] Result get(std::span<const Arrival> arrivals, std::span<const Arrival> persistent,
                           Communicator& servers) const;

 private:
  /// Variable and block id.
  using Key = std::pair<std::int32_t, std::int64_t>;
  /// Values that a server needs from another. Trivially copyable; sent between servers.
  struct Order {
    std::int64_t block = 0;
    std::int32_t variable = -1;
    std::int32_t reserved = 0;
    Box points;
  };
  [[nodiscard]] std::vector<ArrayView> find(std::span<const Arrival> arrivals,
                                            std::span<const Arrival> persistent) const;
  /// Orders of another server for values of this one.
  struct Orders {
    int server = 0;
    std::vector<Order> orders;
    std::vector<std::size_t> slots;  ///< slot of each order
  };
  [[nodiscard]] std::size_t slot(const Key& key) const;
  [[nodiscard]] std::size_t slot(const Order& order) const { return slot(Key(order.variable, order.block)); }
  [[nodiscard]] Bytes answer(const Orders& asked, const std::vector<ArrayView>& there) const;
  void take(const MemberMessage& message, std::vector<ArrayView>& values) const;

  const Metadata& metadata_;
  std::vector<Order> wanted_;
  std::vector<std::pair<std::size_t, std::size_t>> mine_;  ///< positions in `wanted` of local values, and their slots
  std::vector<std::pair<int, std::vector<std::size_t>>> asked_;  ///< by server, ascending: positions in `wanted` of
                                                                 ///< the ordered values
  std::vector<Orders> orders_;                                   ///< by server, ascending
  std::vector<Key> keys_;  ///< sorted keys of all values that are needed here, by slot
  /// Slots of the arrays published in the previous iteration, in order, as guesses. Most simulations publish in the
  /// same order each time, and checking a guess takes a tenth of the time of a search.
  mutable std::vector<std::size_t> guesses_;
  bool any_ = false;  ///< true if some server needs values of another
};

}  // namespace sidestream
