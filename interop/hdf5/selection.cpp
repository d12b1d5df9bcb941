// HDF5 takes the n-th selected value in memory for the n-th selected one of the file. So:
//
//   list the memory's selection as nested loops (count, stride), slowest first; join loops that continue each other
//   for each axis of the box in the file, fastest first: split its count off the innermost loop that is left
#include "selection.hpp"

#include <cstddef>

namespace sidestream::interposed {

namespace {

/// A loop over values in memory.
struct Loop {
  Index count = 1, stride = 0;
};

/// The loops of a selection without those of one pass, and the place of the first value.
std::vector<Loop> loops_of(const SpaceSelection& memory, Index& offset) {
  std::vector<Loop> inner_first;
  const auto add = [&](Index count, Index stride) {
    if (count == 1) return;
    if (!inner_first.empty()) {
      Loop& inner = inner_first.back();
      if (stride == inner.count * inner.stride) {
        inner.count *= count;
        return;
      }
    }
    inner_first.push_back({count, stride});
  };
  Index pitch = 1;
  offset = 0;
  for (std::size_t a = memory.axes.size(); a-- > 0;) {
    const Axis& axis = memory.axes[a];
    offset += axis.start * pitch;
    add(axis.block, pitch);
    add(axis.count, axis.stride * pitch);
    pitch *= memory.size[a];
  }
  return inner_first;
}

}  // namespace

std::string choose_box(const SpaceSelection& file, const SpaceSelection& memory, ChosenBox& box) {
  if (!file.why.empty()) return "found " + file.why + " in the file";
  if (!memory.why.empty()) return "found " + memory.why + " in memory";
  box = {};
  for (const Axis& axis : file.axes) {
    const bool one_run = axis.count == 1 || axis.stride == axis.block;
    if (!one_run) return "found a selection with gaps in the file";
    box.start.push_back(axis.start);
    box.count.push_back(file.nothing ? 0 : axis.count * axis.block);
  }
  box.strides.assign(box.count.size(), 1);
  if (file.nothing || memory.nothing) {
    box.start.assign(file.size.size(), 0);
    box.count.assign(file.size.size(), 0);
    box.strides.assign(file.size.size(), 1);
    return file.nothing == memory.nothing ? "" : "found other numbers of values in memory and in the file";
  }
  std::vector<Loop> loops = loops_of(memory, box.offset);
  std::size_t at = 0;
  for (std::size_t a = box.count.size(); a-- > 0;) {
    const Index count = box.count[a];
    if (count == 1) continue;
    if (at == loops.size()) return "found other numbers of values in memory and in the file";
    Loop& loop = loops[at];
    if (loop.count % count != 0) return "found values in memory that do not lie at regular distances";
    box.strides[a] = loop.stride;
    loop.count /= count;
    loop.stride *= count;
    if (loop.count == 1) ++at;
  }
  return at == loops.size() ? "" : "found other numbers of values in memory and in the file";
}

}  // namespace sidestream::interposed
