// Interpolation between the centres of cells on different levels.
//
// A place lies between centres of cells of its own level, the finest at that place. Each of these cells gets a value:
// its own if it exists on that level, the mean of the finer cells if finer ones cover it, otherwise the value of the
// coarser cell that contains it. So linear fields are reproduced where there is one level. Where two levels meet, only
// the coarser cell's constant value causes jumps. Contributions come from blocks on several servers: each adds weight
// times fraction of the cell times value for its counted cells, and the sum is exact and rounded once.
#pragma once

#include "sidestream/kit/reduce/grid_sums.hpp"
#include "visualisation/sampling/sampler.hpp"

namespace sidestream::sampling {

/// Largest distance, in cells of level 0, between a cell and a place that it contributes to. The cell may lie at the
/// far end of the place's neighbour cell, and the place at the middle of its own cell.
inline constexpr double reach_in_cells = 1.5;

/// True if a place may be surrounded by cells of several levels: with `linear_cells` on octrees and refinement levels.
[[nodiscard]] bool mixes_levels(const Query& query, const Metadata& metadata);

/// Number of values per place that are interpolated in this way: the components of variables in cells.
[[nodiscard]] std::size_t mixed_count(const Query& query, const Metadata& metadata);

/// Level of each target's finest cell in this server's blocks, one byte each, -1 without one; a pass of its own.
/// `joined_levels`, collective: the same over all servers.
[[nodiscard]] Bytes levels_of(const Query& query, const SamplePoints& targets, const LocalInput& input);
[[nodiscard]] Bytes joined_levels(std::span<const Bytes> partials, std::int64_t targets, Communicator& servers);

/// Adds this server's contributions to each target: a sum for each value, and last the sum of fractions, which is 1 if
/// everything was found. `levels`: from joined_levels.
void add_mixed(const Query& query, const SamplePoints& targets, const LocalInput& input, BytesView levels,
               GridSums& sums);

/// Replaces the values of variables in cells by such sums, where everything was found and the sum is a number.
void take_mixed(const Query& query, const Metadata& metadata, std::span<const ExactSum> sums, std::span<double> values);

}  // namespace sidestream::sampling
