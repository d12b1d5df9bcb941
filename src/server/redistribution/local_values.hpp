// Values where each server has those of its own clients at hand: read in place, and sent to the servers that want them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// What stands as long as what is wanted does: every server tells the others once what it wants of them; after that
/// each sends what was asked for in one message to each server in each iteration, and nothing where nobody wants any.
class LocalValues {
 public:
  /// Collective. wanted[n] is with the clients of server holders[n].
  LocalValues(const Metadata& metadata, std::span<const Wanted> wanted, std::span<const std::int32_t> holders,
              Communicator& servers);

  struct Got {
    std::vector<ArrayView> values;  ///< by wanted; without data where it was not published
    std::vector<MemberMessage> messages;
  };
  /// Collective. `arrivals`: what the clients of this server published, `persistent` and before.
  [[nodiscard]] Got get(std::span<const Arrival> arrivals, std::span<const Arrival> persistent,
                        Communicator& servers) const;

 private:
  /// A variable on a block.
  using Key = std::pair<std::int32_t, std::int64_t>;
  /// Values that a server wants of another; crosses between them.
  struct Order {
    std::int64_t block = 0;
    std::int32_t variable = -1;
    std::int32_t reserved = 0;
    Box points;
  };
  [[nodiscard]] std::vector<ArrayView> find(std::span<const Arrival> arrivals,
                                            std::span<const Arrival> persistent) const;
  /// What another server wants of this one.
  struct Orders {
    int server = 0;
    std::vector<Order> orders;
    std::vector<std::size_t> slots;  ///< of each
  };
  [[nodiscard]] std::size_t slot(const Key& key) const;
  [[nodiscard]] std::size_t slot(const Order& order) const { return slot(Key(order.variable, order.block)); }
  [[nodiscard]] Bytes answer(const Orders& asked, const std::vector<ArrayView>& there) const;
  void take(const MemberMessage& message, std::vector<ArrayView>& values) const;

  const Metadata& metadata_;
  std::vector<Order> wanted_;
  std::vector<std::pair<std::size_t, std::size_t>> mine_;        ///< positions in `wanted` of what is here, and slots
  std::vector<std::pair<int, std::vector<std::size_t>>> asked_;  ///< by server, ascending: what it has of `wanted`
  std::vector<Orders> orders_;                                   ///< by server, ascending
  std::vector<Key> keys_;                                        ///< sorted, by slot: all that is looked for here
  /// Of what was published in the iteration before, one after the other. Most simulations publish in the same order
  /// each time, and looking once at the right place is a tenth of a search.
  mutable std::vector<std::size_t> guesses_;
  bool any_ = false;  ///< some server wants something of another
};

}  // namespace sidestream
