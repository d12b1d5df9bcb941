// Runs of cells as pieces of halos.
//
// Each box is searched by runs (box_runs.cpp). A run is at the boundary if it touches cells outside the box, or if the
// box has holes (flagged cells).
//
// Every row of the mesh has a keeper among the servers. Boundary runs are sent to the keeper of their row as taken
// places, and to the keepers of later neighbouring rows, widened by the connectivity, as sought places. Each keeper
// sorts both lists and merges them: where a taken and a sought place overlap, their parts touch (meetings). So the
// layout of blocks need not be known.
#include "cosmology/halos/finder/run_graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sidestream/kit/reduce/gathered_records.hpp"

namespace sidestream::halos {
namespace {

/// Contiguous places of a row that a part occupies; or, with ~part, at which it continues if another part has them.
struct Places {
  Index row = 0, first = 0, last = 0;
  std::int64_t part = 0;
  [[nodiscard]] bool before(const Places& other) const noexcept {
    return row != other.row ? row < other.row : first < other.first;
  }
};

/// Messages to the keepers of rows.
class Posted {
 public:
  Posted(const Lattice& lattice, int servers) : lattice_(lattice), servers_(servers) {}

  void post(const Places& places) {
    if (places.first <= places.last) to_[lattice_.keeper(places.row, servers_)].push_back(places);
  }
  /// Places may extend beyond both ends of the row.
  void seek(const Places& places) {
    const Index n = lattice_.size[lattice_.along];
    const std::int64_t part = ~places.part;
    post({places.row, std::max<Index>(places.first, 0), std::min(places.last, n - 1), part});
    if (!lattice_.periodic[lattice_.along]) return;
    if (places.first < 0) post({places.row, n - 1, n - 1, part});
    if (places.last >= n) post({places.row, 0, 0, part});
  }
  [[nodiscard]] std::vector<Places> exchange(Communicator& servers) const { return exchanged(to_, servers); }

