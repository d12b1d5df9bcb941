// Integrals and means of a variable along an axis.
//
// Each server adds up its blocks' contributions to columns exactly, and sends the sums to the servers that own the rows
// of the result. These add them exactly, too, and round once, so that the result is the same bytes however the mesh is
// divided. For the definition of projections of data on refinement levels see "yt: A Multi-code Analysis Toolkit for
// Astrophysical Simulation Data" (Turk et al., 2011).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/mesh/chosen_runs.hpp"
#include "sidestream/kit/mesh/owned_leaves.hpp"
#include "visualisation/kinds.hpp"
#include "visualisation/projection/column_sums.hpp"
#include "visualisation/projection/heat_map.hpp"
#include "visualisation/projection/projection_query.hpp"

namespace sidestream {

namespace {

/// A leaf and its column, on the leaf's own level, or on the result's if that is coarser.
struct Leaf {
  std::int32_t level;
  std::array<Index, 2> column;
  Index number;
};

class TreeColumns {
 public:
  TreeColumns(const ProjectionQuery& query, const ProjectionGrid& grid, const Mesh& mesh, const BlockView& view,
              const BlockView* weight, ColumnSums& out)
      : query_(query), grid_(grid), view_(view), weight_(weight), out_(out) {
    const auto& tree = dynamic_cast<const OctreeGeometry&>(*mesh.geometry);
    width_ = std::fabs(tree.spacing()[static_cast<std::size_t>(query.axis)]);
  }

  void add(const TreeCell& cell, Index number) {
    Leaf leaf{cell.level, {0, 0}, number};
    const int finer = std::max(0, cell.level - query_.level);
    for (std::size_t n = 0; n < grid_.left().size(); ++n) {
      leaf.column[n] = cell.index[static_cast<std::size_t>(grid_.left()[n])] >> finer;
    }
    leaves_.push_back(leaf);
    if (leaves_.size() == at_once) flush();
  }

  /// Adds up the leaves of each column.
  void flush() {
    const auto key = [](const Leaf& leaf) { return std::tuple(leaf.level, leaf.column[1], leaf.column[0]); };
    std::sort(leaves_.begin(), leaves_.end(), [&](const Leaf& a, const Leaf& b) { return key(a) < key(b); });
    for (std::size_t first = 0; first < leaves_.size();) {
      std::array<ExactSum, 3> sums;
      std::size_t end = first;
      for (; end < leaves_.size() && key(leaves_[end]) == key(leaves_[first]); ++end) add_to(sums, leaves_[end]);
      put(leaves_[first], sums);
      first = end;
    }
    leaves_.clear();
    out_.add_up();
  }

 private:
  static constexpr std::size_t at_once = std::size_t{1} << 20;

  void add_to(std::array<ExactSum, 3>& sums, const Leaf& leaf) const {
    const int finer = std::max(0, leaf.level - query_.level);
    const double length = std::ldexp(width_, -leaf.level - finer * static_cast<int>(grid_.left().size()));
    const double weight =
        weight_ ? number_at(weight_->array, {leaf.number, 0, 0}, query_.weight_component) * length : length;
    sums[0].add(number_at(view_.array, {leaf.number, 0, 0}, query_.component) * weight);
    sums[1].add(weight);
    if (weight_) sums[2].add(length);
  }

  void put(const Leaf& leaf, const std::array<ExactSum, 3>& sums) {
    const std::int32_t level = std::min(leaf.level, query_.level);
    const bool flat = grid_.left().size() > 1;
    out_.add({level, leaf.column[flat ? 1 : 0], flat ? leaf.column[0] : 0}, std::span(sums).first(weight_ ? 3 : 2));
  }

