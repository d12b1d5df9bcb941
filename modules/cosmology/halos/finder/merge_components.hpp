// Components of parts over all servers.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "cosmology/halos/finder/local_components.hpp"

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

/// Numbers of two parts, over all servers, that belong together.
using PartPair = std::array<std::int64_t, 2>;

/// Collective. Returns, for each of this server's parts, the lowest number of a part in its component, where `pairs` of
/// all servers belong together. Each server sends a spanning forest of its pairs to all.
[[nodiscard]] std::vector<std::int64_t> join_parts(const std::vector<PartPair>& pairs, std::size_t parts,
                                                   const PartNumbers& numbers, Communicator& servers);

/// Collective. Returns, for each of this server's parts, the lowest number of a part in its component. `border`: with
/// parts numbered from 0.
///
/// Every row of the mesh has a keeper among the servers. Border runs go to the keeper of their row and, widened by the
/// reach of neighbours, to those of later rows next to it; where both meet, parts are joined. So the layout of blocks
/// need not be known. Each server sends a spanning forest of the pairs that it found to all.
[[nodiscard]] std::vector<std::int64_t> stitch(std::span<const BorderRun> border, std::size_t parts,
                                               const PartNumbers& numbers, const Lattice& lattice,
                                               const std::vector<RowStep>& steps, Communicator& servers);

}  // namespace sidestream::halos
