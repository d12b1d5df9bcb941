// Components of the cells of a server's boxes that are >= the boundary.
//
// Each box is searched by runs (box_runs.cpp). A component is open if one of its runs touches cells outside the box, or
// if the box has holes (flagged cells). Closed components that pass the halo rule get their sums at once. Open
// components keep sums for each plane of cells along each axis, because the peak is not known yet, and so neither is
// the shortest way to it in a periodic mesh. Their border runs are matched with those of other boxes later
// (merge_components.cpp).
#include "cosmology/halos/finder/local_components.hpp"

#include <algorithm>

namespace sidestream::halos {
namespace {

/// A set of connected runs of a box.
struct Set {
  Peak peak;
  Index cells = 0;
  bool open = false, kept = false;
  Index3 low{}, high{};
  Index first_cell = -1;
};

/// Calls `f(cell, value)` for each cell of a run.
template <class F>
void for_each_cell(const BlockView& view, int component, const Lattice& lattice, const Run& run, F&& f) {
  Index3 cell = lattice.cell_in(run.row, run.first), p = cell;
  for (std::size_t a = 0; a < 3; ++a) p[a] += lattice.origin[a];
  const Index stride = view.array.strides[lattice.along];
  with_type(view.array.type, [&](auto zero) {
    const auto* value = view.array.at<decltype(zero)>(p[0], p[1], p[2], component);
    for (; cell[lattice.along] <= run.last; ++cell[lattice.along], value += stride) {
      f(cell, static_cast<double>(*value));
    }
  });
}

/// Search in one box of a block.
class BoxSearch {
 public:
  BoxSearch(const BlockView& view, const Box& box, const Lattice& lattice, const Rule& rule)
      : view_(view),
        lattice_(lattice),
        rule_(rule),
        found_(find_runs(view, box, lattice, rule)),
        border_(box, lattice) {
    sets_.resize(found_.set_count);
  }

  void run(const HaloRule& halo, bool keep_runs, LocalComponents& to) {
    border_before_ = to.border.size();
    measure(to);
    for (Set& set : sets_) set.kept = set.open || halo.takes(set.peak, set.cells);
    group();
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      if (!sets_[s].kept) continue;
      const std::int64_t owner = sets_[s].open ? ~static_cast<std::int64_t>(to.parts.size()) : sets_[s].peak.id;
      if (sets_[s].open) {
        add_part(s, to);
      } else {
        add_halo(s, to);
      }
      if (!keep_runs) continue;
      for (const std::uint32_t n : runs_of(s)) to.owned.push_back({found_.runs[n], owner});
    }
  }

 private:
  /// Finds peaks, numbers and extents of all sets. Border runs get the numbers that `add_part` will assign.
  void measure(LocalComponents& to) {
    const bool holes = view_.ghosts.data != nullptr;  // another block may continue next to each of them
    for (std::size_t n = 0; n < found_.runs.size(); ++n) {
      const Run& run = found_.runs[n];
      Set& set = sets_[found_.sets[n]];
      if (set.cells == 0) {
        set.low = set.high = lattice_.cell_in(run.row, run.first);
        set.first_cell = lattice_.id_of(set.low);
      }
      set.cells += run.cells();
      for (const std::int32_t place : {run.first, run.last}) {
        const Index3 cell = lattice_.cell_in(run.row, place);
        for (std::size_t a = 0; a < 3; ++a) {
          set.low[a] = std::min(set.low[a], cell[a]);
          set.high[a] = std::max(set.high[a], cell[a]);
        }
      }
      for_each_cell(view_, rule_.component, lattice_, run,
                    [&](const Index3& cell, double value) { set.peak.raise(value, lattice_.id_of(cell)); });
      if (!holes && !border_.has(run)) continue;
      set.open = true;
      to.border.push_back({run, static_cast<std::int64_t>(found_.sets[n])});
    }
    number_border(to);
  }

