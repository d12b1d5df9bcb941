#include "cosmology/halos/finder/run_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cosmology/halos/finder/run_graph.hpp"

namespace sidestream::halos {

namespace {

/// Adds factor * sum to `total`, exactly; |factor| < 2^30. Ignores NaN and infinities: a halo with such a mass has no
/// centroid.
void add_times(ExactSum& total, const ExactSum& sum, Index factor) noexcept {
  auto form = sum.serialise();
  for (std::size_t n = 0; n + 3 < form.size(); ++n) form[n] *= factor;
  for (std::size_t n = form.size() - 3; n < form.size(); ++n) form[n] = 0;
  total.add(ExactSum::deserialise(form));
}

}  // namespace

RunHaloSums::RunHaloSums(const RunGraph& graph, const Peak<Index>& peak)
    : lattice_(graph.lattice()), peak_(peak), at_(lattice_.cell_of(peak.id)) {}

void RunHaloSums::reach(std::size_t axis, Index difference) noexcept {
  low_[axis] = std::min(low_[axis], difference);
  high_[axis] = std::max(high_[axis], difference);
}

void RunHaloSums::add(const Index3& cell, double value) noexcept {
  ++cells_;
  mass_.add(value);
  for (std::size_t a = 0; a < 3; ++a) {
    const Index d = lattice_.difference(a, at_[a], cell[a]);
    if (d == 0) continue;
    reach(a, d);
    plain_[a] += d;
    if (std::isfinite(value)) weighted_[a].add_product(value, static_cast<double>(d));
  }
}

void RunHaloSums::add_plane(std::size_t axis, Index place, const CountedSum& plane) noexcept {
  if (axis == 0) {
    cells_ += plane.count;
    mass_.add(plane.sum);
  }
  const Index d = lattice_.difference(axis, at_[axis], place);
  reach(axis, d);
  plain_[axis] += d * plane.count;
  add_times(weighted_[axis], plane.sum, d);
}

Halo<Index> RunHaloSums::finish() const noexcept {
  Halo<Index> halo{peak_, cells_, mass_.value(), 0, {}, {}, low_, high_};
  for (std::size_t a = 0; a < 3; ++a) {
    halo.plain[a] = static_cast<double>(plain_[a]) / static_cast<double>(cells_);
    halo.weighted[a] = std::isfinite(halo.mass) && halo.mass != 0 ? weighted_[a].value() / halo.mass
                                                                  : std::numeric_limits<double>::quiet_NaN();
  }
  return halo;
}

RunPartSums::RunPartSums(const RunGraph& graph, const std::vector<Run>& runs, std::span<const std::uint32_t> members) {
  const Lattice& lattice = graph.lattice();
  Index3 high = low_ = lattice.cell_in(runs[members.front()].row, runs[members.front()].first);
  for (const std::uint32_t n : members) {
    for (const std::int32_t place : {runs[n].first, runs[n].last}) {
      const Index3 cell = lattice.cell_in(runs[n].row, place);
      for (std::size_t a = 0; a < 3; ++a) {
        low_[a] = std::min(low_[a], cell[a]);
        high[a] = std::max(high[a], cell[a]);
      }
    }
  }
  for (std::size_t a = 0; a < 3; ++a) planes_[a].resize(static_cast<std::size_t>(high[a] - low_[a] + 1));
}

void RunPartSums::add(const Index3& cell, double value) noexcept {
  for (std::size_t a = 0; a < 3; ++a) {
    CountedSum& plane = planes_[a][static_cast<std::size_t>(cell[a] - low_[a])];
    ++plane.count;
    plane.sum.add(value);
  }
}

void RunPartSums::write(ByteWriter& out) const {
  std::vector<std::uint32_t> words;
  for (std::size_t a = 0; a < 3; ++a) {
    out.put(planes_[a].size());
    for (std::size_t n = 0; n < planes_[a].size(); ++n) {
      out.put(low_[a] + static_cast<Index>(n));
      planes_[a][n].write(out, words);
    }
  }
}

Halo<Index> RunMergedSums::finish(const RunGraph& graph, const Peak<Index>& peak, Index) const {
  RunHaloSums sums(graph, peak);
  for (std::size_t a = 0; a < 3; ++a) {
    for (const auto& [place, plane] : along(a)) sums.add_plane(a, place, plane);
  }
  return sums.finish();
}

}  // namespace sidestream::halos
