// Sampling of uniform and rectilinear meshes; the finest level at a place counts.
//
// A target's cell is found by arithmetic (uniform) or binary search (rectilinear), starting at the cell of the previous
// target. Values are interpolated linearly axis by axis, between nodes or between cell centres; points outside the
// block come from its halo. If a neighbour has no value, the cell's own value is taken.
#include <algorithm>
#include <cmath>

#include "sidestream/kit/mesh/point_grid.hpp"
#include "visualisation/contour/marching_cubes_cell.hpp"
#include "visualisation/sampling/samplers.hpp"

namespace sidestream::sampling {
namespace {

struct Found {
  std::int64_t target;
  Index3 cell;
};

Between between_nodes(const LevelAxes& axes, int axis, Index cell, double x, bool linear) {
  const double low = axes.node(axis, cell), high = axes.node(axis, cell + 1);
  const double t = (x - low) / (high - low);
  if (linear) return {cell, cell + 1, t};
  return t <= 0.5 ? Between{cell, cell, 0} : Between{cell + 1, cell + 1, 0};
}

/// Sampler for one block of one level.
class BoxSampler {
 public:
  BoxSampler(const Query& query, const Metadata& metadata, const SampledBlock& block)
      : query_(query),
        metadata_(metadata),
        mesh_(mesh_of(query, metadata)),
        axes_(mesh_, block.block.level),
        block_(block) {}

  /// Samples all targets in the block in batches, so that memory does not grow with their number.
  void run(const SamplePoints& targets, const Sink& sink) {
    constexpr std::size_t together = std::size_t{1} << 16;
    Place low{}, high{};
    const Box& cells = block_.block.cells;
    for (int a = 0; a < mesh_.dimensions; ++a) {
      const auto n = static_cast<std::size_t>(a);
      std::tie(low[n], high[n]) = std::minmax({axes_.node(a, cells.lo[n]), axes_.node(a, cells.hi[n])});
    }
    Index3 cell = cells.lo;
    targets.within(low, high, [&](std::int64_t target) {
      const Place place = targets.at(target);
      for (int a = 0; a < mesh_.dimensions; ++a) {
        cell[static_cast<std::size_t>(a)] =
            axes_.cell_at(a, place[static_cast<std::size_t>(a)], cell[static_cast<std::size_t>(a)]);
      }
      if (!cells.contains(cell)) return;  // on an upper face: belongs to the next block
      if (!is_chosen(query_, block_, cell)) return;
      found_.push_back({target, cell});
      if (found_.size() < together) return;
      give(targets, sink);
      found_.clear();
    });
    if (!found_.empty()) give(targets, sink);
  }

 private:
  void give(const SamplePoints& targets, const Sink& sink) const {
    const std::size_t count = value_count(query_, metadata_);
    std::vector<double> values(count * found_.size());
    std::size_t column = 0;
    for (std::size_t v = 0; v < query_.variables.size(); ++v) {
      const Variable& variable = metadata_.variables.at(static_cast<std::size_t>(query_.variables[v]));
      for (int c = 0; c < variable.components; ++c, ++column) {
        const PointValues points(block_.views[v], c, reach(variable.centering),
                                 static_cast<std::int64_t>(found_.size()));
        for (std::size_t n = 0; n < found_.size(); ++n) {
          values[n * count + column] = value(variable.centering, points, found_[n], targets.at(found_[n].target));
        }
      }
    }
    const Rank rank{-block_.block.level, block_.block.id, 0};
    for (std::size_t n = 0; n < found_.size(); ++n) {
      sink(found_[n].target, rank, std::span(values).subspan(n * count, count));
    }
  }

  /// Box of the points that may be needed for the targets' cells.
  [[nodiscard]] Box reach(Centering centering) const {
    Box box{found_.front().cell, found_.front().cell};
    for (const Found& found : found_) {
      for (std::size_t a = 0; a < 3; ++a) {
        box.lo[a] = std::min(box.lo[a], found.cell[a]);
        box.hi[a] = std::max(box.hi[a], found.cell[a]);
      }
    }
    for (std::size_t a = 0; a < 3; ++a) {
      const bool used = static_cast<int>(a) < mesh_.dimensions;
      const Index wide = used && query_.linear_cells && !at_nodes(centering, static_cast<int>(a)) ? 1 : 0;
      box.lo[a] -= wide;
      box.hi[a] += 1 + std::max<Index>(wide, at_nodes(centering, static_cast<int>(a)) ? 1 : 0);
    }
    return box;
  }

  [[nodiscard]] double value(Centering centering, const PointValues& points, const Found& found,
                             const Place& place) const {
    const double v = value(centering, points, found, place, query_.linear_cells);
    // Next to a finer or coarser level, or to missing values, only the cell's own value is available.
    return query_.linear_cells && std::isnan(v) ? value(centering, points, found, place, false) : v;
  }

  [[nodiscard]] double value(Centering centering, const PointValues& points, const Found& found, const Place& place,
                             bool linear_cells) const {
    std::array<Between, 3> between;
    for (int a = 0; a < 3; ++a) {
      const auto n = static_cast<std::size_t>(a);
      if (a >= mesh_.dimensions || (!at_nodes(centering, a) && !linear_cells)) {
        between[n] = {found.cell[n], found.cell[n], 0};
      } else if (at_nodes(centering, a)) {
        between[n] = between_nodes(axes_, a, found.cell[n], place[n], query_.linear_nodes);
      } else {
        between[n] = between_centres(axes_, a, found.cell[n], place[n]);
      }
    }
    return mixed(points, between, 2, {});
  }

  static double mixed(const PointValues& points, const std::array<Between, 3>& between, int axis, Index3 p) {
    if (axis < 0) return points.at(p);
    const auto n = static_cast<std::size_t>(axis);
    p[n] = between[n].lower;
    const double lower = between[n].t == 1 ? 0 : mixed(points, between, axis - 1, p);
    p[n] = between[n].upper;
    const double upper = between[n].t == 0 ? 0 : mixed(points, between, axis - 1, p);
    return mix(lower, upper, between[n].t);
  }

  const Query& query_;
  const Metadata& metadata_;
  const Mesh& mesh_;
  LevelAxes axes_;
  const SampledBlock& block_;
  std::vector<Found> found_;
};

}  // namespace

Between between_centres(const LevelAxes& axes, int axis, Index cell, double x) {
  const auto a = static_cast<std::size_t>(axis);
  const double centre = axes.position(Centering::cell, axis, cell);
  const bool up = axes.node(axis, cell) <= axes.node(axis, cell + 1);
  const Index lower = (up ? x >= centre : x <= centre) ? cell : cell - 1;
  if (lower < axes.cells().lo[a] || lower + 1 >= axes.cells().hi[a]) return {cell, cell, 0};
  const double low = axes.position(Centering::cell, axis, lower),
               high = axes.position(Centering::cell, axis, lower + 1);
  return {lower, lower + 1, (x - low) / (high - low)};
}

void sample_boxes(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink) {
  for (const SampledBlock& block : blocks_of(query, input)) {
    if (block.block.cells.empty() || !is_chosen(query, block)) continue;
    BoxSampler sampler(query, input.metadata, block);
    sampler.run(targets, sink);
  }
}

}  // namespace sidestream::sampling
