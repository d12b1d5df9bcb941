// Checks that a client's declared bounds of trees contain the leaves that these own; servers skip blocks by bounds.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sidestream/extend/transport.hpp"
#include "sidestream/kit/data/tree_walk.hpp"

namespace sidestream {

/// Checks the flags of trees (`refined`, `owned`) of blocks with known bounds as they are published. It compares the
/// flags' checksums with earlier ones and, if they are new, walks the cells of the tree beyond the bounds. Keeps a bit
/// and a half for each cell.
class TreeBounds {
 public:
  /// `flags`: the published values of the record, whose role must be refined or owned. Once both are known in an
  /// iteration, throws Error(usage) if a counted leaf exceeds the block's bounds by more than a rounding error. Ignores
  /// flags that do not form a tree, since servers report what is wrong with them.
  void read(const Mesh& mesh, const BlockRecord& record, const ArrayView& flags, std::int64_t iteration);
  void forget(std::int32_t mesh, std::int64_t block) { known_.erase({mesh, block}); }

 private:
  struct Known {
    std::optional<TreeIndex> tree;
    std::vector<std::uint8_t> owned;
    std::array<std::uint64_t, 2> sums{};     ///< checksums of refined and owned, as last published
    std::array<std::int64_t, 2> of{-1, -1};  ///< iterations of these; `always` for those that do not vary in time
    std::array<std::uint64_t, 2> good_sums{};
    Bounds good_bounds;  ///< bounds that passed with those sums; unknown: none

    [[nodiscard]] bool is_good(const Bounds& bounds) const noexcept {
      return good_bounds == bounds && good_sums == sums;
    }
  };
  static constexpr std::int64_t always = INT64_MAX;

  std::map<std::pair<std::int32_t, std::int64_t>, Known> known_;
};

}  // namespace sidestream
