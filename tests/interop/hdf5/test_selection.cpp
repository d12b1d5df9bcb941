// Selections, compared with a list of their values: the n-th one of the file is the n-th one in memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "hdf5/runs.hpp"
#include "hdf5/selection.hpp"

using namespace sidestream;
using namespace sidestream::interposed;

namespace {

using Place = std::vector<Index>;

bool selects(const SpaceSelection& of, const Place& at) {
  bool in_axes = of.kind == Selected::axes;
  for (std::size_t a = 0; in_axes && a < of.axes.size(); ++a) {
    const Axis& axis = of.axes[a];
    const Index from = at[a] - axis.start;
    in_axes = from >= 0 && from / axis.stride < axis.count && from % axis.stride < axis.block;
  }
  return in_axes || std::any_of(of.boxes.begin(), of.boxes.end(), [&](const SelectedBox& box) {
           bool inside = true;
           for (std::size_t a = 0; a < at.size(); ++a) {
             inside = inside && at[a] >= box.start[a] && at[a] < box.start[a] + box.count[a];
           }
           return inside;
         });
}

Index place_in(const std::vector<Index>& size, const Place& at) {
  Index place = 0;
  for (std::size_t a = 0; a < size.size(); ++a) place = place * size[a] + at[a];
  return place;
}

Place place_at(const std::vector<Index>& size, Index place) {
  Place at(size.size());
  for (std::size_t a = size.size(); a-- > 0; place /= size[a]) at[a] = place % size[a];
  return at;
}

/// The selected values in their order, as places in the array: looks at each value of the array.
std::vector<Index> listed(const SpaceSelection& of) {
  std::vector<Index> all;
  for (std::size_t n = 0; n < of.points.size(); n += of.size.size()) {
    const auto from = of.points.begin() + static_cast<std::ptrdiff_t>(n);
    all.push_back(place_in(of.size, {from, from + static_cast<std::ptrdiff_t>(of.size.size())}));
  }
  Index count = 1;
  for (const Index n : of.size) count *= n;
  for (Index n = 0; n < count; ++n) {
    if (selects(of, place_at(of.size, n))) all.push_back(n);
  }
  return all;
}

/// Where memory has each value of the file, by its place there, from the boxes that were chosen.
std::map<Index, Index> found(const std::vector<Index>& size, const std::vector<ChosenBox>& boxes) {
  std::map<Index, Index> all;
  for (const ChosenBox& box : boxes) {
    std::vector<Index> of_runs;
    for (const Run& run : box.runs) {
      for (Index n = 0; n < run.count; ++n) of_runs.push_back(run.offset + n * run.stride);
    }
    Index count = 1;
    for (const Index n : box.count) count *= n;
    if (!box.runs.empty()) REQUIRE(static_cast<Index>(of_runs.size()) == count);
    for (Index n = 0; n < count; ++n) {
      Place at = place_at(box.count, n);
      Index memory = box.runs.empty() ? box.offset : of_runs[static_cast<std::size_t>(n)];
      for (std::size_t a = 0; a < at.size(); ++a) {
        if (box.runs.empty()) memory += at[a] * box.strides[a];
        at[a] += box.start[a];
      }
      CHECK(all.emplace(place_in(size, at), memory).second);
    }
  }
  return all;
}

void check(const SpaceSelection& file, const SpaceSelection& memory, std::size_t count) {
  std::vector<ChosenBox> boxes;
  REQUIRE(choose_boxes(file, memory, boxes) == "");
  CHECK(boxes.size() == count);
  const std::vector<Index> to = listed(file), from = listed(memory);
  REQUIRE(to.size() == from.size());
  std::map<Index, Index> expected;
  for (std::size_t n = 0; n < to.size(); ++n) expected[to[n]] = from[n];
  CHECK(found(file.size, boxes) == expected);
}

SpaceSelection all_of(const std::vector<Index>& size) {
  SpaceSelection made;
  made.size = size;
  for (const Index n : size) made.axes.push_back({0, 1, n, 1});
  return made;
}

SpaceSelection axes_of(const std::vector<Index>& size, const std::vector<Axis>& axes) {
  SpaceSelection made;
  made.size = size;
  made.axes = axes;
  return made;
}

/// A union of boxes as HDF5 lists it: split where others begin and end along all axes but the fastest one.
SpaceSelection union_of(const std::vector<Index>& size, const std::vector<SelectedBox>& boxes) {
  SpaceSelection whole, made;
  whole.size = made.size = size;
  whole.kind = made.kind = Selected::boxes;
  whole.boxes = boxes;
  for (const Index n : listed(whole)) {
    const Place at = place_at(size, n);
    SelectedBox* const last = made.boxes.empty() ? nullptr : &made.boxes.back();
    Place next = last == nullptr ? Place{} : last->start;
    if (last != nullptr) next.back() += last->count.back();
    if (last != nullptr && next == at) {
      ++last->count.back();
    } else {
      made.boxes.push_back({at, Place(size.size(), 1)});
    }
  }
  return made;
}

SpaceSelection points_of(const std::vector<Index>& size, const std::vector<Index>& numbers) {
  SpaceSelection made;
  made.size = size;
  made.kind = Selected::points;
  made.points = numbers;
  return made;
}

const std::vector<Index> grid{6, 5, 8};

}  // namespace

