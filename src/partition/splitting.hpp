// Cutting a mesh into as many boxes as there are servers.
#pragma once

#include <array>
#include <cstdint>

#include "partition/shares.hpp"
#include "sidestream/data/box.hpp"

namespace sidestream {

enum class Shape { slabs, pencils, bricks };

/// Into how many parts each axis is cut so that `servers` boxes of that shape result. Of all ways the one whose largest
/// box has the fewest cells, then the smallest surface. `axis`: the one that slabs cut, the one that pencils run along.
[[nodiscard]] std::array<std::int64_t, 3> parts_of(Shape shape, int axis, std::int64_t servers, const Box& cells);

/// A box of cells cut into parts along each axis; boxes are numbered with i fastest.
class Splitting {
 public:
  /// `ratio`: how many cells of the level that is asked about lie along one of `cells`, on each axis.
  Splitting(const Box& cells, const std::array<std::int64_t, 3>& parts, const Index3& ratio);
  /// The box of a number, in the level's indices; perhaps empty.
  [[nodiscard]] Box box(std::int64_t number) const noexcept;
  /// Calls f(number, box) for every box that overlaps `cells`, which lie inside, in ascending order of numbers.
  template <class F>
  void overlapping(const Box& cells, F&& f) const {
    Index3 first{}, last{}, at{};
    for (int a = 0; a < 3; ++a) {
      first[a] = part_of(a, cells.lo[a]);
      last[a] = part_of(a, cells.hi[a] - 1);
    }
    for (at[2] = first[2]; at[2] <= last[2]; ++at[2]) {
      for (at[1] = first[1]; at[1] <= last[1]; ++at[1]) {
        for (at[0] = first[0]; at[0] <= last[0]; ++at[0]) f(number(at), box(at));
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t number(const Index3& part) const noexcept {
    return (part[2] * shares_[1].parts() + part[1]) * shares_[0].parts() + part[0];
  }
  [[nodiscard]] Box box(const Index3& part) const noexcept;
  [[nodiscard]] Index part_of(int axis, Index cell) const noexcept;

  Box cells_;
  Index3 ratio_;
  std::array<Shares, 3> shares_;
};

}  // namespace sidestream
