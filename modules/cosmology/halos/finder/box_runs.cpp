// Connected components in a box by runs: maximal sequences of cells >= the boundary along a row.
//
// `scan` goes through the rows and appends their runs, 64 cells at a time, so that chunks below the boundary cost one
// vectorised comparison. For each pair of neighbouring rows, `join_rows` advances through both sorted lists of runs at
// once and joins those that overlap, widened by the reach of the connectivity, in a union-find structure. Sets are
// numbered in the order of their first runs.
#include "cosmology/halos/finder/box_runs.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/reduce/union_find.hpp"

namespace sidestream::halos {

namespace {

constexpr Index chunk = 64;

/// True if any of up to 64 values reaches the threshold; without a branch per value.
template <class T>
bool any_reaches(const T* values, Index count, double boundary) noexcept {
  int any = 0;
  for (Index i = 0; i < count; ++i) any |= static_cast<int>(static_cast<double>(values[i]) >= boundary);
  return any != 0;
}

/// Appends the runs of one row.
class RowScan {
 public:
  RowScan(std::vector<Run>& runs, Index row, Index place) : runs_(runs), row_(row), place_(place) {}

  template <class T>
  void gapless(const T* values, Index count, double boundary) {
    for (Index i = 0; i < count; i += chunk) {
      const Index here = std::min(chunk, count - i);
      if (!any_reaches(values + i, here, boundary)) {
        close(i);
        continue;
      }
      for (Index n = i; n < i + here; ++n) visit(static_cast<double>(values[n]) >= boundary, n);
    }
    close(count);
  }
  /// Scans a row of any stride, with or without ghost flags.
  template <class T>
  void any(const T* values, Index stride, const std::uint8_t* flags, Index flag_stride, Index count, double boundary) {
    for (Index n = 0; n < count; ++n) {
      const bool counts = flags == nullptr || flags[n * flag_stride] == 0;
      visit(counts && static_cast<double>(values[n * stride]) >= boundary, n);
    }
    close(count);
  }

 private:
  void visit(bool reaches, Index n) {
    if (!reaches) {
      close(n);
    } else if (start_ < 0) {
      start_ = n;
    }
  }
  void close(Index end) {
    if (start_ < 0) return;
    runs_.push_back({row_, static_cast<std::int32_t>(place_ + start_), static_cast<std::int32_t>(place_ + end - 1)});
    start_ = -1;
  }

