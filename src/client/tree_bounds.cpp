#include "client/tree_bounds.hpp"

#include <algorithm>
#include <string>

#include "base/checksum.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {
namespace {

constexpr double bounds_rounding = 1e-9;  ///< relative to the extent of the bounds

using Ends = std::array<std::array<double, 2>, 3>;

Ends ends_of(const TreePlaces& places, const TreeCell& cell, int dimensions) {
  Ends ends{};
  for (int a = 0; a < dimensions; ++a) {
    const auto n = static_cast<std::size_t>(a);
    const double p = places.node(a, cell.level, cell.index[n]), q = places.node(a, cell.level, cell.index[n] + 1);
    ends[n] = {std::min(p, q), std::max(p, q)};
  }
  return ends;
}

bool reaches_out(const Ends& ends, const Bounds& bounds, int dimensions) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
    const double slack = bounds_rounding * (bounds.high[a] - bounds.low[a]);
    if (ends[a][0] < bounds.low[a] - slack || ends[a][1] > bounds.high[a] + slack) return true;
  }
  return false;
}

std::string text_of(const Ends& ends, int dimensions) {
  std::string text;
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
    text += fmt::format("{}[{:.9g}, {:.9g}]", a > 0 ? " x " : "", ends[a][0], ends[a][1]);
  }
  return text;
}

/// Throws if an owned leaf lies outside the bounds. Skips subtrees within the bounds.
template <class Owns>
void check(const Mesh& mesh, const Block& block, const TreeIndex& tree, Owns&& owns) {
  const TreePlaces places(mesh);
  std::optional<TreeCell> found;
  tree.walk(
      [&](const TreeCell& cell) {
        return !found && reaches_out(ends_of(places, cell, mesh.dimensions), block.bounds, mesh.dimensions);
      },
      [&](Index number, const TreeCell& cell) {
        if (owns(number)) found = cell;
      });
  if (!found) return;
  Ends bounds{};
  for (std::size_t a = 0; a < 3; ++a) bounds[a] = {block.bounds.low[a], block.bounds.high[a]};
  fail(Code::usage,
       "publish: block {} of the mesh '{}' owns the cell {} of level {}, but was declared to lie in {}: analyses would "
       "not look for the cell. Give set_block_list bounds that hold all that the block owns, or none",
       block.id, mesh.name, text_of(ends_of(places, *found, mesh.dimensions), mesh.dimensions), found->level,
       text_of(bounds, mesh.dimensions));
}

std::optional<TreeIndex> tree_of(const Mesh& mesh, const Block& block, const ArrayView& refined) {
  try {
    return TreeIndex(mesh, block, refined);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::uint8_t> copy_of(const ArrayView& flags) {
  std::vector<std::uint8_t> copy(static_cast<std::size_t>(flags.box.extent(0)));
  for (std::size_t n = 0; n < copy.size(); ++n) copy[n] = *flags.at<std::uint8_t>(static_cast<Index>(n), 0, 0);
  return copy;
}

/// Checksum that distinguishes the flags of two iterations.
std::uint64_t sum_of(const ArrayView& flags) {
  const auto count = static_cast<std::size_t>(flags.box.extent(0));
  if (flags.strides[0] == 1) return checksum_of(std::as_bytes(std::span(flags.at<std::uint8_t>(0, 0, 0), count)));
  const std::vector<std::uint8_t> copy = copy_of(flags);
  return checksum_of(std::as_bytes(std::span(copy)));
}

}  // namespace

void TreeBounds::read(const Mesh& mesh, const BlockRecord& record, const ArrayView& flags, std::int64_t iteration) {
  const Block& block = record.block;
  if (mesh.kind() != MeshKind::octree || !block.bounds.known() || block.cells.hi[0] == 0) return;
  Known& known = known_[{mesh.id, block.id}];
  const bool is_tree = record.role == Role::refined, all = mesh.array(Role::owned) < 0;
  const std::uint64_t sum = sum_of(flags);
  if (is_tree && (!known.tree || known.sums[0] != sum)) known.tree = tree_of(mesh, block, flags);
  known.sums[is_tree ? 0 : 1] = sum;
  known.of[is_tree ? 0 : 1] = record.persistent != 0 ? always : iteration;
  const auto is_now = [&](std::size_t n) { return known.of[n] == always || known.of[n] == iteration; };
  // Keeps the tree, since it usually stays the same. Ownership flags are kept only until the tree is published, or if
  // they do not vary in time.
  const bool both = is_now(0) && (all || is_now(1));
  if (!is_tree && (!both || known.of[1] == always)) known.owned = copy_of(flags);
  if (!both || !known.tree || known.is_good(block.bounds)) return;
  if (all) {
    check(mesh, block, *known.tree, [](Index) { return true; });
  } else if (!is_tree) {
    check(mesh, block, *known.tree, [&](Index leaf) { return *flags.at<std::uint8_t>(leaf, 0, 0) != 0; });
  } else if (static_cast<Index>(known.owned.size()) == known.tree->cells()) {
    check(mesh, block, *known.tree, [&](Index leaf) { return known.owned[static_cast<std::size_t>(leaf)] != 0; });
  }
  known.good_sums = known.sums;
  known.good_bounds = block.bounds;
  if (known.of[1] != always) std::vector<std::uint8_t>().swap(known.owned);
}

}  // namespace sidestream
