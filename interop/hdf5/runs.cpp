#include "runs.hpp"

#include <algorithm>
#include <cstddef>

namespace sidestream::interposed {

namespace {

std::vector<Run> runs_of_axes(const SpaceSelection& memory) {
  Index offset = 0;
  std::vector<Run> loops = loops_of(memory, offset), runs;
  if (loops.empty()) return {{offset, 1, 1}};
  Index passes = 1;
  for (std::size_t n = 1; n < loops.size(); ++n) passes *= loops[n].count;
  for (Index pass = 0; pass < passes; ++pass) {
    Index rest = pass, at = offset;
    for (std::size_t n = 1; n < loops.size(); ++n) {
      at += rest % loops[n].count * loops[n].stride;
      rest /= loops[n].count;
    }
    add_run(runs, {at, loops[0].stride, loops[0].count});
  }
  return runs;
}

std::vector<Run> runs_of_points(const SpaceSelection& memory) {
  std::vector<Run> runs;
  const std::size_t axes = memory.size.size();
  for (std::size_t n = 0; n < memory.points.size(); n += axes) {
    Index place = 0;
    for (std::size_t a = 0; a < axes; ++a) place = place * memory.size[a] + memory.points[n + a];
    add_run(runs, {place, 1, 1});
  }
  return runs;
}

}  // namespace

std::vector<Run> loops_of(const SpaceSelection& memory, Index& offset) {
  std::vector<Run> inner_first;
  const auto add = [&](Index count, Index stride) {
    if (count == 1) return;
    if (!inner_first.empty()) {
      Run& inner = inner_first.back();
      if (stride == inner.count * inner.stride) {
        inner.count *= count;
        return;
      }
    }
    inner_first.push_back({0, stride, count});
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

std::vector<Run> runs_of(const SpaceSelection& memory) {
  if (memory.nothing) return {};
  if (memory.kind == Selected::axes) return runs_of_axes(memory);
  if (memory.kind == Selected::points) return runs_of_points(memory);
  std::vector<Run> runs;
  for (const Row& row : rows_of(memory.boxes, memory.size)) add_run(runs, {row.offset, 1, row.count});
  return runs;
}

void add_run(std::vector<Run>& runs, Run run) {
  if (runs.empty()) return runs.push_back(run);
  Run& last = runs.back();
  if (last.count == 1) {  // one value has no stride of its own
    const Index distance = run.offset - last.offset;
    if (run.count == 1 || run.stride == distance) {
      last = {last.offset, distance, run.count + 1};
      return;
    }
  } else if (run.offset == last.offset + last.count * last.stride && (run.count == 1 || run.stride == last.stride)) {
    last.count += run.count;
    return;
  }
  runs.push_back(run);
}

Run RunReader::next(Index most) {
  if (at_end()) return {0, 1, 0};
  const Run& run = runs_[at_];
  const Run found{run.offset + taken_ * run.stride, run.stride, std::min(most, run.count - taken_)};
  taken_ += found.count;
  if (taken_ == run.count) {
    ++at_;
    taken_ = 0;
  }
  return found;
}

bool RunReader::move(Index count, std::vector<Run>& to) {
  while (count > 0) {
    const Run run = next(count);
    if (run.count == 0) return false;
    add_run(to, run);
    count -= run.count;
  }
  return true;
}

std::vector<Row> rows_of(const std::vector<SelectedBox>& boxes, const std::vector<Index>& size) {
  std::vector<Row> rows;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const SelectedBox& box = boxes[b];
    Index count = 1;
    for (std::size_t a = 0; a + 1 < size.size(); ++a) count *= box.count[a];
    for (Index n = 0; n < count; ++n) {
      Index rest = n, offset = box.start.back(), pitch = size.back();
      for (std::size_t a = size.size() - 1; a-- > 0; pitch *= size[a]) {
        offset += (box.start[a] + rest % box.count[a]) * pitch;
        rest /= box.count[a];
      }
      rows.push_back({offset, box.count.back(), b});
    }
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.offset < b.offset; });
  return rows;
}

}  // namespace sidestream::interposed