  std::vector<Run>& runs_;
  Index row_, place_, start_ = -1;
};

/// Runs of a box, and the index of each row's first run.
struct Rows {
  std::vector<Run> runs;
  std::vector<std::size_t> begins;
  Index wide = 0, high = 0;  ///< number of rows along both axes
};

Rows scan(const BlockView& view, const Box& box, const Lattice& lattice, const Rule& rule) {
  const auto [a0, a1] = lattice.across;
  Rows rows{{}, {}, box.hi[a0] - box.lo[a0], box.hi[a1] - box.lo[a1]};
  rows.begins.reserve(static_cast<std::size_t>(rows.wide * rows.high) + 1);
  const ArrayView& array = view.array;
  const Index stride = array.strides[lattice.along], count = box.extent(static_cast<int>(lattice.along));
  with_type(array.type, [&](auto zero) {
    using T = decltype(zero);
    Index3 p = box.lo;
    for (p[a1] = box.lo[a1]; p[a1] < box.hi[a1]; ++p[a1]) {
      for (p[a0] = box.lo[a0]; p[a0] < box.hi[a0]; ++p[a0]) {
        Index3 cell = p;
        for (std::size_t a = 0; a < 3; ++a) cell[a] -= lattice.origin[a];
        rows.begins.push_back(rows.runs.size());
        RowScan row(rows.runs, lattice.row_of(cell), cell[lattice.along]);
        const T* values = array.at<T>(p[0], p[1], p[2], rule.component);
        const bool flagged = view.ghosts.data != nullptr;
        if (stride == 1 && !flagged) {
          row.gapless(values, count, rule.boundary);
        } else {
          row.any(values, stride, flagged ? view.ghosts.at<std::uint8_t>(p[0], p[1], p[2]) : nullptr,
                  view.ghosts.strides[lattice.along], count, rule.boundary);
        }
      }
    }
  });
  rows.begins.push_back(rows.runs.size());
  return rows;
}

/// Joins the runs of a row with their neighbours in a later one.
void join_rows(const Rows& rows, std::size_t row, std::size_t later, const RowStep& step,
               UnionFind<std::uint32_t>& joined) {
  std::size_t b = rows.begins[later];
  const std::size_t end = rows.begins[later + 1];
  for (std::size_t a = rows.begins[row]; a < rows.begins[row + 1]; ++a) {
    const Index low = rows.runs[a].first + step.low, high = rows.runs[a].last + step.high;
    while (b < end && rows.runs[b].last < low) ++b;
    for (std::size_t n = b; n < end && rows.runs[n].first <= high; ++n) {
      joined.join(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(n));
    }
  }
}

}  // namespace

BoxRuns find_runs(const BlockView& view, const Box& box, const Lattice& lattice, const Rule& rule) {
  Rows rows = scan(view, box, lattice, rule);
  if (rows.runs.size() >= std::numeric_limits<std::uint32_t>::max()) {
    fail(Code::analysis, "block {} has {} rows of cells above {}, more than can be told apart; use smaller blocks",
         view.block.id, rows.runs.size(), rule.boundary);
  }
  UnionFind<std::uint32_t> joined(rows.runs.size());
  for (Index y = 0; y < rows.high; ++y) {
    for (Index x = 0; x < rows.wide; ++x) {
      const auto row = static_cast<std::size_t>(x + rows.wide * y);
      if (rows.begins[row] == rows.begins[row + 1]) continue;
      for (const RowStep& step : rule.steps) {
        const Index there = x + step.step0, above = y + step.step1;
        if (there < 0 || there >= rows.wide || above >= rows.high) continue;
        join_rows(rows, row, static_cast<std::size_t>(there + rows.wide * above), step, joined);
      }
    }
  }
  BoxRuns found{std::move(rows.runs), {}, 0};
  found.sets.resize(found.runs.size());
  for (std::uint32_t n = 0; n < found.sets.size(); ++n) {
    const std::uint32_t root = joined.find(n);  // the first run of its set, which has its number
    found.sets[n] = root == n ? found.set_count++ : found.sets[root];
  }
  return found;
}

Border::Border(const Box& box, const Lattice& lattice) : lattice_(lattice) {
  for (std::size_t a = 0; a < 3; ++a) {
    first_[a] = box.lo[a] - lattice.origin[a];
    last_[a] = box.hi[a] - lattice.origin[a] - 1;
    if (!lattice.periodic[a] && first_[a] == 0) first_[a] = -1;
    if (!lattice.periodic[a] && last_[a] == lattice.size[a] - 1) last_[a] = lattice.size[a];
  }
}

bool Border::has(const Run& run) const noexcept {
  const std::size_t along = lattice_.along;
  if (run.first == first_[along] || run.last == last_[along]) return true;
  const Index3 cell = lattice_.cell_in(run.row, run.first);
  for (const std::size_t a : lattice_.across) {
    if (cell[a] == first_[a] || cell[a] == last_[a]) return true;
  }
  return false;
}

Lattice::Lattice(const Mesh& mesh, Order order)
    : origin(mesh.cells.lo), periodic(mesh.periodic), dimensions(mesh.dimensions) {
  for (std::size_t a = 0; a < 3; ++a) size[a] = mesh.cells.extent(static_cast<int>(a));
  along = order == Order::row ? static_cast<std::size_t>(mesh.dimensions) - 1 : 0;
  across = {along == 0 ? std::size_t{1} : 0, along == 2 ? std::size_t{1} : 2};
}

std::optional<Index> Lattice::row_beside(Index row, Index step0, Index step1) const noexcept {
  std::array<Index, 2> place{row % size[across[0]] + step0, row / size[across[0]] + step1};
  for (std::size_t n = 0; n < 2; ++n) {
    const std::size_t axis = across[n];
    if (place[n] >= 0 && place[n] < size[axis]) continue;
    if (!periodic[axis]) return std::nullopt;
    place[n] = (place[n] + size[axis]) % size[axis];
  }
  return place[0] + size[across[0]] * place[1];
}

bool are_neighbours(int connectivity, const Index3& offset) {
  Index steps = 0;
  bool up = false, down = false;
  for (const Index d : offset) {
    if (std::abs(d) > 1) return false;
    steps += std::abs(d);
    up |= d > 0;
    down |= d < 0;
  }
  if (steps == 0) return false;
  switch (connectivity) {
    case 6:
      return steps == 1;
    case 18:
      return steps <= 2;
    case 14:
      return !(up && down);
    default:
      return true;
  }
}

std::vector<RowStep> row_steps(int connectivity) {
  std::vector<RowStep> steps;
  for (const auto& [step0, step1] : {std::pair<Index, Index>{1, 0}, {-1, 1}, {0, 1}, {1, 1}}) {
    RowStep step{step0, step1, 2, -2};
    for (Index x = -1; x <= 1; ++x) {
      if (!are_neighbours(connectivity, {x, step0, step1})) continue;
      step.low = std::min(step.low, x);
      step.high = std::max(step.high, x);
    }
    if (step.low <= step.high) steps.push_back(step);
  }
  return steps;
}

}  // namespace sidestream::halos
