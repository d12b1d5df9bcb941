// How long a difference from a prediction is expected to be, from what a decoder has at that moment.
#pragma once

#include <array>
#include <cstdint>

#include "storage/trees/values/prediction.hpp"

namespace sidestream::trees {

/// In sixteenths of a bit, less than `first_mark`.
using LengthEstimates = std::array<std::uint16_t, tile_groups>;
using LengthRow = std::array<std::uint8_t, tile_groups>;

/// Whose numbers, of a child in each group of a tile.
struct TileSources {
  const std::array<Source, tile_groups>& from;
  bool uniform;
  std::size_t count;
};

/// Goes along with a Predictor: the mean of the lengths of the children before, and of one that follows from how much
/// the parents change around this one.
class ExpectedLengths {
 public:
  /// A tile begins. `change`, as Predictor has it, or null; `digits`: of the type's significand.
  void begin(const double* change, const double* parent, std::size_t count, unsigned digits);
  /// Of the next child. Nothing known: 0.
  [[nodiscard]] const LengthEstimates& next() noexcept;
  /// The kinds (code_table.hpp) of that child: half bits. Those which are not predicted by slopes do not count.
  void add(const TileSources& tile, const std::uint8_t* kinds) noexcept;

 private:
  std::array<std::uint32_t, tile_groups> sums_{};
  LengthEstimates estimates_{};
  std::uint32_t known_ = 0;  ///< how many lengths the sums are of
  std::size_t count_ = 0;
};

}  // namespace sidestream::trees
