// Values between the centres of cells of different levels.
//
// A place is between the centres of cells of its own level, the finest that has it. Where such a cell is of that level,
// it has its own value; where there are finer cells in its stead, the mean of those; where there is only a coarser one,
// the value of that. So a linear field is given back where one level is alone, and nothing jumps where two meet but by
// what the coarser cell's constant value leaves. What a place gets comes from blocks on several servers: each adds what
// its cells that count give, weight times part of the cell times value, and the sum is exact and rounded once.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "analysis/sampling/sampler.hpp"
#include "reduce/grid_sums.hpp"

namespace sidestream::sampling {

/// Cells of level 0 from a cell to the farthest place to which it gives something: it may begin where its neighbour on
/// the place's level does, and the place lies before the middle of its own.
inline constexpr double reach_in_cells = 1.5;

/// Whether cells of several levels may lie round a place: with `linear_cells` on octrees and refinement levels.
[[nodiscard]] bool mixes_levels(const Query& query, const Metadata& metadata);

/// How many numbers places get so: the components of variables in cells.
[[nodiscard]] std::size_t mixed_count(const Query& query, const Metadata& metadata);

/// The level of each target's finest cell in this server's blocks, -1 where there is none, a byte each: for a pass of
/// its own. `joined_levels`, collective: that of all servers.
[[nodiscard]] Bytes levels_of(const Query& query, const SamplePoints& targets, const LocalInput& input);
[[nodiscard]] Bytes joined_levels(std::span<const Bytes> partials, std::int64_t targets, Communicator& servers);

/// Adds, for each target, what cells of this server's blocks give: of each number a sum, and last that of the parts,
/// which is 1 if all is there. `levels`: from joined_levels.
void add_mixed(const Query& query, const SamplePoints& targets, const LocalInput& input, BytesView levels,
               GridSums& sums);

/// Puts such a sum in the place of the cell's own values, of those that are in cells, where all of it is there and it
/// is a number.
void take_mixed(const Query& query, const Metadata& metadata, std::span<const ExactSum> sums, std::span<double> values);

}  // namespace sidestream::sampling