  const ProjectionQuery& query_;
  const ProjectionGrid& grid_;
  const BlockView& view_;
  const BlockView* weight_;
  ColumnSums& out_;
  double width_;
  std::vector<Leaf> leaves_;
};

/// Adds the counted leaves of a block's tree to their columns. A leaf of the level of the result, or of a coarser one,
/// fills all places that it covers; a finer one counts with its fraction of a place. `weight`: the weight's view; null
/// without a weight. Sides are halved exactly, so the sums equal those of the same values on a uniform grid.
void project_tree(const ProjectionQuery& query, const ProjectionGrid& grid, const LocalInput& input, const Mesh& mesh,
                  const BlockView& view, const BlockView* weight, ColumnSums& out) {
  const auto tree = OwnedLeaves::of(input, mesh, view.block);
  if (!tree || view.copy) return;
  TreeColumns columns(query, grid, mesh, view, weight, out);
  const auto any = [](const TreeCell&) { return true; };
  for_each_chosen_leaf(tree->index(), mesh, query.choice, any, [&](Index number, const TreeCell& cell) {
    if (tree->owns(number)) columns.add(cell, number);
  });
  columns.flush();
}

/// Sums of one place of the result: of values times lengths (and weights), of lengths (times weights), and, if there
/// are weights, of lengths only.
constexpr std::size_t values = 0, weights = 1, lengths = 2, most_sums = 3;
using Sums = std::array<ExactSum, most_sums>;

/// Adds up the columns in one box of a block, several neighbouring columns at a time, so that memory is read
/// contiguously even along an axis that is not the fastest.
class ColumnWalk {
 public:
  ColumnWalk(const ProjectionQuery& query, const ProjectionGrid& grid, const Mesh& mesh, Centering centering,
             const BlockView& view, const BlockView* weight, ColumnSums& out)
      : query_(query), grid_(grid), mesh_(mesh), centering_(centering), view_(view), weight_(weight), out_(out) {
    const Index3 mine = mesh.ratio_to(view.block.level), wanted = mesh.ratio_to(query.level);
    for (const int a : grid.left()) {
      const auto n = static_cast<std::size_t>(a);
      join_[n] = std::max<Index>(1, mine[n] / wanted[n]);
      part_ /= static_cast<double>(join_[n]);
    }
  }

  void add(const Box& box) {
    const int fast = grid_.left().front();
    const auto f = static_cast<std::size_t>(fast);
    const int slow = grid_.left().size() > 1 ? grid_.left().back() : 3 - fast - query_.axis;
    const auto s = static_cast<std::size_t>(slow);
    std::vector<double> factors;
    for (Index i = box.lo[axis()]; i < box.hi[axis()]; ++i) {
      factors.push_back(part_ * width_along(mesh_, centering_, query_.axis, view_.block.level, i));
    }
    Box some = box;
    for (some.lo[s] = box.lo[s]; some.lo[s] < box.hi[s]; ++some.lo[s]) {
      some.hi[s] = some.lo[s] + 1;
      for (some.lo[f] = box.lo[f]; some.lo[f] < box.hi[f]; some.lo[f] = some.hi[f]) {
        some.hi[f] = std::min(box.hi[f], some.lo[f] + together);
        add_columns(some, fast, factors);
      }
    }
  }

 private:
  static constexpr Index together = 16;  // their sums stay in the first-level cache

  [[nodiscard]] std::size_t axis() const { return static_cast<std::size_t>(query_.axis); }
  [[nodiscard]] std::size_t sums() const { return weight_ ? 3 : 2; }

