// Blocks of refined meshes behind one interface: patches of refinement levels, and trees.
//
// A patch visits the boxes that it counts, without flagged cells. A tree has its cells in level order; its constructor
// links each refined cell to its first child, and then goes through the cells backwards to find the complete ones,
// whose counted leaves all belong to this block. Searches near a point descend from the roots and skip distant
// subtrees.
#include "cosmology/halos/amr/amr_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cosmology/halos/amr/amr_graph.hpp"
#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream::halos {

namespace {

/// True if some point in the cell may be near.
bool may_be_near(const AmrCell& cell, const Distances<AmrGrid>& distances, const AmrGrid& grid) {
  double least = 0;
  for (std::size_t a = 0; a < static_cast<std::size_t>(grid.dimensions()); ++a) {
    const auto width = static_cast<double>(grid.length(cell.level, a));
    const double low =
        static_cast<double>(grid.length(cell.level, a) * cell.index[a] - distances.from()[a]) - distances.offset()[a];
    const auto n = static_cast<double>(grid.length_of_mesh(a));
    double nearest = std::numeric_limits<double>::infinity();
    for (const double turn : {0.0, -n, n}) {
      if (turn != 0 && !grid.mesh().periodic[a]) continue;
      nearest = std::min(nearest, std::max({0.0, low + turn, -(low + turn + width)}));
    }
    const double length = grid.in_coordinates(a, nearest);
    least += length * length;
  }
  return least * (1 - 1e-9) < distances.most();  // the margin keeps rounding from excluding cells
}

class Patch final : public AmrBlock {
 public:
  Patch(const AmrGrid& grid, const BlockView& view, int component)
      : grid_(grid), view_(view), component_(component), counted_(view.counted()) {}

  void for_each_above(double boundary, const Visit& f) const override {
    visit([&](double value) { return value >= boundary; }, f);
  }
  void for_each(const Visit& f) const override {
    visit([](double) { return true; }, f);
  }
  void for_each_near(const Distances<AmrGrid>& distances, const NearVisit& f) const override {
    const std::int32_t level = view_.block.level;
    const Index3 first = grid_.in_mesh({level, {}}).index;
    for (const Box& box : counted_) {
      distances.for_each_near(view_, box, level, first,
                              [&](double squared, const Index3& place) { f(level, squared, place); });
    }
  }
  [[nodiscard]] bool has_all_of(const AmrCell& cell) const override {
    if (cell.level != view_.block.level) return false;
    const Index3 p = grid_.in_mesh(cell).index;
    return std::any_of(counted_.begin(), counted_.end(), [&](const Box& box) { return box.contains(p); }) &&
           !is_flagged(p);
  }
  [[nodiscard]] bool counts_at(const AmrCell& cell) const override {
    return has_all_of(grid_.ancestor_of(cell, view_.block.level));
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
              if (wanted(value) && !is_flagged(p)) f(grid_.cell_of(view_.block.level, p), value, p);
            }
          }
        }
      }
    });
  }

  const AmrGrid& grid_;
  const BlockView& view_;
  int component_;
  std::vector<Box> counted_;
};

class Tree final : public AmrBlock {
 public:
  Tree(const AmrGrid& grid, const BlockView& view, const BlockView& refined, const BlockView* owned, int component)
      : grid_(grid),
        view_(view),
        component_(component),
        cells_(tree_cells(grid.mesh(), view.block, refined.array)),
        complete_(uncounted_cells(refined.array, owned ? owned->array : ArrayView{})),
        children_(cells_.size(), 0) {
    const auto& roots = dynamic_cast<const OctreeGeometry&>(*grid.mesh().geometry).roots();
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
  void for_each_near(const Distances<AmrGrid>& distances, const NearVisit& f) const override {
    const auto roots = std::min(cells_.size(), static_cast<std::size_t>(roots_[0] * roots_[1] * roots_[2]));
    std::vector<std::size_t> stack;
    for (std::size_t n = 0; n < roots; ++n) stack.push_back(n);
    while (!stack.empty()) {
      const std::size_t n = stack.back();
      stack.pop_back();
      const AmrCell cell = grid_.cell_of(cells_[n].level, cells_[n].index);
      if (!may_be_near(cell, distances, grid_)) continue;
      if (children_[n] != 0) {
        for (std::size_t child = 0; child < child_count(); ++child) stack.push_back(children_[n] + child);
      }
      if (counted_[n] == 0) continue;
      const double squared = distances.squared(cell.level, cell.index);
      if (squared < distances.most()) f(cell.level, squared, {static_cast<Index>(n), 0, 0});
    }
  }
  [[nodiscard]] bool has_all_of(const AmrCell& cell) const override {
    if (cells_.empty()) return false;
    const auto along = [&](std::size_t a, std::int32_t level) {
      return a < static_cast<std::size_t>(grid_.dimensions()) ? cell.index[a] >> (cell.level - level) : 0;
    };
    auto at = static_cast<std::size_t>(along(0, 0) + roots_[0] * (along(1, 0) + roots_[1] * along(2, 0)));
    for (std::int32_t level = 1; level <= cell.level && children_[at] != 0; ++level) {
      std::size_t child = 0;
      for (std::size_t a = 0; a < static_cast<std::size_t>(grid_.dimensions()); ++a) {
        child |= static_cast<std::size_t>(along(a, level) & 1) << a;
      }
      at = children_[at] + child;
    }
    return complete_[at] != 0;
  }
  [[nodiscard]] bool counts_at(const AmrCell& cell) const override { return has_all_of(cell); }

 private:
  [[nodiscard]] std::size_t child_count() const noexcept { return std::size_t{1} << grid_.dimensions(); }
  template <class Wanted>
  void visit(Wanted&& wanted, const Visit& f) const {
    for (std::size_t n = 0; n < cells_.size(); ++n) {
      if (counted_[n] == 0) continue;
      const double value = real_at(view_, static_cast<Index>(n), component_);
      if (wanted(value)) f(grid_.cell_of(cells_[n].level, cells_[n].index), value, {static_cast<Index>(n), 0, 0});
    }
  }

  const AmrGrid& grid_;
  const BlockView& view_;
  int component_;
  std::vector<TreeCell> cells_;
  std::vector<std::uint8_t> counted_, complete_;
  std::vector<std::size_t> children_;  ///< index of the first child of each parent; 0: it has none
  Index3 roots_{};
};

}  // namespace

