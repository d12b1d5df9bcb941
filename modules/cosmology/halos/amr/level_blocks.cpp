// Blocks of refined meshes behind one interface: patches of refinement levels, and trees.
//
// A patch visits the boxes that it counts, without flagged cells. A tree has its cells in level order; its constructor
// links each refined cell to its first child, and then goes through the cells backwards to find the complete ones,
// whose counted leaves all belong to this block. Searches near a point descend from the roots and skip distant
// subtrees.
#include "cosmology/halos/amr/level_blocks.hpp"

#include <algorithm>

#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream::halos {
namespace {

class Patch final : public LevelBlock {
 public:
  Patch(const AmrGrid& levels, const BlockView& view, int component)
      : levels_(levels), view_(view), component_(component), counted_(view.counted()) {}

  void for_each_above(double boundary, const Visit& f) const override {
    visit([&](double value) { return value >= boundary; }, f);
  }
  void for_each(const Visit& f) const override {
    visit([](double) { return true; }, f);
  }
  void for_each_near(const LevelDistances& distances, const NearVisit& f) const override {
    const std::int32_t level = view_.block.level;
    const Index3 first = levels_.in_mesh({level, {}}).index;
    std::array<std::vector<NearPlace>, 3> near;
    for (const Box& box : counted_) {
      for (std::size_t a = 0; a < 3; ++a) {
        near[a] = distances.near(a, level, box.lo[a] - first[a], box.hi[a] - first[a]);
      }
      for (const NearPlace& z : near[2]) {
        for (const NearPlace& y : near[1]) {
          for (const NearPlace& x : near[0]) {
            const double squared = x.squared + y.squared + z.squared;
            const Index3 p{x.place + first[0], y.place + first[1], z.place + first[2]};
            if (squared < distances.most() && !is_flagged(p))
              f(level, squared, number_at(view_.array, p, component_), p);
          }
        }
      }
    }
  }
  [[nodiscard]] bool has_all_of(const LevelCell& cell) const override {
    if (cell.level != view_.block.level) return false;
    const Index3 p = levels_.in_mesh(cell).index;
    return std::any_of(counted_.begin(), counted_.end(), [&](const Box& box) { return box.contains(p); }) &&
           !is_flagged(p);
  }
  [[nodiscard]] bool counts_at(const LevelCell& cell) const override {
    return has_all_of(levels_.ancestor_of(cell, view_.block.level));
  }

 private:
  [[nodiscard]] bool is_flagged(const Index3& p) const {
    return view_.ghosts.data != nullptr && *view_.ghosts.at<std::uint8_t>(p[0], p[1], p[2]) != 0;
  }
  template <class Wanted>
  void visit(Wanted&& wanted, const Visit& f) const {
    with_type(view_.array.type, [&](auto zero) {
      for (const Box& box : counted_) {
        Index3 p;
        for (p[2] = box.lo[2]; p[2] < box.hi[2]; ++p[2]) {
          for (p[1] = box.lo[1]; p[1] < box.hi[1]; ++p[1]) {
            const auto* at = view_.array.at<decltype(zero)>(box.lo[0], p[1], p[2], component_);
            for (p[0] = box.lo[0]; p[0] < box.hi[0]; ++p[0], at += view_.array.strides[0]) {
              const auto value = static_cast<double>(*at);
              if (wanted(value) && !is_flagged(p)) f(levels_.cell_of(view_.block.level, p), value, p);
            }
          }
        }
      }
    });
  }

  const AmrGrid& levels_;
  const BlockView& view_;
  int component_;
  std::vector<Box> counted_;
};

class Tree final : public LevelBlock {
 public:
  Tree(const AmrGrid& levels, const BlockView& view, const BlockView& refined, const BlockView* owned, int component)
      : levels_(levels),
        view_(view),
        component_(component),
        cells_(tree_cells(levels.mesh(), view.block, refined.array)),
        complete_(uncounted_cells(refined.array, owned ? owned->array : ArrayView{})),
        children_(cells_.size(), 0) {
    const auto& roots = dynamic_cast<const OctreeGeometry&>(*levels.mesh().geometry).roots();
    roots_ = roots;
    for (std::uint8_t& flag : complete_) flag = flag == 0 ? 1 : 0;  // 1 for cells that count
    counted_ = complete_;
    std::size_t next = static_cast<std::size_t>(roots[0] * roots[1] * roots[2]);
    for (std::size_t n = 0; n < cells_.size(); ++n) {
      if (*refined.array.at<std::uint8_t>(static_cast<Index>(n), 0, 0) == 0) continue;
      children_[n] = next;
      next += child_count();
    }
    for (std::size_t n = cells_.size(); n-- > 0;) {
      if (children_[n] == 0) continue;
      const auto first = complete_.begin() + static_cast<std::ptrdiff_t>(children_[n]);
      complete_[n] =
          std::all_of(first, first + static_cast<std::ptrdiff_t>(child_count()), [](std::uint8_t c) { return c != 0; });
    }
  }

