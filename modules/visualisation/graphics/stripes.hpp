// Division of a picture among the members of a group, and of the group in rounds of radix-k compositing.
#pragma once

#include <cstdint>
#include <vector>

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

/// Rows of a picture, divided into one stripe for each member, or into as many as there are rows of pixels if there are
/// more members, of which some then have none.
///
/// In each round a group is divided into up to `radix` parts, and goes on as these parts (Peterka et al., "A
/// Configurable Algorithm for Parallel Image-Compositing Applications", SC 2009). Neighbouring stripes go to different
/// parts: what is drawn is often near the middle, and all members get work (Moreland et al., "An Image Compositing
/// Solution at Scale", SC 2011, section 4.3).
class Stripes {
 public:
  static constexpr int usual_radix = 8;

  /// `height`: rows of samples. Stripes end at multiples of `unit` rows, of which `height` is one.
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

}  // namespace sidestream::rendering
