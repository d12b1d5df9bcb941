// Whether the bounds that a client tells of its trees hold what these own: servers leave blocks out by them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "data/tree_walk.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Looks at the flags of trees (`refined`, `owned`) as they are published, of blocks with known bounds: at their
/// checksums, and where these are new at the tree, of which cells beyond the bounds are walked. Keeps a bit and a half
/// for each cell.
class TreeBounds {
 public:
  /// `flags`: what is published of the record, whose role is refined or owned. Once both are known in an iteration,
  /// throws Error(usage) if a leaf that counts reaches out of the block's bounds by more than a rounding error. Flags
  /// that are no tree are let pass: servers say what is wrong with them.
  void look(const Mesh& mesh, const BlockRecord& record, const ArrayView& flags, std::int64_t iteration);
  void forget(std::int32_t mesh, std::int64_t block) { known_.erase({mesh, block}); }

 private:
  struct Known {
    std::optional<TreeIndex> tree;
    std::vector<std::uint8_t> owned;
    std::array<std::uint64_t, 2> sums{};     ///< of refined and owned, as they were published last
    std::array<std::int64_t, 2> of{-1, -1};  ///< iterations of these; of what does not vary in time `always`
    std::array<std::uint64_t, 2> good_sums{};
    Bounds good_bounds;  ///< of those sums; unknown: of none

    [[nodiscard]] bool is_good(const Bounds& bounds) const noexcept {
      return good_bounds == bounds && good_sums == sums;
    }
  };
  static constexpr std::int64_t always = INT64_MAX;

  std::map<std::pair<std::int32_t, std::int64_t>, Known> known_;
};

}  // namespace sidestream