  void add_columns(const Box& some, int fast, const std::vector<double>& factors) {
    const auto f = static_cast<std::size_t>(fast);
    read(view_.array, query_.component, some, numbers_);
    if (weight_) read(weight_->array, query_.weight_component, some, weighing_);
    columns_.assign(static_cast<std::size_t>(some.extent(fast)), {});
    counted_.assign(columns_.size(), false);
    const Index columns = some.extent(fast);
    // Both numbers and weights have the lower of the two axes fastest.
    const bool along_fastest = query_.axis < fast;
    for (std::size_t n = 0; n < factors.size(); ++n) {
      for (Index c = 0; c < columns; ++c) {
        Index3 p = some.lo;
        p[axis()] += static_cast<Index>(n);
        p[f] += c;
        if (flagged(p)) continue;
        const auto at = along_fastest ? static_cast<std::size_t>(c) * factors.size() + n
                                      : n * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c);
        add_one(columns_[static_cast<std::size_t>(c)], at, factors[n]);
        counted_[static_cast<std::size_t>(c)] = true;
      }
    }
    for (Index c = 0; c < columns; ++c) {
      if (!counted_[static_cast<std::size_t>(c)]) continue;
      Index3 p = some.lo;
      p[f] += c;
      put(p, columns_[static_cast<std::size_t>(c)]);
    }
  }

  void add_one(Sums& to, std::size_t at, double factor) const {
    const double with_weight = weight_ ? weighing_[at] * factor : factor;
    to[values].add(numbers_[at] * with_weight);
    to[weights].add(with_weight);
    if (weight_) to[lengths].add(factor);
  }

  static void read(const ArrayView& array, int component, const Box& box, std::vector<double>& out) {
    out.resize(static_cast<std::size_t>(box.count()));
    copy_to_double(array, component, box, out.data(), box);
  }

  [[nodiscard]] bool flagged(const Index3& p) const {
    return view_.ghosts.data != nullptr && *view_.ghosts.at<std::uint8_t>(p[0], p[1], p[2]) != 0;
  }

  /// Adds the sums of the column at `p` to the column of the result's levels.
  void put(const Index3& p, const Sums& column) {
    Index3 joined = p;
    for (std::size_t a = 0; a < 3; ++a) joined[a] = floor_divided(p[a], join_[a]);
    out_.add(grid_.column(std::min(view_.block.level, query_.level), joined), std::span(column).first(sums()));
  }

  static Index floor_divided(Index a, Index b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

  const ProjectionQuery& query_;
  const ProjectionGrid& grid_;
  const Mesh& mesh_;
  Centering centering_;
  const BlockView& view_;
  const BlockView* weight_;
  ColumnSums& out_;
  Index3 join_{1, 1, 1};  ///< cells of the block along one place
  double part_ = 1;       ///< fraction of a place that a cell of the block covers
  std::vector<double> numbers_, weighing_;
  std::vector<Sums> columns_;
  std::vector<bool> counted_;
};

class ProjectionTask final : public Task {
 public:
  explicit ProjectionTask(const ProjectionQuery& query)
      : query_(query), name_(query.variable.name), title_(query.variable.title()), unit_(query.variable.unit) {
    if (query.variable.components > 1) title_ = fmt::format("{} {}", title_, query.component);
  }

  Selection selection() const override {
    const Part part = part_of(query_.choice);
    Selection selection{{{query_.variable.id, 0, part}}};
    if (query_.weight) selection.variables.push_back({query_.weight->id, 0, part});
    for (Selected& selected : selection.variables) selected.covered = false;
    selection.geometry = false;
    return selection;
  }

  Bytes local(const LocalInput& input) override {
    const ProjectionGrid grid(query_, input.metadata);
    const Variable& variable = query_.variable;
    ColumnSums sums(grid.levels(), query_.weight ? 3 : 2);
    for (const BlockView& view : input.of(variable.id)) {
      const BlockView* weight = query_.weight ? input.find(query_.weight->id, view.block.id) : nullptr;
      if (query_.weight && !weight) continue;  // not delivered
      const Mesh& mesh = input.metadata.mesh_of(variable);
      if (mesh.kind() == MeshKind::octree) {
        project_tree(query_, grid, input, mesh, view, weight, sums);
        continue;
      }
      ColumnWalk walk(query_, grid, mesh, variable.centering, view, weight, sums);
      const LevelAxes axes(mesh, view.block.level);
      for (const Box& counted : view.counted()) {
        if (!query_.choice.has_level(view.block.level)) continue;
        const Box box = chosen_in(query_.choice, axes, variable.centering, counted, mesh.dimensions);
        if (!box.empty()) walk.add(box);
      }
      sums.add_up();
    }
    return sums.take();
  }

