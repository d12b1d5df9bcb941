// Boxes that arrays cover beyond the points of their blocks, for all servers' clients.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "server/redistribution/block_table.hpp"
#include "sidestream/data/variable.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Keeps the boxes of requested variables as last published. The same on every server.
class AllocatedBoxes {
 public:
  /// Takes the boxes of the arrays that each server's clients published. Returns true on every server if some box is
  /// new. `arrivals`: of this iteration; `persistent`: of earlier ones. Collective, with the same `variables`. Fails on
  /// all servers or on none, and changes nothing then.
  [[nodiscard]] bool update(std::span<const Arrival> arrivals, std::span<const Arrival> persistent,
                            const std::vector<bool>& variables, Communicator& servers);
  /// The box that arrays of a variable on a block cover: at least its points.
  [[nodiscard]] Box of(const Variable& variable, const Block& block) const;
  /// Forgets blocks that no longer exist.
  void keep(const BlockTable& table);
  void clear() noexcept { boxes_.clear(); }

 private:
  struct Key {
    std::int32_t variable = 0, client = 0;
    std::int64_t block = 0;
    auto operator<=>(const Key&) const = default;
  };
  /// Trivially copyable; sent between servers.
  struct Change {
    Key key;
    Box box;
  };
  using Boxes = std::map<Key, Box>;
  [[nodiscard]] std::vector<Change> changes(std::span<const Arrival> arrivals,
                                            const std::vector<bool>& variables) const;
  Boxes boxes_;  ///< boxes of arrays that extend beyond their blocks' points
};

}  // namespace sidestream