 private:
  const Lattice& lattice_;
  int servers_;
  std::map<int, std::vector<Places>> to_;
};

/// Pairs of parts in which one occupies places that the other seeks.
std::vector<PartPair> overlapping(std::vector<Places> places) {
  const auto first = std::partition(places.begin(), places.end(), [](const Places& one) { return one.part >= 0; });
  const std::span taken(places.begin(), first), sought(first, places.end());
  const auto before = [](const Places& a, const Places& b) { return a.before(b); };
  std::sort(taken.begin(), taken.end(), before);
  std::sort(sought.begin(), sought.end(), before);
  std::vector<PartPair> pairs;
  std::size_t t = 0;
  for (const Places& one : sought) {
    while (t < taken.size() && (taken[t].row != one.row ? taken[t].row < one.row : taken[t].last < one.first)) ++t;
    for (std::size_t n = t; n < taken.size() && taken[n].row == one.row && taken[n].first <= one.last; ++n) {
      if (taken[n].part != ~one.part) pairs.push_back({taken[n].part, ~one.part});
    }
  }
  return pairs;
}

/// Index along an axis of the cell that contains a position, from the mesh's lower end; -1: none.
Index place_along(const Field& field, std::size_t axis, double x) {
  const Index n = field.lattice.size[axis];
  double u = (x - field.origin[axis]) / field.spacing[axis] - static_cast<double>(field.lattice.origin[axis]);
  if (!std::isfinite(u)) return -1;
  const auto cells = static_cast<double>(n);
  if (field.lattice.periodic[axis]) {
    u -= cells * std::floor(u / cells);
    if (!(u < cells)) u = 0;
  } else if (u == cells) {
    return n - 1;  // the upper face belongs to the last cell
  }
  return u >= 0 && u < cells ? static_cast<Index>(u) : -1;
}

}  // namespace

RunDomain::RunDomain(const BlockView& view, std::uint32_t number, const Box& box, const Lattice& lattice,
                     const Rule& rule)
    : view_(view),
      number_(number),
      lattice_(lattice),
      component_(rule.component),
      found_(find_runs(view, box, lattice, rule)) {
  const bool holes = view.ghosts.data != nullptr;  // another block may continue next to each of them
  const Border border(box, lattice);
  for (std::size_t n = 0; n < found_.runs.size(); ++n) {
    if (holes || border.has(found_.runs[n])) boundary_.push_back({found_.runs[n], found_.sets[n]});
  }
}

void RunGraph::for_each_domain(const LocalInput& input, double threshold, bool,
                               const std::function<void(const RunDomain&)>& f) const {
  const Rule rule{threshold, field_.component, steps_};
  std::uint32_t number = 0;
  for (const BlockView& view : input.of(field_.variable)) {
    for (const Box& box : view.counted()) {
      if (!box.empty()) f(RunDomain(view, number, box, field_.lattice, rule));
    }
    ++number;
  }
}

std::vector<PartPair> RunGraph::meetings(const std::vector<BoundaryRun>& boundary, const PartNumbers& numbers,
                                         Communicator& servers) const {
  Posted posted(field_.lattice, servers.size());
  for (const auto& [run, number] : boundary) {
    const std::int64_t part = number + numbers.first();
    posted.post({run.row, run.first, run.last, part});
    posted.seek({run.row, Index{run.last} + 1, Index{run.last} + 1, part});
    for (const RowStep& step : steps_) {
      const std::optional<Index> row = field_.lattice.row_beside(run.row, step.step0, step.step1);
      if (row) posted.seek({*row, run.first + step.low, run.last + step.high, part});
    }
  }
  return overlapping(posted.exchange(servers));
}

std::vector<Overlap<Index>> RunGraph::overlaps(const std::vector<HaloPiece<Run, Index>>& before,
                                               const std::vector<HaloPiece<Run, Index>>& now, const Owners&,
                                               int) const {
  std::map<std::array<Index, 2>, Index> sums;
  std::size_t b = 0;
  for (const auto& [run, halo] : now) {
    while (b < before.size() &&
           (before[b].piece.row != run.row ? before[b].piece.row < run.row : before[b].piece.last < run.first)) {
      ++b;
    }
    for (std::size_t n = b; n < before.size() && before[n].piece.row == run.row; ++n) {
      const Run& other = before[n].piece;
      if (other.first > run.last) break;
      sums[{before[n].halo, halo}] += std::min(other.last, run.last) - std::max(other.first, run.first) + 1;
    }
  }
  std::vector<Overlap<Index>> overlaps;
  for (const auto& [pair, cells] : sums) overlaps.push_back({pair[0], pair[1], 0, cells});
  return overlaps;
}

std::vector<Index> RunGraph::indices_of(const std::vector<Halo<Index>>& halos) const {
  std::vector<Index> indices;
  for (const Halo<Index>& halo : halos) indices.push_back(halo.peak.id);
  return indices;
}

RunGraph::Blocks::Blocks(const RunGraph& graph, const LocalInput& input)
    : views_(input.of(graph.variable())), origin_(graph.lattice().origin) {
  for (const BlockView& view : views_) boxes_.push_back(view.counted());
}

Index RunGraph::HaloLookup::halo_at(const RowPlace& cell) const {
  const auto after = std::partition_point(runs_.begin(), runs_.end(), [&](const HaloPiece<Run, Index>& one) {
    return one.piece.row != cell.row ? one.piece.row < cell.row : one.piece.first <= cell.place;
  });
  if (after == runs_.begin()) return no_cell<Index>;
  const auto& [run, halo] = *(after - 1);
  return run.row == cell.row && cell.place <= run.last ? halo : no_cell<Index>;
}

RunGraph::ParticleFilter::ParticleFilter(const RunGraph& graph, const LocalInput& input, double threshold,
                                         const std::vector<NumberedPiece<Run>>&)
    : field_(graph.geometry()), threshold_(threshold), views_(input.of(graph.variable())) {
  std::vector<Block> blocks;
  for (const BlockView& view : views_) blocks.push_back(view.block);
  index_ = BlockIndex(blocks);
}

std::optional<RowPlace> RunGraph::ParticleFilter::location_of(const std::array<double, 3>& x) {
  Index3 cell{};
  for (std::size_t a = 0; a < static_cast<std::size_t>(field_.lattice.dimensions); ++a) {
    cell[a] = place_along(field_, a, x[a]);
    if (cell[a] < 0) return std::nullopt;
  }
  if (surely_below(cell)) return std::nullopt;
  return RowPlace{field_.lattice.row_of(cell), cell[field_.lattice.along]};
}

/// True if a cell, counted from the mesh's lower end, is on this server and below the threshold or NaN.
bool RunGraph::ParticleFilter::surely_below(Index3 cell) {
  for (std::size_t a = 0; a < 3; ++a) cell[a] += field_.lattice.origin[a];
  const BlockView* view = view_of(cell);
  return view != nullptr && !(number_at(view->array, cell, field_.component) >= threshold_);
}

/// The view that owns the cell, or null. Neighbours in memory are mostly in one block.
const BlockView* RunGraph::ParticleFilter::view_of(const Index3& cell) {
  const auto owns = [&](const BlockView& view) {
    return std::any_of(view.owned.begin(), view.owned.end(), [&](const Box& box) { return box.contains(cell); });
  };
  if (last_ != nullptr && owns(*last_)) return last_;
  if (views_.empty()) return nullptr;
  const Block& any = views_.front().block;
  index_.overlapping(any.mesh, any.level, {cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}}, found_);
  for (const std::int64_t n : found_) {
    const BlockView& view = views_[static_cast<std::size_t>(n)];
    if (owns(view)) return last_ = &view;
  }
  return nullptr;
}

}  // namespace sidestream::halos
