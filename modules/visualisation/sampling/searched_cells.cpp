// Sampling of curvilinear and unstructured meshes: for each cell, the targets in its bounding box are tested.
#include "visualisation/sampling/searched_cells.hpp"

namespace sidestream::sampling {

void for_each_block_of_cells(const Query& query, const LocalInput& input, std::int64_t reads,
                             const std::function<void(std::unique_ptr<SearchedCells>)>& f) {
  const bool list = mesh_of(query, input.metadata).is_list();
  for (SampledBlock& block : blocks_of(query, input)) {
    if (block.block.cells.empty() || (!list && !is_chosen(query, block))) continue;
    auto cells = list ? unstructured_cells(query, input, std::move(block))
                      : curvilinear_cells(query, input, std::move(block), reads);
    if (cells) f(std::move(cells));
  }
}

std::int64_t sample_cells(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink) {
  std::int64_t unknown = 0;
  std::vector<double> values(value_count(query, input.metadata));
  for_each_block_of_cells(query, input, targets.count(), [&](const std::unique_ptr<SearchedCells>& cells) {
    Place low, high;
    for (Index cell = 0; cell < cells->count(); ++cell) {
      const SearchedCells::State state = cells->look_at(cell, low, high);
      if (state == SearchedCells::State::unknown) unknown += targets.any_within(low, high) ? 1 : 0;
      if (state != SearchedCells::State::searched) continue;
      targets.within(low, high, [&](std::int64_t target) {
        if (const auto found = cells->take(cell, targets.at(target), values)) sink(target, found->rank, values);
      });
    }
  });
  return unknown;
}

}  // namespace sidestream::sampling
