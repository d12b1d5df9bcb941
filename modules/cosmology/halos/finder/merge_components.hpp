// Merging of parts over all servers: their numbers, their components, and the array of each cell's halo.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cosmology/halos/finder/box_runs.hpp"
#include "cosmology/halos/finder/halo.hpp"
#include "cosmology/halos/finder/halo_options.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/task.hpp"

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

/// The number of a part, or ~part, in a list that it is appended to after `by` other parts.
[[nodiscard]] constexpr std::int64_t renumbered(std::int64_t part, std::int64_t by) noexcept {
  return part < 0 ? ~(~part + by) : part + by;
}

/// Numbers of two parts, over all servers, that belong together.
using PartPair = std::array<std::int64_t, 2>;

/// Returns, for each of this server's parts, the lowest number of a part in its component, as joined by the `pairs` of
/// all servers. Collective. Each server sends a spanning forest of its pairs to all.
[[nodiscard]] std::vector<std::int64_t> join_parts(const std::vector<PartPair>& pairs, std::size_t parts,
                                                   const PartNumbers& numbers, Communicator& servers);

struct LabelQuery {
  std::string file;
  Pieces pieces = Pieces::automatic;
};

/// The options of `labels`.
[[nodiscard]] OptionTable<LabelQuery> label_options();

/// Writes a data set with the numbers of halos as int32, -1 for cells without a halo, and the positions of cells.
/// Collective. `runs`: this server's parts of halos. Servers have contiguous planes of the mesh, 4 bytes for each of
/// their cells.
void write_labels(const LabelQuery& query, const Field& field, const std::vector<NumberedPiece<Run>>& runs,
                  const CombineInput& input);

}  // namespace sidestream::halos