  void for_each_above(double boundary, const Visit& f) const override {
    visit([&](double value) { return value >= boundary; }, f);
  }
  void for_each(const Visit& f) const override {
    visit([](double) { return true; }, f);
  }
  void for_each_near(const LevelDistances& distances, const NearVisit& f) const override {
    const auto roots = std::min(cells_.size(), static_cast<std::size_t>(roots_[0] * roots_[1] * roots_[2]));
    std::vector<std::size_t> stack;
    for (std::size_t n = 0; n < roots; ++n) stack.push_back(n);
    while (!stack.empty()) {
      const std::size_t n = stack.back();
      stack.pop_back();
      const LevelCell cell = levels_.cell_of(cells_[n].level, cells_[n].index);
      if (!distances.may_be_near(cell)) continue;
      if (children_[n] != 0) {
        for (std::size_t child = 0; child < child_count(); ++child) stack.push_back(children_[n] + child);
      }
      if (counted_[n] == 0) continue;
      const double squared = distances.squared(cell);
      const Index3 place{static_cast<Index>(n), 0, 0};
      if (squared < distances.most()) f(cell.level, squared, real_at(view_, place[0], component_), place);
    }
  }
  [[nodiscard]] bool has_all_of(const LevelCell& cell) const override {
    if (cells_.empty()) return false;
    const auto along = [&](std::size_t a, std::int32_t level) {
      return a < static_cast<std::size_t>(levels_.dimensions()) ? cell.index[a] >> (cell.level - level) : 0;
    };
    auto at = static_cast<std::size_t>(along(0, 0) + roots_[0] * (along(1, 0) + roots_[1] * along(2, 0)));
    for (std::int32_t level = 1; level <= cell.level && children_[at] != 0; ++level) {
      std::size_t child = 0;
      for (std::size_t a = 0; a < static_cast<std::size_t>(levels_.dimensions()); ++a) {
        child |= static_cast<std::size_t>(along(a, level) & 1) << a;
      }
      at = children_[at] + child;
    }
    return complete_[at] != 0;
  }
  [[nodiscard]] bool counts_at(const LevelCell& cell) const override { return has_all_of(cell); }

 private:
  [[nodiscard]] std::size_t child_count() const noexcept { return std::size_t{1} << levels_.dimensions(); }
  template <class Wanted>
  void visit(Wanted&& wanted, const Visit& f) const {
    for (std::size_t n = 0; n < cells_.size(); ++n) {
      if (counted_[n] == 0) continue;
      const double value = real_at(view_, static_cast<Index>(n), component_);
      if (wanted(value)) f(levels_.cell_of(cells_[n].level, cells_[n].index), value, {static_cast<Index>(n), 0, 0});
    }
  }

  const AmrGrid& levels_;
  const BlockView& view_;
  int component_;
  std::vector<TreeCell> cells_;
  std::vector<std::uint8_t> counted_, complete_;
  std::vector<std::size_t> children_;  ///< index of the first child of each parent; 0: it has none
  Index3 roots_{};
};

}  // namespace

std::unique_ptr<LevelBlock> level_block(const AmrGrid& levels, const LocalInput& input, const BlockView& view,
                                        int component) {
  const Mesh& mesh = levels.mesh();
  if (view.copy || view.block.cells.empty()) return nullptr;
  if (mesh.kind() != MeshKind::octree) return std::make_unique<Patch>(levels, view, component);
  const BlockView* refined = input.find(mesh.array(Role::refined), view.block.id);
  const BlockView* owned = input.find(mesh.array(Role::owned), view.block.id);
  if (refined == nullptr || (mesh.array(Role::owned) >= 0 && owned == nullptr)) return nullptr;
  return std::make_unique<Tree>(levels, view, *refined, owned, component);
}

}  // namespace sidestream::halos
