// Combination of the pictures of all servers, by radix-k compositing.
// Stripes divides a picture among the members of a group, and the group in rounds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sidestream/data/result.hpp"
#include "sidestream/extend/communicator.hpp"
#include "visualisation/graphics/drawing.hpp"

namespace sidestream::rendering {

/// Members `first` to `first + count` of a group.
struct Members {
  int first = 0, count = 1;
  [[nodiscard]] bool contains(int member) const noexcept { return member >= first && member - first < count; }
};

/// Rows of samples, from the first to before the last.
struct Stripe {
  std::int64_t first_row = 0, end_row = 0;
  [[nodiscard]] std::int64_t rows() const noexcept { return end_row - first_row; }
};

/// Rows of a picture, divided into one stripe for each member, or into as many as there are rows of pixels; further
/// members then have none.
///
/// In each round a group is divided into up to `radix` parts, which continue as groups (Peterka et al., "A Configurable
/// Algorithm for Parallel Image-Compositing Applications", SC 2009). Neighbouring stripes go to different parts: the
/// middle of a picture is often fullest, and all members get work (Moreland et al., "An Image Compositing Solution at
/// Scale", SC 2011, section 4.3).
class Stripes {
 public:
  static constexpr int usual_radix = 8;

  /// `height`: rows of samples, a multiple of `unit`. Stripes end at multiples of `unit` rows.
  Stripes(std::int64_t height, std::int64_t unit, int members, int radix = usual_radix);

  [[nodiscard]] std::int64_t height() const noexcept { return units_ * unit_; }
  /// The rows that a member completes; none for some members of large groups.
  [[nodiscard]] Stripe of(int member) const;
  /// The member that completes a row, 0 <= row < height().
  [[nodiscard]] int owner(std::int64_t row) const noexcept { return owners_[static_cast<std::size_t>(row / unit_)]; }
  /// Members with stripes, in the order of their rows.
  [[nodiscard]] std::vector<int> members_by_row() const;

  /// Rounds until each part is one member.
  [[nodiscard]] int rounds() const noexcept;
  /// The parts into which a round divides a group of more than one member. The first ones have one member more if the
  /// division leaves a remainder.
  [[nodiscard]] std::vector<Members> parts_of(const Members& group) const;

 private:
  void deal(const Members& group, std::int64_t stripe, std::int64_t stride);
  [[nodiscard]] std::int64_t first_unit(std::int64_t stripe) const noexcept { return units_ * stripe / stripes_; }

  std::int64_t unit_, units_, stripes_;
  int members_, radix_;
  std::vector<int> owners_;  ///< by unit of rows: there may be many more members
};

/// Composites pictures. Collective. `partials` are encoded drawings, any number on each member, of a picture that is
/// `width` samples wide with `samples` along each axis of a pixel; `stripes` divides its rows among the members. Each
/// member returns its own stripe, complete. It sends at most radix - 1 messages in each of the rounds, whose number
/// grows with the logarithm of the group's size.
[[nodiscard]] Drawing composite(std::span<const Bytes> partials, std::int64_t width, int samples,
                                const Stripes& stripes, Communicator& communicator);

// Conversion of samples to pixels.

/// The background, where nothing is drawn: one colour, or a gradient from the first to the last row.
struct Background {
  Colour top, bottom;
  [[nodiscard]] Colour at(std::int64_t row, std::int64_t height) const {
    if (top == bottom || height < 2) return top;
    return mix(top, bottom, static_cast<double>(row) / static_cast<double>(height - 1));
  }
};

/// The numbers for seeing translucent samples and volumes.
struct Translucency {
  std::array<double, 256> opacity;  ///< by layer of a sample, 0 to 1
  const Camera* camera = nullptr;   ///< the drawing's
  std::optional<DepthSlabs> slabs;  ///< of the volumes, if there are any
};

/// Converts a stripe of a picture of `height` pixel rows. Each sample is the light of its translucent samples and slabs
/// in front of the opaque sample, from front to back, and each pixel is the mean light of its samples. The stripe's
/// records are put in order. Returns red, green, blue, alpha from the stripe's first row on.
[[nodiscard]] std::vector<std::uint8_t> resolve(Drawing& stripe, std::int64_t height, const Background& background,
                                                const Translucency& translucency);

}  // namespace sidestream::rendering
