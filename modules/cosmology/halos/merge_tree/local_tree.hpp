// The merge tree of cells that are searched at once: a box of a uniform mesh, or all cells of a server.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "cosmology/halos/merge_tree/tree.hpp"

namespace sidestream::halos {

/// Each cell belongs to the maximum at the end of its steepest ascent; components meet where neighbouring cells have
/// different maxima.
///
/// A maximum whose component reaches no border above its saddle has a final triplet, independent of the surroundings.
/// The maxima whose components do reach the border form a forest, which is joined with those of others.
struct LocalTree {
  std::vector<std::int32_t> numbers;  ///< number of each cell's maximum; -1: the cell does not count
  std::vector<ValuedCell> maxima;     ///< by number
  std::vector<Triplet> certain, open;
};

/// The ascent of a cell that does not count.
inline constexpr std::int32_t nowhere = std::numeric_limits<std::int32_t>::min();

/// Follows the ascents to their maxima. `up` has for each cell a higher neighbour, ~number for maximum `number`, or
/// `nowhere`; then it has LocalTree::numbers.
void follow_ascents(std::vector<std::int32_t>& up);

/// The saddle of the components of two maxima.
struct SaddlePair {
  ValuedCell saddle;
  std::uint32_t a = 0, b = 0;
};

/// Joins maxima from the highest saddle down, and separates certain triplets from open ones. `touched` has for each
/// maximum the highest border cell that leads to it; id -1: none.
void sweep_down(std::vector<SaddlePair> saddle_pairs, std::vector<ValuedCell> touched, LocalTree& tree);

/// A value for each of `count` maxima that no border cell leads to.
[[nodiscard]] inline std::vector<ValuedCell> without_border(std::size_t count) {
  return std::vector<ValuedCell>(count, {-std::numeric_limits<double>::infinity(), -1});
}

}  // namespace sidestream::halos
