#include "visualisation/sampling/cell_finder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
      const SearchedCells::State state = cells->look_at(cell, box.low, box.high);
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

}  // namespace sidestream::sampling
