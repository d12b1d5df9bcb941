// Components of parts over all servers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::halos {

/// Numbers of parts over all servers, consecutive in the order of ranks.
class PartNumbers {
 public:
  /// Collective: this server has `mine` parts.
  PartNumbers(std::size_t mine, Communicator& servers);
  [[nodiscard]] std::int64_t first() const noexcept { return ends_[rank_]; }
  [[nodiscard]] int server_of(std::int64_t part) const noexcept;

 private:
  std::size_t rank_;
  std::vector<std::int64_t> ends_;  ///< [r]: the first part of server r; one more at the end
};

/// The number of a part, or ~ of one, in a list where it stands `by` places further behind.
[[nodiscard]] constexpr std::int64_t renumbered(std::int64_t part, std::int64_t by) noexcept {
  return part < 0 ? ~(~part + by) : part + by;
}

/// Numbers of two parts, over all servers, that belong together.
using PartPair = std::array<std::int64_t, 2>;

/// Collective. Returns, for each of this server's parts, the lowest number of a part in its component, where `pairs` of
/// all servers belong together. Each server sends a spanning forest of its pairs to all.
[[nodiscard]] std::vector<std::int64_t> join_parts(const std::vector<PartPair>& pairs, std::size_t parts,
                                                   const PartNumbers& numbers, Communicator& servers);

}  // namespace sidestream::halos
