#include "amr_codec/values/expected_lengths.hpp"

#include <algorithm>
#include <bit>

#include "amr_codec/values/elements.hpp"

namespace sidestream::trees {

namespace length_loops {

/// Weight of the length estimated from the change; each child's length has the weight 1.
constexpr std::uint32_t change_counts = 3;
constexpr std::int32_t most = 16 * 65;

/// Approximates 16 log2(change / parent) from the exponents and the highest bits of the significands; it is linear in
/// between.
SIDESTREAM_WIDE void from_change(const double* __restrict change, const double* __restrict parent, std::size_t count,
                                 std::int32_t digits, std::uint32_t* __restrict sums) {
  for (std::size_t g = 0; g < count; ++g) {
    const auto of_change = static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(change[g]) >> 48 & 0x7fff);
    const auto of_parent = static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(parent[g]) >> 52 & 0x7ff);
    const std::int32_t length = of_change - 16 * of_parent + 16 * digits;
    sums[g] = change_counts * static_cast<std::uint32_t>(std::min(std::max(length, 0), most));
  }
}

SIDESTREAM_WIDE void divide(const std::uint32_t* __restrict sums, std::uint32_t reciprocal, std::size_t count,
                            std::uint16_t* __restrict out) {
  for (std::size_t g = 0; g < count; ++g) out[g] = static_cast<std::uint16_t>(sums[g] * reciprocal >> 16);
}

SIDESTREAM_WIDE void add_all(const std::uint8_t* __restrict kinds, std::size_t count, std::uint32_t* __restrict sums) {
  for (std::size_t g = 0; g < count; ++g) sums[g] += 8u * kinds[g];
}

SIDESTREAM_WIDE void add_slopes(const std::uint8_t* __restrict kinds, const Source* __restrict from,
                                const std::uint16_t* __restrict estimates, std::size_t count,
                                std::uint32_t* __restrict sums) {
  for (std::size_t g = 0; g < count; ++g) sums[g] += from[g] == Source::slope ? 8u * kinds[g] : estimates[g];
}

}  // namespace length_loops

void ExpectedLengths::begin(const double* change, const double* parent, std::size_t count, unsigned digits) {
  count_ = count;
  known_ = change == nullptr ? 0 : length_loops::change_counts;
  if (change == nullptr) {
    std::fill_n(sums_.begin(), count, 0);
  } else {
    length_loops::from_change(change, parent, count, static_cast<std::int32_t>(digits), sums_.data());
  }
}

const LengthEstimates& ExpectedLengths::next() noexcept {
  const std::uint32_t reciprocal = known_ == 0 ? 0 : 65536 / known_;
  length_loops::divide(sums_.data(), reciprocal, count_, estimates_.data());
  return estimates_;
}

void ExpectedLengths::add(const TileSources& tile, const std::uint8_t* kinds) noexcept {
  if (!tile.uniform) {
    length_loops::add_slopes(kinds, tile.from.data(), estimates_.data(), count_, sums_.data());
  } else if (tile.from[0] == Source::slope) {
    length_loops::add_all(kinds, count_, sums_.data());
  } else {
    return;
  }
  ++known_;
}

}  // namespace sidestream::trees
