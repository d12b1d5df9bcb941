#include "cosmology/halos/merge_tree/tree_queries.hpp"

#include <limits>
#include <unordered_map>

#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream::halos {
namespace {

/// Sums of halos by their peaks.
class HaloSlots {
 public:
  [[nodiscard]] std::int32_t slot_of(const ValuedCell& top) {
    const auto [at, is_new] = slots_.emplace(top.id, static_cast<std::int32_t>(halos_.size()));
    if (is_new) halos_.push_back({top, 0, {}});
    return at->second;
  }
  void add(std::int32_t slot, double value) {
    TreeHalo& halo = halos_[static_cast<std::size_t>(slot)];
    ++halo.cells;
    halo.mass.add(value);
  }
  [[nodiscard]] std::vector<TreeHalo> take() { return std::move(halos_); }

 private:
  std::unordered_map<Index, std::int32_t> slots_;
  std::vector<TreeHalo> halos_;
};

/// Calls `f(point, value, number)` for the cells of a box that are >= the boundary.
template <class F>
void for_each_cell(const BlockTree& box, const ArrayView& array, const Lattice& lattice, int component, double boundary,
                   F&& f) {
  const auto [a, c0, c1] = std::array{lattice.along, lattice.across[0], lattice.across[1]};
  const Box& cells = box.box();
  const std::int32_t* number = box.numbers().data();
  with_type(array.type, [&](auto zero) {
    Index3 p = cells.lo;
    for (p[c1] = cells.lo[c1]; p[c1] < cells.hi[c1]; ++p[c1]) {
      for (p[c0] = cells.lo[c0]; p[c0] < cells.hi[c0]; ++p[c0]) {
        p[a] = cells.lo[a];
        const auto* value = array.at<decltype(zero)>(p[0], p[1], p[2], component);
        for (; p[a] < cells.hi[a]; ++p[a], value += array.strides[a], ++number) {
          const auto v = static_cast<double>(*value);
          if (v >= boundary && *number >= 0) f(p, v, *number);
        }
      }
    }
  });
}

}  // namespace

std::vector<Branch> branches_of(const ServerTree& tree, double least) {
  std::vector<Branch> branches;
  for (const BlockTree& box : tree.boxes) {
    for (const ValuedCell& top : box.maxima()) {
      const Triplet* triplet = tree.triplets.find(top.id);
      if (!triplet) {
        branches.push_back({top, {}, -1});
      } else if (!(triplet->saddle == top) && persistence(top.value, triplet->saddle.value) >= least) {
        branches.push_back({top, triplet->saddle, tree.triplets.follow(triplet->into, triplet->saddle).id});
      }
    }
  }
  return branches;
}

std::vector<TreeHalo> halos_above(const ServerTree& tree, std::span<const BlockView> views, const Lattice& lattice,
                                  int component, double boundary, double peak) {
  constexpr std::int32_t unknown = -1, none = -2;
  HaloSlots halos;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    const BlockTree& box = tree.boxes[b];
    const ArrayView& array = views[tree.views[b]].array;
    std::vector<std::int32_t> slots(box.maxima().size(), unknown);
    const auto slot_of = [&](std::int32_t number) {
      std::int32_t& slot = slots[static_cast<std::size_t>(number)];
      if (slot != unknown) return slot;
      const ValuedCell top = tree.triplets.follow(box.maxima()[static_cast<std::size_t>(number)], level_of(boundary));
      return slot = top.value >= peak ? halos.slot_of(top) : none;
    };
    for_each_cell(box, array, lattice, component, boundary, [&](const Index3&, double value, std::int32_t number) {
      const std::int32_t slot = slot_of(number);
      if (slot != none) halos.add(slot, value);
    });
  }
  return halos.take();
}

std::vector<KeptCell> cells_above(const ServerTree& tree, std::span<const BlockView> views, const Lattice& lattice,
                                  int component, double above) {
  std::vector<KeptCell> kept;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    const BlockTree& box = tree.boxes[b];
    for_each_cell(box, views[tree.views[b]].array, lattice, component, above,
                  [&](Index3 cell, double value, std::int32_t number) {
                    for (std::size_t a = 0; a < 3; ++a) cell[a] -= lattice.origin[a];
                    const ValuedCell at{value, lattice.id_of(cell)};
                    const ValuedCell& top = box.maxima()[static_cast<std::size_t>(number)];
                    kept.push_back({at, tree.triplets.follow(top, at).id});
                  });
  }
  return kept;
}

WayDown way_down(const ServerTree& tree, std::span<const BlockView> views, const Lattice& lattice, int component,
                 const Index3& point) {
  WayDown way;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    const BlockTree& box = tree.boxes[b];
    if (!box.box().contains(point)) continue;
    const std::int32_t number = box.numbers()[box.place_of(point, lattice)];
    if (number < 0) continue;
    Index3 cell = point;
    for (std::size_t a = 0; a < 3; ++a) cell[a] -= lattice.origin[a];
    const ArrayView& array = views[tree.views[b]].array;
    const ValuedCell from{number_at(array, point, component), lattice.id_of(cell)};
    way.from.push_back(from);
    way.tops.push_back(tree.triplets.follow(box.maxima()[static_cast<std::size_t>(number)], from));
    for (const Triplet* next = tree.triplets.find(way.tops.back().id); next;
         next = tree.triplets.find(way.tops.back().id)) {
      way.from.push_back(next->saddle);
      way.tops.push_back(tree.triplets.follow(next->into, next->saddle));
    }
  }
  return way;
}

ValuedCell meeting_of(const WayDown& a, const WayDown& b) {
  for (std::size_t n = 0; n < a.tops.size(); ++n) {
    for (std::size_t m = 0; m < b.tops.size(); ++m) {
      if (!(a.tops[n] == b.tops[m])) continue;
      return a.from[n].below(b.from[m]) ? a.from[n] : b.from[m];
    }
  }
  return {-std::numeric_limits<double>::infinity(), -1};
}

}  // namespace sidestream::halos
