// Fields of numbers around a block: inputs of derived variables and intermediate results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sidestream/data/block.hpp"

namespace sidestream {

/// Points of one line of a region: `count` points along i, starting at `first`.
struct PointLine {
  Index3 first{};
  Index count = 0;
};

/// Calls f(line, offset) for each line of the box; `offset` counts the box's points with i fastest.
template <class F>
void for_each_line(const Box& box, F&& f) {
  if (box.empty()) return;
  Index offset = 0;
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j, offset += box.extent(0)) {
      f(PointLine{{box.lo[0], j, k}, box.extent(0)}, offset);
    }
  }
}

/// Contiguous numbers, i fastest, one component after the other.
struct DerivedField {
  Box box;
  std::vector<std::vector<double>> components{};
  [[nodiscard]] std::size_t offset(const Index3& p) const noexcept {
    return static_cast<std::size_t>(((p[2] - box.lo[2]) * box.extent(1) + (p[1] - box.lo[1])) * box.extent(0) +
                                    (p[0] - box.lo[0]));
  }
};

/// One input in a region around a block, as doubles: the values of the blocks that own the points. A node without an
/// owner here has the block's own value; all other points are NaN.
class InputValues {
 public:
  /// Keeps references. `region`: all that will be requested.
  InputValues(const BlockView& view, const Box& region);
  void read(int component, const PointLine& line, double* out);
  /// The points of the region that have values.
  [[nodiscard]] const std::vector<Box>& there() const noexcept { return there_; }

 private:
  const std::vector<double>& gathered(int component);

  const BlockView& view_;
  Box region_;
  bool direct_;             ///< true if the block's own array has all values of the region
  std::vector<Box> own_{};  ///< points that its own array has
  std::vector<Box> there_{};
  DerivedField field_;
};

/// Tells which points of a region have values of all inputs.
class Presence {
 public:
  Presence(const Box& region, const std::vector<const InputValues*>& inputs);
  /// True if all points of the region have values of all inputs.
  [[nodiscard]] bool complete() const noexcept { return missing_.empty(); }
  [[nodiscard]] bool has(const Index3& p) const noexcept {
    if (!region_.contains(p)) return false;
    if (missing_.empty()) return true;
    return !missing_[static_cast<std::size_t>(((p[2] - region_.lo[2]) * region_.extent(1) + (p[1] - region_.lo[1])) *
                                                  region_.extent(0) +
                                              (p[0] - region_.lo[0]))];
  }

 private:
  Box region_;
  std::vector<bool> missing_{};  ///< empty: none is missing
};

}  // namespace sidestream
