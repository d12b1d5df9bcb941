// The merge tree of one box, computed with one pass over cells and one over pairs of maxima.
//
// 1. climb: for each cell, finds the highest among it and its neighbours, row by row so that the compiler vectorises
//    the comparisons. A cell that is its own highest neighbour is a maximum.
// 2. number_maxima: follows these steepest ascents with path compression, so that each cell knows its maximum. Cells of
//    equal value are ordered by linear index (simulation of simplicity), so that ascents have no plateaus or cycles.
// 3. find_saddles: if two neighbours lead to different maxima, the maxima meet at the lower neighbour. A hash table
//    keeps the highest such cell per pair of maxima (SaddleTable).
// 4. join_maxima: joins maxima at these saddles, from the highest down (local_tree.cpp).
// 5. list_border: the border cells, each with the maximum of its component at its own level.
//
// After Morozov and Weber, "Distributed merge trees" (2013), and Smirnov and Morozov, "Triplet merge trees" (2017).
#include "cosmology/halos/merge_tree/block_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cosmology/halos/finder/box_runs.hpp"
#include "cosmology/halos/merge_tree/saddle_table.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::halos {

namespace {

/// A neighbour's offset in the box' axes: along rows, then along the other two.
struct Offset {
  Index3 step{};
  Index delta = 0;  ///< difference of indices in the box
};

}  // namespace

/// Builds the tree of a box. Real: float or double, the type in which values are compared.
template <class Real>
class BoxSweep {
 public:
  BoxSweep(BlockTree& tree, const BlockView& view, const Lattice& lattice, int connectivity, int component)
      : tree_(tree),
        lattice_(lattice),
        axes_{lattice.along, lattice.across[0], lattice.across[1]},
        steps_(row_steps(connectivity)),
        flagged_(view.ghosts.data != nullptr) {
    for (std::size_t n = 0; n < 3; ++n) size_[n] = tree.box_.extent(static_cast<int>(axes_[n]));
    take_values(view, component);
    find_offsets(connectivity);
  }

  void run() {
    tree_.local_.numbers.resize(static_cast<std::size_t>(size_[0] * size_[1] * size_[2]));
    for_each_row([&](const Index3& at) { climb(at); });
    number_maxima();
    join_maxima();
    list_border(TripletMap(tree_.local_.certain));
  }

 private:
  template <class F>
  void for_each_row(F&& f) const {
    Index3 at{};
    for (at[2] = 0; at[2] < size_[2]; ++at[2]) {
      for (at[1] = 0; at[1] < size_[1]; ++at[1]) f(at);
    }
  }
  [[nodiscard]] std::size_t place(const Index3& at) const noexcept {
    return static_cast<std::size_t>(at[0] + size_[0] * (at[1] + size_[1] * at[2]));
  }
  [[nodiscard]] const Real* row(Index y, Index z) const noexcept { return values_ + y * strides_[0] + z * strides_[1]; }
  [[nodiscard]] Real value_at(std::size_t p) const noexcept {
    const auto n = static_cast<Index>(p);
    return row(n / size_[0] % size_[1], n / size_[0] / size_[1])[n % size_[0]];
  }
  [[nodiscard]] Index3 mesh_cell(std::size_t p) const noexcept {
    const auto n = static_cast<Index>(p);
    const Index3 at{n % size_[0], n / size_[0] % size_[1], n / size_[0] / size_[1]};
    Index3 cell{};
    for (std::size_t a = 0; a < 3; ++a) cell[axes_[a]] = at[a] + tree_.box_.lo[axes_[a]] - lattice_.origin[axes_[a]];
    return cell;
  }
  [[nodiscard]] ValuedCell tree_cell(std::size_t p) const noexcept {
    return {static_cast<double>(value_at(p)), lattice_.id_of(mesh_cell(p))};
  }
  [[nodiscard]] bool later(std::int32_t a, std::int32_t b) const noexcept {
    return lattice_.id_of(mesh_cell(static_cast<std::size_t>(a))) >
           lattice_.id_of(mesh_cell(static_cast<std::size_t>(b)));
  }

  /// Uses values in place if rows are contiguous and of the right type; otherwise copies them, with NaN for cells that
  /// do not count.
  void take_values(const BlockView& view, int component) {
    const ArrayView& array = view.array;
    const Index3& lo = tree_.box_.lo;
    const bool flagged = view.ghosts.data != nullptr;
    const Type own = std::is_same_v<Real, float> ? Type::float32 : Type::float64;
    if (array.type == own && array.strides[axes_[0]] == 1 && !flagged) {
      values_ = array.at<Real>(lo[0], lo[1], lo[2], component);
      strides_ = {array.strides[axes_[1]], array.strides[axes_[2]]};
      return;
    }
    copy_.resize(static_cast<std::size_t>(size_[0] * size_[1] * size_[2]));
    std::size_t n = 0;
    for_each_row([&](Index3 at) {
      for (at[0] = 0; at[0] < size_[0]; ++at[0]) {
        Index3 p{};
        for (std::size_t a = 0; a < 3; ++a) p[axes_[a]] = at[a] + lo[axes_[a]];
        const bool out = flagged && *view.ghosts.at<std::uint8_t>(p[0], p[1], p[2]) != 0;
        copy_[n++] = out ? std::numeric_limits<Real>::quiet_NaN() : with_type(array.type, [&](auto zero) {
          return static_cast<Real>(*array.at<decltype(zero)>(p[0], p[1], p[2], component));
        });
      }
    });
    values_ = copy_.data();
    strides_ = {size_[0], size_[0] * size_[1]};
  }

