// HDF5 takes the n-th selected value in memory for the n-th selected one of the file. So:
//
//   one box, and nested loops over memory: each axis of the box, the fastest first, takes its count from the innermost
//     loop that is left
//   otherwise: the rows of all boxes, in the file's order, take the next values in memory; boxes whose values then lie
//     at regular distances get strides
#include "selection.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "runs.hpp"

namespace sidestream::interposed {

namespace {

constexpr const char* other_numbers = "found other numbers of values in memory and in the file";

std::string list_of(const std::vector<Index>& numbers) {
  std::string text = "[";
  for (const Index n : numbers) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

Index product_of(const std::vector<Index>& numbers) {
  Index product = 1;
  for (const Index n : numbers) product *= n;
  return product;
}

bool is_box(const SpaceSelection& file) {
  return std::all_of(file.axes.begin(), file.axes.end(),
                     [](const Axis& axis) { return axis.count == 1 || axis.stride == axis.block; });
}

/// The boxes between the gaps of a regular selection, or one box if there are none.
void add_boxes(const SpaceSelection& file, std::vector<SelectedBox>& boxes) {
  boxes.assign(1, {});
  for (const Axis& axis : file.axes) {
    const bool gaps = axis.count > 1 && axis.stride != axis.block;
    std::vector<SelectedBox> more;
    for (const SelectedBox& box : boxes) {
      for (Index n = 0; n < (gaps ? axis.count : 1); ++n) {
        SelectedBox& longer = more.emplace_back(box);
        longer.start.push_back(axis.start + n * axis.stride);
        longer.count.push_back(gaps ? axis.block : axis.count * axis.block);
      }
    }
    boxes.swap(more);
  }
}

/// True if boxes are the same along all axes but one.
bool same_across(const SelectedBox& a, const SelectedBox& b, std::size_t axis) {
  for (std::size_t x = 0; x < a.start.size(); ++x) {
    if (x != axis && (a.start[x] != b.start[x] || a.count[x] != b.count[x])) return false;
  }
  return true;
}

/// Makes one of boxes that continue each other along an axis.
void join_along(std::size_t axis, std::vector<SelectedBox>& boxes) {
  std::sort(boxes.begin(), boxes.end(), [axis](const SelectedBox& a, const SelectedBox& b) {
    for (std::size_t x = 0; x < a.start.size(); ++x) {
      if (x == axis) continue;
      if (a.start[x] != b.start[x]) return a.start[x] < b.start[x];
      if (a.count[x] != b.count[x]) return a.count[x] < b.count[x];
    }
    return a.start[axis] < b.start[axis];
  });
  std::vector<SelectedBox> joined;
  for (SelectedBox& box : boxes) {
    SelectedBox* const last = joined.empty() ? nullptr : &joined.back();
    if (last != nullptr && same_across(*last, box, axis) && last->start[axis] + last->count[axis] == box.start[axis]) {
      last->count[axis] += box.count[axis];
    } else {
      joined.push_back(std::move(box));
    }
  }
  boxes.swap(joined);
}

/// The box whose values a list of points names one after the other; false: it is none.
bool box_of_points(const SpaceSelection& file, SelectedBox& box) {
  const std::size_t axes = file.size.size(), numbers = file.points.size();
  box.start.assign(file.points.begin(), file.points.begin() + static_cast<std::ptrdiff_t>(axes));
  for (std::size_t a = 0; a < axes; ++a) {
    box.count.push_back(file.points[numbers - axes + a] - box.start[a] + 1);
    if (box.count.back() < 1) return false;
  }
  if (product_of(box.count) != file.values()) return false;
  std::vector<Index> expected = box.start;
  for (std::size_t n = 0; n < numbers; n += axes) {
    if (!std::equal(expected.begin(), expected.end(), file.points.begin() + static_cast<std::ptrdiff_t>(n)))
      return false;
    for (std::size_t a = axes; a-- > 0;) {
      if (++expected[a] < box.start[a] + box.count[a]) break;
      expected[a] = box.start[a];
    }
  }
  return true;
}

/// The boxes that a selection fills; says why there are none.
std::string boxes_of(const SpaceSelection& file, std::vector<SelectedBox>& boxes) {
  if (file.kind == Selected::points) {
    boxes.assign(1, {});
    return box_of_points(file, boxes.front()) ? "" : "found single points that are no box in order in the file";
  }
  Index between_gaps = 1;
  for (const Axis& axis : file.axes) {
    if (axis.count > 1 && axis.stride != axis.block && between_gaps <= static_cast<Index>(most_boxes)) {
      between_gaps *= axis.count;
    }
  }
  if (between_gaps <= static_cast<Index>(most_boxes)) {
    boxes = file.boxes;
    if (file.kind == Selected::axes) add_boxes(file, boxes);
    // HDF5 splits boxes where others begin and end, along each axis but the fastest one.
    for (std::size_t a = file.size.size(); file.kind == Selected::boxes && a-- > 0;) join_along(a, boxes);
    if (boxes.size() <= most_boxes) return "";
  }
  return "found more than " + std::to_string(most_boxes) + " boxes in the file";
}

/// Finds the strides of a box whose values lie in nested loops; false: there are none.
bool find_strides(const SelectedBox& filled, const SpaceSelection& memory, ChosenBox& box) {
  box = {filled.start, filled.count, 0, std::vector<Index>(filled.count.size(), 1)};
  std::vector<Run> loops = loops_of(memory, box.offset);
  std::size_t at = 0;
  for (std::size_t a = box.count.size(); a-- > 0;) {
    const Index count = box.count[a];
    if (count == 1) continue;
    if (at == loops.size()) return false;
    Run& loop = loops[at];
    if (loop.count % count != 0) return false;
    box.strides[a] = loop.stride;
    loop.count /= count;
    loop.stride *= count;
    if (loop.count == 1) ++at;
  }
  return at == loops.size();
}

/// The place of the n-th value of a box.
Index place_of(const std::vector<Run>& runs, Index n) {
  for (const Run& run : runs) {
    if (n < run.count) return run.offset + n * run.stride;
    n -= run.count;
  }
  return 0;
}

/// Gives a box strides instead of runs if its values lie at regular distances.
void find_strides(ChosenBox& box) {
  const std::size_t axes = box.count.size();
  const Index row = axes == 0 ? 1 : box.count.back(), rows = product_of(box.count) / row;
  Index step = 1;
  box.offset = place_of(box.runs, 0);
  box.strides.assign(axes, 1);
  for (std::size_t a = axes; a-- > 0; step *= box.count[a]) {
    if (box.count[a] > 1) box.strides[a] = place_of(box.runs, step) - box.offset;
  }
  RunReader reader(box.runs);
  for (Index r = 0; r < rows; ++r) {
    Index expected = box.offset, rest = r;
    for (std::size_t a = axes; a-- > 0;) {
      if (a + 1 == axes) continue;
      expected += rest % box.count[a] * box.strides[a];
      rest /= box.count[a];
    }
    for (Index left = row; left > 0;) {
      const Run run = reader.next(left);
      if (run.offset != expected || (run.count > 1 && run.stride != box.strides.back())) return;
      expected += run.count * (axes == 0 ? 1 : box.strides.back());
      left -= run.count;
    }
  }
  box.runs.clear();
}

/// Gives each box its values.
bool distribute(const std::vector<SelectedBox>& filled, const std::vector<Index>& size, const std::vector<Run>& runs,
                std::vector<ChosenBox>& boxes) {
  for (const SelectedBox& box : filled) boxes.push_back({box.start, box.count, 0, {}, {}});
  RunReader reader(runs);
  bool enough = true;
  if (filled.size() == 1) {
    enough = reader.move(product_of(filled[0].count), boxes[0].runs);
  } else {
    for (const Row& row : rows_of(filled, size)) enough = enough && reader.move(row.count, boxes[row.box].runs);
  }
  if (!enough || !reader.at_end()) return false;
  for (ChosenBox& box : boxes) find_strides(box);
  return true;
}

}  // namespace

Index SpaceSelection::values() const {
  if (nothing) return 0;
  Index count = kind == Selected::axes ? 1 : 0;
  for (const Axis& axis : axes) count *= axis.count * axis.block;
  for (const SelectedBox& box : boxes) count += product_of(box.count);
  return count + static_cast<Index>(size.empty() ? 0 : points.size() / size.size());
}

std::string SpaceSelection::text() const {
  const std::size_t rank = size.size();
  if (!why.empty()) return why;
  if (nothing) return "nothing";
  if (kind == Selected::boxes) {
    return std::to_string(values()) + " values in " + std::to_string(boxes.size()) + " boxes, the first one from " +
           list_of(boxes.front().start) + " with " + list_of(boxes.front().count) + " values";
  }
  if (kind == Selected::points) {
    const auto end = static_cast<std::ptrdiff_t>(rank);
    return std::to_string(points.size() / rank) + " points from " + list_of({points.begin(), points.begin() + end}) +
           " to " + list_of({points.end() - end, points.end()});
  }
  std::vector<Index> start, stride, count, block;
  for (const Axis& axis : axes) {
    start.push_back(axis.start);
    stride.push_back(axis.stride);
    count.push_back(axis.count);
    block.push_back(axis.block);
  }
  if (is_box(*this)) return "the box from " + list_of(start) + " with " + std::to_string(values()) + " values";
  return "start " + list_of(start) + ", stride " + list_of(stride) + ", count " + list_of(count) + ", block " +
         list_of(block);
}

std::string choose_boxes(const SpaceSelection& file, const SpaceSelection& memory, std::vector<ChosenBox>& boxes) {
  boxes.clear();
  if (!file.why.empty()) return "found " + file.why + " in the file";
  if (!memory.why.empty()) return "found " + memory.why + " in memory";
  if (file.nothing || memory.nothing) {
    const std::vector<Index> none(file.size.size(), 0);
    boxes.push_back({none, none, 0, std::vector<Index>(file.size.size(), 1), {}});
    return file.nothing == memory.nothing ? "" : other_numbers;
  }
  if (file.values() != memory.values()) return other_numbers;
  std::vector<SelectedBox> filled;
  std::string why = boxes_of(file, filled);
  if (!why.empty()) return why;
  ChosenBox box;
  if (filled.size() == 1 && memory.kind == Selected::axes && find_strides(filled[0], memory, box)) {
    boxes.push_back(std::move(box));
    return "";
  }
  return distribute(filled, file.size, runs_of(memory), boxes) ? "" : other_numbers;
}

}  // namespace sidestream::interposed