  Bytes combine(const CombineInput& input) override {
    const ProjectionGrid grid(query_, input.metadata);
    const std::vector<BytesView> partials(input.partials.begin(), input.partials.end());
    GridResult result(grid.shape(), grid.axes(), input.communicator);
    result.set({"quantity", std::string(query_.mean ? "mean" : "integral")});
    result.set({"axis", std::string(1, "xyz"[query_.axis])});
    result.set({"level", std::int64_t{query_.level}});
    const double none = std::numeric_limits<double>::quiet_NaN();
    const auto projected = result.add(name_, query_.mean ? unit_ : "", none, {{"variable_unit", unit_}});
    const auto along = result.add("length", "", 0);
    std::span<double> weighing;
    if (query_.weight) weighing = result.add("weight", "", 0);
    fill(grid, partials, input.communicator, projected, along, weighing);
    std::vector<double> shown;
    if (query_.picture) shown.assign(projected.begin(), projected.end());
    result.write(query_.file, query_.pieces, input.results, input.communicator);
    if (query_.picture) {
      const std::array edges{grid.edges(grid.left()[0]), grid.edges(grid.left()[1])};
      draw_heat_map(*query_.picture, {grid.shape(), edges, shown, label(), title_}, input);
    }
    return {};
  }

 private:
  [[nodiscard]] std::string label() const {
    const std::string what = (query_.mean ? "mean of " : "integral of ") + title_ + " along " + "xyz"[query_.axis];
    return query_.mean && !unit_.empty() ? what + " [" + unit_ + "]" : what;
  }

  /// Fills this server's rows; places without values keep their contents.
  void fill(const ProjectionGrid& grid, std::span<const BytesView> partials, Communicator& servers,
            std::span<double> projected, std::span<double> along, std::span<double> weighing) const {
    const GridShape& shape = grid.shape();
    const Index first = shape.first_row(servers.rank(), servers.size()), across = shape.row_cells();
    const bool weighted = query_.weight.has_value();
    for_each_sum(grid.levels(), weighted ? 3 : 2, partials, servers, [&](const Places& places, const auto& sums) {
      const double value = query_.mean ? sums[values] / sums[weights] : sums[values];
      for (Index row = places.first_row - first; row < places.end_row - first; ++row) {
        const auto fill_row = [&](std::span<double> array, double with) {
          std::fill_n(array.begin() + (row * across + places.first_cell), places.end_cell - places.first_cell, with);
        };
        fill_row(projected, value);
        fill_row(along, weighted ? sums[lengths] : sums[weights]);
        if (weighted) fill_row(weighing, sums[weights]);
      }
    });
  }

  ProjectionQuery query_;
  std::string name_, title_, unit_;
};

}  // namespace

AnalysisKind projection_kind() {
  return {
      .name = "projection",
      .text =
          "The integral or the mean of a variable along an axis, for uniform and rectilinear meshes and for octrees: "
          "a plane of values in three dimensions, a line in two. Each place counts once, on its finest level: cells "
          "that a finer level covers do not count, and only leaves of octrees do. Values at nodes count with half of "
          "the lengths to their neighbours (the trapezoidal rule). The data set has an array with the variable's "
          "name; `length`, the length along the axis with values (0 where there are none and the value is NaN); with "
          "a weight, its integral as `weight`; and the positions along each remaining axis. A NaN makes its place "
          "NaN. Products are rounded once, sums are exact and rounded once, so that the result does not depend on "
          "how the mesh is divided.",
      .options = projection_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<ProjectionTask>(projection_options().read(settings, metadata));
      }};
}

}  // namespace sidestream
