#include "visualisation/projection/projection_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sidestream/kit/mesh/chosen_runs.hpp"
#include "sidestream/kit/mesh/owned_leaves.hpp"

namespace sidestream {
namespace {

/// A leaf and its column, on the leaf's own level, or on that of the result if that is coarser.
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

}  // namespace

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

}  // namespace sidestream