TEST_CASE("a box whose values lie in other axes, with gaps, backwards or anywhere") {
  const SpaceSelection box = axes_of(grid, {{1, 1, 3, 1}, {0, 1, 4, 1}, {2, 1, 5, 1}});
  check(box, all_of({60}), 1);
  check(box, all_of({3, 20}), 1);
  check(box, axes_of({5, 6, 7}, {{1, 1, 3, 1}, {1, 1, 4, 1}, {1, 1, 5, 1}}), 1);
  check(box, axes_of({240}, {{3, 4, 30, 2}}), 1);                  // two values, a gap of two
  check(box, axes_of({2, 40}, {{0, 1, 2, 1}, {4, 1, 30, 1}}), 1);  // a gap in the middle of a row
  std::vector<Index> places(60);
  std::iota(places.begin(), places.end(), 0);
  std::reverse(places.begin(), places.end());
  check(box, points_of({60}, places), 1);
  std::shuffle(places.begin(), places.end(), std::mt19937(5));
  check(box, points_of({60}, places), 1);
}

TEST_CASE("boxes of a union, beside and behind each other") {
  const SelectedBox left{{0, 0, 0}, {4, 5, 3}}, right{{2, 1, 5}, {3, 3, 2}}, far{{5, 4, 7}, {1, 1, 1}};
  check(union_of(grid, {left}), all_of({60}), 1);
  check(union_of(grid, {left, right}), all_of({78}), 2);
  check(union_of(grid, {right, far, left}), all_of({79}), 3);
  check(union_of(grid, {left, right}), axes_of({200}, {{7, 2, 78, 1}}), 2);
  check(union_of(grid, {left, right}), union_of({4, 30}, {{{0, 3}, {3, 20}}, {{3, 1}, {1, 18}}}), 2);
  check(union_of({40}, {{{3}, {5}}, {{10}, {2}}, {{12}, {1}}, {{30}, {9}}}), all_of({17}), 3);
}

TEST_CASE("the boxes between gaps") {
  check(axes_of(grid, {{0, 2, 3, 1}, {0, 1, 5, 1}, {0, 1, 8, 1}}), all_of({120}), 3);
  check(axes_of(grid, {{1, 3, 2, 2}, {0, 1, 5, 1}, {1, 4, 2, 3}}), all_of({120}), 4);
}

TEST_CASE("points that are a box in order") {
  std::vector<Index> numbers;
  for (Index k = 1; k < 3; ++k) {
    for (Index j = 2; j < 5; ++j) numbers.insert(numbers.end(), {k, j, 7});
  }
  check(points_of(grid, numbers), all_of({6}), 1);
  check(points_of(grid, {4, 4, 4}), all_of({1}), 1);
}

TEST_CASE("selections that are no box, and too many boxes") {
  std::vector<ChosenBox> boxes;
  const auto why = [&](const SpaceSelection& file, const SpaceSelection& memory) {
    return choose_boxes(file, memory, boxes);
  };
  CHECK(why(points_of({9, 9}, {0, 0, 2, 3, 5, 4}), all_of({3})).find("no box in order") != std::string::npos);
  CHECK(why(points_of({9, 9}, {0, 1, 0, 0}), all_of({2})).find("no box in order") != std::string::npos);
  CHECK(why(points_of({9, 9}, {0, 0, 1, 0, 0, 1, 1, 1}), all_of({4})).find("no box in order") != std::string::npos);
  CHECK(why(axes_of({64, 64}, {{0, 2, 32, 1}, {0, 2, 32, 1}}), all_of({1024})).find("more than 1000 boxes") !=
        std::string::npos);
  CHECK(why(all_of(grid), all_of({239})).find("other numbers") != std::string::npos);
  CHECK(points_of({9, 9}, {0, 0, 2, 3, 5, 4}).text() == "3 points from [0, 0] to [5, 4]");
  CHECK(axes_of({64}, {{0, 2, 32, 1}}).text() == "start [0], stride [2], count [32], block [1]");
}

TEST_CASE("a single value, and none") {
  std::vector<ChosenBox> boxes;
  check(axes_of({}, {}), axes_of({7}, {{3, 1, 1, 1}}), 1);
  SpaceSelection nothing = all_of(grid);
  nothing.nothing = true;
  CHECK(choose_boxes(nothing, nothing, boxes) == "");
  REQUIRE(boxes.size() == 1);
  CHECK(boxes[0].count == std::vector<Index>{0, 0, 0});
  CHECK(choose_boxes(nothing, all_of({4}), boxes) != "");
}
