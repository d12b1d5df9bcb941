// Numbers around a block: of what derived variables are computed from, and of what is on the way to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sidestream/data/block.hpp"

namespace sidestream {

/// Points of one line of a region: `count` along i from `first` on.
struct PointLine {
  Index3 first{};
  Index count = 0;
};

/// Calls f(line, offset) for each line of the box; `offset` counts points of the box with i fastest.
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

/// Gapless numbers, i fastest, one component after the other.
struct DerivedField {
  Box box;
  std::vector<std::vector<double>> components{};
  [[nodiscard]] std::size_t offset(const Index3& p) const noexcept {
    return static_cast<std::size_t>(((p[2] - box.lo[2]) * box.extent(1) + (p[1] - box.lo[1])) * box.extent(0) +
                                    (p[0] - box.lo[0]));
  }
};

/// One input in a region round a block, as doubles: what the block's owners published, wherever there is an owner; a
/// node that none has here as the block itself has it; else NaN.
class InputValues {
 public:
  /// Keeps references. `region`: that will be asked for.
  InputValues(const BlockView& view, const Box& region);
  void read(int component, const PointLine& line, double* out);
  /// The points of the region for which there are values.
  [[nodiscard]] const std::vector<Box>& there() const noexcept { return there_; }

 private:
  const std::vector<double>& gathered(int component);

  const BlockView& view_;
  Box region_;
  bool direct_;             ///< the block's own array has all, as it should be
  std::vector<Box> own_{};  ///< what its array has
  std::vector<Box> there_{};
  DerivedField field_;
};

/// Which points of a region have values of all inputs.
class Presence {
 public:
  Presence(const Box& region, const std::vector<const InputValues*>& inputs);
  /// Whether all of the region has.
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
  std::vector<bool> missing_{};  ///< empty: none is
};

}  // namespace sidestream