std::unique_ptr<AmrBlock> amr_block(const AmrGrid& grid, const LocalInput& input, const BlockView& view,
                                    int component) {
  const Mesh& mesh = grid.mesh();
  if (view.copy || view.block.cells.empty()) return nullptr;
  if (mesh.kind() != MeshKind::octree) return std::make_unique<Patch>(grid, view, component);
  const BlockView* refined = input.find(mesh.array(Role::refined), view.block.id);
  const BlockView* owned = input.find(mesh.array(Role::owned), view.block.id);
  if (refined == nullptr || (mesh.array(Role::owned) >= 0 && owned == nullptr)) return nullptr;
  return std::make_unique<Tree>(grid, view, *refined, owned, component);
}

namespace {

constexpr double cells_for_each_server = 512;

}  // namespace

CellOwners::CellOwners(const AmrGraph& graph, int servers) : grid_(graph.geometry()), servers_(servers) {
  const auto cells = [&] {
    double product = 1;
    for (const Index extent : grid_.extents(level_)) product *= static_cast<double>(extent);
    return product;
  };
  if (servers == 1) return;
  while (static_cast<std::size_t>(level_) + 1 < grid_.levels() && cells() < cells_for_each_server * servers) ++level_;
}

AmrCell CellOwners::first_part(const AmrCell& cell) const noexcept {
  if (cell.level >= level_) return grid_.ancestor_of(cell, level_);
  AmrCell part{level_, cell.index};
  for (std::size_t a = 0; a < 3; ++a) part.index[a] *= grid_.extents(level_)[a] / grid_.extents(cell.level)[a];
  return part;
}

std::set<int> CellOwners::keepers_of(const AmrCell& cell) const {
  const AmrCell first = first_part(cell);
  if (cell.level >= level_) return {keeper_of(first)};
  Index3 parts;
  for (std::size_t a = 0; a < 3; ++a) parts[a] = grid_.extents(level_)[a] / grid_.extents(cell.level)[a];
  std::set<int> all;
  AmrCell part = first;
  for (Index i = 0; i < parts[0]; ++i) {
    for (Index j = 0; j < parts[1]; ++j) {
      for (Index k = 0; k < parts[2] && all.size() < static_cast<std::size_t>(servers_); ++k) {
        part.index = {first.index[0] + i, first.index[1] + j, first.index[2] + k};
        all.insert(keeper_of(part));
      }
    }
  }
  return all;
}

namespace {

/// Adds factor * sum. The 200 leading bits of a sum suffice, and do not depend on the order in which it was added.
void add_times(ExactSum& total, const ExactSum& sum, double factor) noexcept {
  for (const double part : sum.expansion()) {
    if (std::isfinite(part)) total.add_product(part, factor);
  }
}

}  // namespace

void AmrPartSums::add(const AmrCell& cell, double value) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(graph_.dimensions()); ++a) {
    PlaneSums::add(a, {cell.level, cell.index[a]}, value, graph_.volume(cell.level));
  }
}

Halo<AmrId> AmrMergedSums::finish(const AmrGraph& graph, const Peak<AmrId>& peak, Index cells) const {
  const AmrGrid& grid = graph.geometry();
  const AmrCell at = grid.cell_of(peak.id);
  Halo<AmrId> halo{peak, cells};
  ExactSum mass, volume;
  for (const auto& [place, plane] : along(0)) {
    mass.add(plane.sum);
    volume.add_product(static_cast<double>(plane.count), grid.volume(place.level));
  }
  halo.mass = mass.value();
  halo.volume = volume.value();
  for (std::size_t a = 0; a < static_cast<std::size_t>(grid.dimensions()); ++a) {
    const Index from = grid.middle(at.level, a, at.index[a]);
    const Index width = grid.length(at.level, a) / 2;
    ExactSum weighted, plain;
    halo.low[a] = -width;
    halo.high[a] = width;
    for (const auto& [place, plane] : along(a)) {
      const Index away = grid.difference(a, from, grid.middle(place.level, a, place.index));
      const Index half = grid.length(place.level, a) / 2;
      halo.low[a] = std::min(halo.low[a], away - half);
      halo.high[a] = std::max(halo.high[a], away + half);
      add_times(weighted, plane.sum, static_cast<double>(away));
      ExactSum space_here;
      space_here.add_product(static_cast<double>(plane.count), grid.volume(place.level));
      add_times(plain, space_here, static_cast<double>(away));
    }
    halo.plain[a] = plain.value() / halo.volume;
    halo.weighted[a] = std::isfinite(halo.mass) && halo.mass != 0 ? weighted.value() / halo.mass
                                                                  : std::numeric_limits<double>::quiet_NaN();
  }
  return halo;
}

}  // namespace sidestream::halos
