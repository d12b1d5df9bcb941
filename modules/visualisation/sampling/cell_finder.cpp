#include "visualisation/sampling/cell_finder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sidestream::sampling {

namespace {

/// Cells that meet at a face agree about it within 1e-9 of the size of the larger one, which may be many times the
/// smaller one's.
constexpr double least_margin = 1e-6;

bool is_finite(const Place& place) {
  return std::ranges::all_of(place, [](double x) { return std::isfinite(x); });
}

}  // namespace

CellFinder::CellFinder(const Query& query, const LocalInput& input) : scratch_(value_count(query, input.metadata)) {
  constexpr std::int64_t many = std::numeric_limits<std::int64_t>::max() / 128;  // reads: all values are copied
  for_each_block_of_cells(query, input, many, [&](std::unique_ptr<SearchedCells> cells) {
    std::vector<BoxTree::Region> boxes;
    std::vector<std::int64_t> numbers;
    for (Index cell = 0; cell < cells->count(); ++cell) {
      BoxTree::Region box;
      const SearchedCells::State state = cells->bounds_of(cell, box.low, box.high);
      unknown_ += state == SearchedCells::State::unknown ? 1 : 0;
      // A cell without a place contains nothing.
      if (state != SearchedCells::State::searched || !is_finite(box.low) || !is_finite(box.high)) continue;
      boxes.push_back(box);
      numbers.push_back(cell);
    }
    blocks_.push_back({std::move(cells), BoxTree(std::move(boxes), std::move(numbers))});
  });
}

std::optional<CellFinder::Found> CellFinder::at(const Place& place, std::span<double> values) {
  std::optional<Found> found;
  for (Searched& block : blocks_) {
    block.tree.at(place, [&](std::int64_t cell) {
      const auto in = block.cells->take(cell, place, scratch_);
      if (!in || (found && !(in->rank < found->rank))) return;
      found = Found{in->rank, in->margin < least_margin && !in->inner};
      std::copy(scratch_.begin(), scratch_.end(), values.begin());
    });
  }
  return found;
}

namespace {

constexpr std::size_t most_in_leaf = 4;

double middle(const BoxTree::Region& box, std::size_t axis) noexcept {
  return 0.5 * box.low[axis] + 0.5 * box.high[axis];
}

void include(BoxTree::Region& region, const BoxTree::Region& box) noexcept {
  for (std::size_t a = 0; a < 3; ++a) {
    region.low[a] = std::min(region.low[a], box.low[a]);
    region.high[a] = std::max(region.high[a], box.high[a]);
  }
}

/// The axis along which the middles of boxes are spread most.
std::size_t widest_axis(const std::vector<std::size_t>& order, std::size_t begin, std::size_t end,
                        const std::vector<BoxTree::Region>& boxes) {
  std::size_t widest = 0;
  double most = -1;
  for (std::size_t a = 0; a < 3; ++a) {
    double low = middle(boxes[order[begin]], a), high = low;
    for (std::size_t n = begin; n < end; ++n) {
      const double at = middle(boxes[order[n]], a);
      low = std::min(low, at);
      high = std::max(high, at);
    }
    if (high - low <= most) continue;
    most = high - low;
    widest = a;
  }
  return widest;
}

}  // namespace

BoxTree::BoxTree(std::vector<Region> boxes, std::vector<std::int64_t> numbers) {
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (boxes.empty()) return;
  build(order, 0, order.size(), boxes);
  for (const std::size_t n : order) {
    boxes_.push_back(boxes[n]);
    numbers_.push_back(numbers[n]);
  }
}

void BoxTree::build(std::vector<std::size_t>& order, std::size_t begin, std::size_t end,
                    const std::vector<Region>& boxes) {
  const std::size_t me = nodes_.size();
  Node node{boxes[order[begin]], 0, 0, 0};
  for (std::size_t n = begin; n < end; ++n) include(node.region, boxes[order[n]]);
  const bool leaf = end - begin <= most_in_leaf;
  if (leaf) {
    node.begin = begin;
    node.end = end;
  }
  nodes_.push_back(node);
  if (!leaf) {
    const std::size_t axis = widest_axis(order, begin, end, boxes), half = begin + (end - begin) / 2;
    const auto at = [&](std::size_t n) { return order.begin() + static_cast<std::ptrdiff_t>(n); };
    std::nth_element(at(begin), at(half), at(end),
                     [&](std::size_t a, std::size_t b) { return middle(boxes[a], axis) < middle(boxes[b], axis); });
    build(order, begin, half, boxes);
    build(order, half, end, boxes);
  }
  nodes_[me].next = nodes_.size();
}

}  // namespace sidestream::sampling
