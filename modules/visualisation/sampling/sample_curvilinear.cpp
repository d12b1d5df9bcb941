// Sampling of curvilinear meshes: for each cell, the targets in its bounding box are tested.
#include <algorithm>

#include "visualisation/mesh/cells/cell_shape.hpp"
#include "visualisation/sampling/samplers.hpp"

namespace sidestream::sampling {
namespace {

constexpr std::array cell_types{CellType::line, CellType::pixel, CellType::voxel};  // corners in the order of indices

/// Sampler for one block.
class CurvedSampler {
 public:
  CurvedSampler(const Query& query, const LocalInput& input, const SampledBlock& block, const BlockView& coordinates,
                const SamplePoints& targets, const Sink& sink)
      : query_(query),
        input_(input),
        mesh_(mesh_of(query, input.metadata)),
        block_(block),
        targets_(targets),
        sink_(sink) {
    const Box nodes = points_of(nodes_of(mesh_.dimensions), block.block.cells);
    for (int c = 0; c < mesh_.dimensions; ++c) places_.emplace_back(&coordinates, c, nodes, nodes.count());
    for (std::size_t v = 0; v < query.variables.size(); ++v) {
      const Variable& variable = variable_of(v);
      const Box points = points_of(variable.centering, block.block.cells);
      for (int c = 0; c < variable.components; ++c) values_.emplace_back(block.views[v], c, points, targets.count());
    }
    flags_ = input.find(mesh_.array(Role::cell_ghosts), block.block.id);
    out_.resize(values_.size());
  }

  void find() {
    const Box& cells = block_.block.cells;
    Index3 p;
    for (p[2] = cells.lo[2]; p[2] < cells.hi[2]; ++p[2]) {
      for (p[1] = cells.lo[1]; p[1] < cells.hi[1]; ++p[1]) {
        for (p[0] = cells.lo[0]; p[0] < cells.hi[0]; ++p[0]) look_into(p);
      }
    }
  }

 private:
  [[nodiscard]] const Variable& variable_of(std::size_t v) const {
    return input_.metadata.variables.at(static_cast<std::size_t>(query_.variables[v]));
  }
  [[nodiscard]] std::size_t corners() const { return std::size_t{1} << mesh_.dimensions; }
  [[nodiscard]] static Index3 corner(Index3 p, std::size_t c) {
    for (std::size_t a = 0; a < 3; ++a) p[a] += static_cast<Index>(c >> a & 1);
    return p;
  }

  void look_into(const Index3& cell) {
    if (!is_chosen(query_, block_, cell)) return;
    if (flags_ && *flags_->array.at<std::uint8_t>(cell[0], cell[1], cell[2]) != 0) return;
    std::array<Place, most_corners> at{};
    Place low, high;
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh_.dimensions); ++a) {
      for (std::size_t c = 0; c < corners(); ++c) {
        at[c][a] = places_[a].at(corner(cell, c));
        low[a] = c == 0 ? at[c][a] : std::min(low[a], at[c][a]);
        high[a] = c == 0 ? at[c][a] : std::max(high[a], at[c][a]);
      }
    }
    for (auto a = static_cast<std::size_t>(mesh_.dimensions); a < 3; ++a) low[a] = high[a] = 0;
    widen(low, high);
    const auto type = static_cast<std::uint8_t>(cell_types[static_cast<std::size_t>(mesh_.dimensions) - 1]);
    targets_.within(low, high, [&](std::int64_t target) {
      const auto weights = locate(type, std::span(at.data(), corners()), targets_.at(target));
      if (weights) give(target, cell, *weights);
    });
  }

  void give(std::int64_t target, const Index3& cell, const Weights& weights) {
    std::size_t column = 0;
    for (std::size_t v = 0; v < query_.variables.size(); ++v) {
      const Variable& variable = variable_of(v);
      for (int c = 0; c < variable.components; ++c, ++column) {
        const auto at_corner = [&](std::size_t n) { return values_[column].at(corner(cell, n)); };
        out_[column] = variable.centering == Centering::cell
                           ? values_[column].at(cell)
                           : weighed(std::span(weights).first(corners()), !query_.linear_nodes, at_corner);
      }
    }
    const Box all = mesh_.cells_on(block_.block.level);
    const Index line = (cell[2] - all.lo[2]) * all.extent(1) + cell[1] - all.lo[1];
    const Rank rank{-block_.block.level, line * all.extent(0) + cell[0] - all.lo[0], block_.block.id};
    sink_(target, rank, out_);
  }

  const Query& query_;
  const LocalInput& input_;
  const Mesh& mesh_;
  const SampledBlock& block_;
  const SamplePoints& targets_;
  const Sink& sink_;
  std::vector<PointValues> places_, values_;
  const BlockView* flags_ = nullptr;
  std::vector<double> out_;
};

}  // namespace

void sample_curvilinear(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink) {
  const std::int32_t coordinates = mesh_of(query, input.metadata).array(Role::coordinates);
  for (const SampledBlock& block : blocks_of(query, input)) {
    const BlockView* where = input.find(coordinates, block.block.id);
    if (where == nullptr || block.block.cells.empty() || !is_chosen(query, block))
      continue;  // the coordinates are missing
    CurvedSampler(query, input, block, *where, targets, sink).find();
  }
}

}  // namespace sidestream::sampling
