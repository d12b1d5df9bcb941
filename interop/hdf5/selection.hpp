// The box of a dataset that a write fills, and the place of its values in memory.
#pragma once

#include <sidestream/data/box.hpp>
#include <string>
#include <vector>

namespace sidestream::interposed {

/// Along one axis: `count` runs of `block` values, one every `stride`.
struct Axis {
  Index start = 0, stride = 1, count = 0, block = 1;
};

/// A selection in the file or in memory. The slowest axis is the first.
struct SpaceSelection {
  std::vector<Index> size{};  ///< of the whole array
  std::vector<Axis> axes{};   ///< empty: a single value, or see `nothing` and `why`
  bool nothing = false;       ///< no value is selected
  std::string why{};          ///< not empty: it is nothing that Axis describes
};

/// A box of a dataset, and where its values lie in memory. Numbers count values.
struct ChosenBox {
  std::vector<Index> start, count;
  Index offset = 0;            ///< of the first value in the program's memory
  std::vector<Index> strides;  ///< along each axis
};

/// Finds the box of a write. Returns why there is none, as "found ..."; empty if there is one. Memory may have other
/// axes than the file, if the values lie at regular distances along each axis of the box.
[[nodiscard]] std::string choose_box(const SpaceSelection& file, const SpaceSelection& memory, ChosenBox& box);

}  // namespace sidestream::interposed