  /// Lists neighbours in the order of linear indices, including the cell itself: the later of two equal values counts
  /// as higher.
  void find_offsets(int connectivity) {
    for (Index n = 0; n < 27; ++n) {
      const Index3 d{n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
      if (d != Index3{} && !are_neighbours(connectivity, d)) continue;
      Offset offset{{d[axes_[0]], d[axes_[1]], d[axes_[2]]}, 0};
      offset.delta = offset.step[0] + size_[0] * (offset.step[1] + size_[1] * offset.step[2]);
      offsets_.push_back(offset);
    }
  }
  /// True if the row next to `at` is in the box. `first` and `end` are then the range of cells with a neighbour in that
  /// row.
  [[nodiscard]] bool beside(const Index3& at, const Offset& offset, Index& first, Index& end) const noexcept {
    const Index y = at[1] + offset.step[1], z = at[2] + offset.step[2];
    first = std::max<Index>(0, -offset.step[0]);
    end = size_[0] - std::max<Index>(0, offset.step[0]);
    return y >= 0 && y < size_[1] && z >= 0 && z < size_[2];
  }

  /// Finds, for each cell of a row, the highest of itself and its neighbours.
  void climb(const Index3& at) {
    best_.assign(static_cast<std::size_t>(size_[0]), -std::numeric_limits<Real>::infinity());
    std::int32_t* to = tree_.local_.numbers.data() + place(at);
    for (const Offset& offset : offsets_) {
      Index first = 0, end = 0;
      if (!beside(at, offset, first, end)) continue;
      const Real* from = row(at[1] + offset.step[1], at[2] + offset.step[2]) + offset.step[0];
      Real* best = best_.data();
      const auto delta = static_cast<std::int32_t>(offset.delta);
      for (Index x = first; x < end; ++x) {
        const bool up = from[x] >= best[x];
        best[x] = up ? from[x] : best[x];
        to[x] = up ? delta : to[x];
      }
    }
    const Real* own = row(at[1], at[2]);
    const auto start = static_cast<std::int32_t>(place(at));
    for (Index x = 0; x < size_[0]; ++x) {
      to[x] = std::isnan(own[x]) ? nowhere
              : to[x] == 0       ? new_maximum(start + x)
                                 : start + static_cast<std::int32_t>(x) + to[x];
    }
  }
  /// Adds a maximum. Maxima are marked with ~number.
  [[nodiscard]] std::int32_t new_maximum(Index p) {
    tops_.push_back(static_cast<std::int32_t>(p));
    return ~static_cast<std::int32_t>(tops_.size() - 1);
  }

  void number_maxima() {
    follow_ascents(tree_.local_.numbers);
    for (const std::int32_t p : tops_) tree_.local_.maxima.push_back(tree_cell(static_cast<std::size_t>(p)));
  }

  [[nodiscard]] std::vector<SaddleTable::Entry> find_saddles() {
    SaddleTable table;
    const std::int32_t* numbers = tree_.local_.numbers.data();
    const auto higher = [&](std::int32_t a, std::int32_t b) { return later(a, b); };
    for_each_row([&](const Index3& at) {
      const auto start = static_cast<std::int32_t>(place(at));
      const Real* own = row(at[1], at[2]);
      for (std::size_t o = offsets_.size() / 2 + 1; o < offsets_.size(); ++o) {
        const Offset& offset = offsets_[o];  // later in linear index, so it counts as higher if values are equal
        Index first = 0, end = 0;
        if (!beside(at, offset, first, end)) continue;
        const Real* other = row(at[1] + offset.step[1], at[2] + offset.step[2]) + offset.step[0];
        const std::int32_t *here = numbers + start, *there = here + offset.delta;
        for (Index x = first; x < end; ++x) {
          if (here[x] == there[x] || here[x] < 0 || there[x] < 0) continue;
          const bool own_is_lower = other[x] >= own[x];
          const auto lower = static_cast<std::int32_t>(start + x + (own_is_lower ? 0 : offset.delta));
          table.meet(static_cast<std::uint32_t>(here[x]), static_cast<std::uint32_t>(there[x]), lower,
                     static_cast<double>(own_is_lower ? own[x] : other[x]), higher);
        }
      }
    });
    return table.take();
  }

  /// For each maximum the highest border cell that leads to it; id -1: none.
  [[nodiscard]] std::vector<ValuedCell> touches() const {
    std::vector<ValuedCell> highest = without_border(tree_.local_.maxima.size());
    for_each_border_cell([&](std::size_t p) {
      if (tree_.local_.numbers[p] < 0) return;
      const ValuedCell cell = tree_cell(p);
      ValuedCell& best = highest[static_cast<std::size_t>(tree_.local_.numbers[p])];
      if (best.below(cell)) best = cell;
    });
    return highest;
  }
  template <class F>
  void for_each_border_cell(F&& f) const {
    const Border edge(tree_.box_, lattice_);
    for_each_row([&](const Index3& at) {
      const Index3 first = mesh_cell(place(at));
      const Index row_number = lattice_.row_of(first);
      const auto start = static_cast<std::int32_t>(first[lattice_.along]);
      const bool whole = size_[0] > 2 && edge.has({row_number, start + 1, start + 1});
      for (Index x = 0; x < size_[0]; ++x) {
        const auto here = static_cast<std::int32_t>(start + x);
        if (flagged_ || whole || edge.has({row_number, here, here})) f(place(at) + static_cast<std::size_t>(x));
        if (!whole && !flagged_ && x == 0 && size_[0] > 2) x = size_[0] - 2;  // skips inner cells of inner rows
      }
    });
  }

  void join_maxima() {
    std::vector<SaddleTable::Entry> saddles = find_saddles();
    std::vector<SaddlePair> saddle_pairs;
    saddle_pairs.reserve(saddles.size());
    for (const SaddleTable::Entry& entry : saddles) {
      saddle_pairs.push_back({tree_cell(static_cast<std::size_t>(entry.cell)), entry.a, entry.b});
    }
    std::vector<SaddleTable::Entry>().swap(saddles);
    sweep_down(std::move(saddle_pairs), touches(), tree_.local_);
  }

  void list_border(const TripletMap& certain) {
    std::size_t count = 0;
    for_each_border_cell([&](std::size_t p) { count += tree_.local_.numbers[p] >= 0 ? 1 : 0; });
    tree_.border_.reserve(count);
    for_each_border_cell([&](std::size_t p) {
      if (tree_.local_.numbers[p] < 0) return;
      const ValuedCell cell = tree_cell(p);
      const Index3 at = mesh_cell(p);
      const ValuedCell top = tree_.local_.maxima[static_cast<std::size_t>(tree_.local_.numbers[p])];
      tree_.border_.push_back({lattice_.row_of(at), static_cast<std::int32_t>(at[lattice_.along]), 0,
                               ways_from(at) & 0xff, cell, certain.follow(top, cell)});
    });
  }
  /// Bits for neighbours outside the box. Bit 0: the next cell of the row; bit 1 + s: some neighbours of step s.
  [[nodiscard]] std::uint32_t ways_from(const Index3& cell) const noexcept {
    if (flagged_) return ~std::uint32_t{0};
    const auto inside = [&](std::size_t n, Index step) {
      const std::size_t axis = axes_[n];
      const Index at = cell[axis] + lattice_.origin[axis] + step;
      return at >= tree_.box_.lo[axis] && at < tree_.box_.hi[axis];
    };
    std::uint32_t ways = inside(0, 1) ? 0 : 1;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const RowStep& step = steps_[s];
      const bool all = inside(1, step.step0) && inside(2, step.step1) && inside(0, step.low) && inside(0, step.high);
      if (!all) ways |= std::uint32_t{2} << s;
    }
    return ways;
  }

