// Sampling of curvilinear and unstructured meshes: for each cell, the targets in its bounding box are tested.
// Cells of curvilinear meshes are numbered within their block, fastest along the first axis.
#include "visualisation/sampling/searched_cells.hpp"

#include <algorithm>

#include "visualisation/mesh/cells/cell_shape.hpp"

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
      const SearchedCells::State state = cells->bounds_of(cell, low, high);
      if (state == SearchedCells::State::unknown) unknown += targets.any_within(low, high) ? 1 : 0;
      if (state != SearchedCells::State::searched) continue;
      targets.within(low, high, [&](std::int64_t target) {
        if (const auto found = cells->take(cell, targets.at(target), values)) sink(target, found->rank, values);
      });
    }
  });
  return unknown;
}

namespace {

constexpr std::array cell_types{CellType::line, CellType::pixel, CellType::voxel};  // corners in the order of indices

class CurvilinearCells final : public SearchedCells {
 public:
  CurvilinearCells(const Query& query, const LocalInput& input, SampledBlock block, const BlockView& coordinates,
                   std::int64_t reads)
      : query_(query), input_(input), mesh_(mesh_of(query, input.metadata)), block_(std::move(block)) {
    const Box nodes = points_of(nodes_of(mesh_.dimensions), block_.block.cells);
    for (int c = 0; c < mesh_.dimensions; ++c) places_.emplace_back(&coordinates, c, nodes, nodes.count());
    for (std::size_t v = 0; v < query.variables.size(); ++v) {
      const Variable& variable = variable_of(v);
      const Box points = points_of(variable.centering, block_.block.cells);
      for (int c = 0; c < variable.components; ++c) values_.emplace_back(block_.views[v], c, points, reads);
    }
    flags_ = input.find(mesh_.array(Role::cell_ghosts), block_.block.id);
  }

  Index count() const noexcept override { return block_.block.cells.count(); }

  State bounds_of(Index number, Place& low, Place& high) override {
    const Index3 cell = cell_of(number);
    if (!is_chosen(query_, block_, cell)) return State::left_out;
    if (flags_ && *flags_->array.at<std::uint8_t>(cell[0], cell[1], cell[2]) != 0) return State::left_out;
    low = high = {};
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh_.dimensions); ++a) {
      for (std::size_t c = 0; c < corners(); ++c) {
        const double at = places_[a].at(corner(cell, c));
        low[a] = c == 0 ? at : std::min(low[a], at);
        high[a] = c == 0 ? at : std::max(high[a], at);
      }
    }
    widen(low, high);
    return State::searched;
  }

  std::optional<InCell> take(Index number, const Place& place, std::span<double> values) override {
    const Index3 cell = cell_of(number);
    std::array<Place, most_corners> at{};
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh_.dimensions); ++a) {
      for (std::size_t c = 0; c < corners(); ++c) at[c][a] = places_[a].at(corner(cell, c));
    }
    const auto type = static_cast<std::uint8_t>(cell_types[static_cast<std::size_t>(mesh_.dimensions) - 1]);
    const auto found = locate(type, std::span(at.data(), corners()), place);
    if (!found) return std::nullopt;
    std::size_t column = 0;
    for (std::size_t v = 0; v < query_.variables.size(); ++v) {
      const Variable& variable = variable_of(v);
      for (int c = 0; c < variable.components; ++c, ++column) {
        const auto at_corner = [&](std::size_t n) { return values_[column].at(corner(cell, n)); };
        values[column] = variable.centering == Centering::cell
                             ? values_[column].at(cell)
                             : weighed(std::span(found->weights).first(corners()), !query_.linear_nodes, at_corner);
      }
    }
    return InCell{rank_of(cell), found->margin, is_inner(cell)};
  }

 private:
  [[nodiscard]] const Variable& variable_of(std::size_t v) const {
    return input_.metadata.variables.at(static_cast<std::size_t>(query_.variables[v]));
  }
  [[nodiscard]] Index3 cell_of(Index number) const {
    const Box& cells = block_.block.cells;
    const Index row = number / cells.extent(0);
    return {cells.lo[0] + number % cells.extent(0), cells.lo[1] + row % cells.extent(1),
            cells.lo[2] + row / cells.extent(1)};
  }
  [[nodiscard]] std::size_t corners() const { return std::size_t{1} << mesh_.dimensions; }
  [[nodiscard]] static Index3 corner(Index3 p, std::size_t c) {
    for (std::size_t a = 0; a < 3; ++a) p[a] += static_cast<Index>(c >> a & 1);
    return p;
  }
  [[nodiscard]] Rank rank_of(const Index3& cell) const {
    const Box all = mesh_.cells_on(block_.block.level);
    const Index line = (cell[2] - all.lo[2]) * all.extent(1) + cell[1] - all.lo[1];
    return {-block_.block.level, line * all.extent(0) + cell[0] - all.lo[0], block_.block.id};
  }
  [[nodiscard]] bool is_inner(const Index3& cell) const {
    const Box& cells = block_.block.cells;
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh_.dimensions); ++a) {
      if (cell[a] == cells.lo[a] || cell[a] + 1 == cells.hi[a]) return false;
    }
    return true;
  }

  const Query& query_;
  const LocalInput& input_;
  const Mesh& mesh_;
  const SampledBlock block_;
  std::vector<PointValues> places_, values_;
  const BlockView* flags_ = nullptr;
};

}  // namespace

std::unique_ptr<SearchedCells> curvilinear_cells(const Query& query, const LocalInput& input, SampledBlock block,
                                                 std::int64_t reads) {
  const BlockView* where = input.find(mesh_of(query, input.metadata).array(Role::coordinates), block.block.id);
  if (where == nullptr) return nullptr;
  return std::make_unique<CurvilinearCells>(query, input, std::move(block), *where, reads);
}

}  // namespace sidestream::sampling
