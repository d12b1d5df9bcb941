// The boxes of a dataset that a write fills, and the places of their values in memory.
#pragma once

#include <sidestream/data/box.hpp>
#include <string>
#include <vector>

namespace sidestream::interposed {

/// Along one axis: `count` runs of `block` values, one every `stride`.
struct Axis {
  Index start = 0, stride = 1, count = 0, block = 1;
};

/// A box of an array, along each axis, the slowest first.
struct SelectedBox {
  std::vector<Index> start, count;
};

/// The list that describes a selection.
enum class Selected {
  axes,    ///< `axes`; without axes: a single value
  boxes,   ///< `boxes`: a union, without common values
  points,  ///< `points`: a list of single values
};

/// A selection in the file or in memory. The slowest axis is the first.
struct SpaceSelection {
  std::vector<Index> size{};  ///< of the whole array
  Selected kind = Selected::axes;
  std::vector<Axis> axes{};
  std::vector<SelectedBox> boxes{};
  std::vector<Index> points{};  ///< the indices of the first point, of the second one, ...
  bool nothing = false;         ///< no value is selected
  std::string why{};            ///< not empty: it is none of this

  [[nodiscard]] Index values() const;
  /// In words, for sentences: "3 points from [0, 0] to [5, 4]".
  [[nodiscard]] std::string text() const;
};

/// Values that follow each other in memory, one every `stride` values.
struct Run {
  Index offset = 0, stride = 1, count = 0;
};

/// A box of a dataset, and where its values lie in memory. Numbers count values.
struct ChosenBox {
  std::vector<Index> start, count;
  Index offset = 0;            ///< of the first value in the program's memory
  std::vector<Index> strides;  ///< along each axis
  /// Not empty: the values lie at no regular distances, but like this, in the box's order.
  std::vector<Run> runs{};
};

/// Boxes of one write. More would be of no use as blocks.
constexpr std::size_t most_boxes = 1000;

/// Finds the boxes of a write. Returns why there are none, as "found ..."; empty if there are. If nothing is written,
/// there is one box without values.
[[nodiscard]] std::string choose_boxes(const SpaceSelection& file, const SpaceSelection& memory,
                                       std::vector<ChosenBox>& boxes);

}  // namespace sidestream::interposed
