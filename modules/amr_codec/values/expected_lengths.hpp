// Estimates the length of a residual from values that a decoder already knows.
#pragma once

#include <array>
#include <cstdint>

#include "amr_codec/values/prediction.hpp"

namespace sidestream::trees {

/// Lengths in sixteenths of a bit, below `first_mark`.
using LengthEstimates = std::array<std::uint16_t, tile_groups>;
using LengthRow = std::array<std::uint8_t, tile_groups>;

/// The sources of the predictions of one child in all groups of a tile.
struct TileSources {
  const std::array<Source, tile_groups>& from;
  bool uniform;
  std::size_t count;
};

/// Estimates a length as the average of the earlier children's lengths and of one estimated from the change between the
/// parents around this one. Takes the same steps as a Predictor.
class ExpectedLengths {
 public:
  /// Begins a tile. `change`: as in Predictor, or null; `digits`: bits of the type's significand.
  void begin(const double* change, const double* parent, std::size_t count, unsigned digits);
  /// The estimates for the next child; 0 if nothing is known.
  [[nodiscard]] const LengthEstimates& next() noexcept;
  /// Adds the kinds (code_table.hpp) of that child, in half bits. Only predictions by slopes count.
  void add(const TileSources& tile, const std::uint8_t* kinds) noexcept;

 private:
  std::array<std::uint32_t, tile_groups> sums_{};
  LengthEstimates estimates_{};
  std::uint32_t known_ = 0;  ///< number of lengths in each sum
  std::size_t count_ = 0;
};

}  // namespace sidestream::trees
