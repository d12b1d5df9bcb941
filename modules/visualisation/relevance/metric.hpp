// Metrics of blocks: numbers that are high where much happens.
#pragma once

#include <cstdint>

#include "sidestream/data/mesh.hpp"
#include "visualisation/relevance/block_values.hpp"

namespace sidestream {

enum class BlockMetric : std::int32_t { variance, range, gradient, entropy };

/// The counting of values for the entropy: in equal bins from `low` to `high`.
struct EntropyBins {
  std::int64_t count = 64;
  double low = 0, high = 0;
};

/// The metric of a block's cells that count; infinite, so that the block is kept, if it has NaN or an infinity, or if
/// its values are so large that differences overflow. Sums are in the order of cells.
/// - variance: the mean square of the distance from the mean
/// - range: the greatest value minus the least
/// - gradient: over the axes, the root of the sum of mean squares of the slopes between centres of adjacent cells
/// - entropy: of the distribution of values over the bins, in bits
[[nodiscard]] double metric_of(BlockMetric metric, const BlockValues& block, const Mesh& mesh, const EntropyBins& bins);

}  // namespace sidestream