  BlockTree& tree_;
  const Lattice& lattice_;
  std::array<std::size_t, 3> axes_;
  std::vector<RowStep> steps_;
  bool flagged_;  ///< another block may continue next to each flagged cell
  Index3 size_{};
  const Real* values_ = nullptr;
  std::array<Index, 2> strides_{};
  std::vector<Real> copy_, best_;
  std::vector<Offset> offsets_;
  std::vector<std::int32_t> tops_;
};

BlockTree::BlockTree(const BlockView& view, const Box& box, const Lattice& lattice, int connectivity, int component)
    : box_(box) {
  if (box.count() >= std::numeric_limits<std::int32_t>::max()) {
    fail(Code::analysis, "block {} has {} cells; a merge tree takes blocks of less than 2^31: use smaller ones",
         view.block.id, box.count());
  }
  const auto sweep = [&](auto zero) {
    BoxSweep<decltype(zero)> one(*this, view, lattice, connectivity, component);
    one.run();
  };
  if (view.array.type == Type::float32) {
    sweep(float{});
  } else {
    sweep(double{});
  }
}

std::size_t BlockTree::place_of(const Index3& point, const Lattice& lattice) const noexcept {
  const std::size_t a = lattice.along, b = lattice.across[0], c = lattice.across[1];
  return static_cast<std::size_t>(point[a] - box_.lo[a] +
                                  (box_.hi[a] - box_.lo[a]) *
                                      (point[b] - box_.lo[b] + (box_.hi[b] - box_.lo[b]) * (point[c] - box_.lo[c])));
}

}  // namespace sidestream::halos