  void number_border(LocalComponents& to) const {
    std::vector<std::int64_t> numbers(sets_.size());
    auto next = static_cast<std::int64_t>(to.parts.size());
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      if (sets_[s].open) numbers[s] = next++;
    }
    for (std::size_t n = to.border.size(); n > border_before_; --n) {
      BorderRun& one = to.border[n - 1];
      one.part = numbers[static_cast<std::size_t>(one.part)];
    }
  }

  /// Sorts the runs of kept sets by set.
  void group() {
    begins_.assign(sets_.size() + 1, 0);
    for (const std::uint32_t s : found_.sets) begins_[s + 1] += sets_[s].kept ? 1 : 0;
    for (std::size_t s = 0; s < sets_.size(); ++s) begins_[s + 1] += begins_[s];
    grouped_.resize(begins_.back());
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    for (std::uint32_t n = 0; n < found_.sets.size(); ++n) {
      const std::uint32_t s = found_.sets[n];
      if (sets_[s].kept) grouped_[next[s]++] = n;
    }
  }
  [[nodiscard]] std::span<const std::uint32_t> runs_of(std::size_t set) const {
    return std::span(grouped_).subspan(begins_[set], begins_[set + 1] - begins_[set]);
  }

  template <class Sums>
  void add_cells(std::size_t set, Sums& sums) const {
    for (const std::uint32_t n : runs_of(set)) {
      for_each_cell(view_, rule_.component, lattice_, found_.runs[n],
                    [&](const Index3& cell, double value) { sums.add(cell, value); });
    }
  }
  void add_halo(std::size_t set, LocalComponents& to) const {
    HaloSums sums(lattice_, sets_[set].peak);
    add_cells(set, sums);
    to.whole.push_back(sums.finish());
  }
  void add_part(std::size_t set, LocalComponents& to) const {
    PartPlanes planes(sets_[set].low, sets_[set].high);
    add_cells(set, planes);
    ByteWriter out;
    planes.write(out);
    to.parts.push_back({sets_[set].peak, sets_[set].cells, sets_[set].first_cell});
    to.planes.push_back(out.take());
  }

  const BlockView& view_;
  const Lattice& lattice_;
  const Rule& rule_;
  BoxRuns found_;
  Border border_;
  std::size_t border_before_ = 0;  ///< index of this box' first border run
  std::vector<Set> sets_;
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> grouped_;
};

}  // namespace

LocalComponents find_parts(std::span<const BlockView> views, const Lattice& lattice, const Rule& rule,
                           const HaloRule& halo, bool keep_runs) {
  LocalComponents found;
  for (const BlockView& view : views) {
    for (const Box& box : view.counted()) {
      if (box.empty()) continue;
      BoxSearch search(view, box, lattice, rule);
      search.run(halo, keep_runs, found);
    }
    found.view_ends.push_back(found.owned.size());
  }
  return found;
}

void LocalComponents::write(ByteWriter& out) const {
  out.put(whole);
  out.put(parts);
  out.put(border);
  out.put(owned);
  for (const Bytes& bytes : planes) out.put(bytes);
}

LocalComponents LocalComponents::read(ByteReader& in) {
  LocalComponents found;
  in.get(found.whole);
  in.get(found.parts);
  in.get(found.border);
  in.get(found.owned);
  found.planes.resize(found.parts.size());
  for (Bytes& one : found.planes) in.get(one);
  return found;
}

void LocalComponents::append(LocalComponents&& other) {
  const auto first = static_cast<std::int64_t>(parts.size());
  whole.insert(whole.end(), other.whole.begin(), other.whole.end());
  parts.insert(parts.end(), other.parts.begin(), other.parts.end());
  for (Bytes& bytes : other.planes) planes.push_back(std::move(bytes));
  for (BorderRun one : other.border) {
    one.part += first;
    border.push_back(one);
  }
  for (OwnedRun one : other.owned) {
    if (one.owner < 0) one.owner = ~(~one.owner + first);
    owned.push_back(one);
  }
}

}  // namespace sidestream::halos
