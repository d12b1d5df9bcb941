#include "cosmology/halos/finder/halo.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sidestream/kit/reduce/exact_sum_forms.hpp"

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

void HaloSums::reach(std::size_t axis, Index difference) noexcept {
  low_[axis] = std::min(low_[axis], difference);
  high_[axis] = std::max(high_[axis], difference);
}

void HaloSums::add(const Index3& cell, double value) noexcept {
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

void HaloSums::add_plane(std::size_t axis, Index place, Index cells, const ExactSum& mass) noexcept {
  if (axis == 0) {
    cells_ += cells;
    mass_.add(mass);
  }
  const Index d = lattice_.difference(axis, at_[axis], place);
  reach(axis, d);
  plain_[axis] += d * cells;
  add_times(weighted_[axis], mass, d);
}

Halo HaloSums::finish() const noexcept {
  Halo halo{peak_, cells_, mass_.value(), {}, {}, low_, high_};
  for (std::size_t a = 0; a < 3; ++a) {
    halo.plain[a] = static_cast<double>(plain_[a]) / static_cast<double>(cells_);
    halo.weighted[a] = std::isfinite(halo.mass) && halo.mass != 0 ? weighted_[a].value() / halo.mass
                                                                  : std::numeric_limits<double>::quiet_NaN();
  }
  return halo;
}

PartPlanes::PartPlanes(const Index3& low, const Index3& high) : low_(low) {
  for (std::size_t a = 0; a < 3; ++a) planes_[a].resize(static_cast<std::size_t>(high[a] - low[a] + 1));
}

void PartPlanes::add(const Index3& cell, double value) noexcept {
  for (std::size_t a = 0; a < 3; ++a) {
    Plane& plane = planes_[a][static_cast<std::size_t>(cell[a] - low_[a])];
    ++plane.cells;
    plane.mass.add(value);
  }
}

void PartPlanes::write(ByteWriter& out) const {
  std::vector<std::uint32_t> words;
  for (std::size_t a = 0; a < 3; ++a) {
    out.put(low_[a]);
    out.put(static_cast<Index>(planes_[a].size()));
    for (const Plane& plane : planes_[a]) {
      words.clear();
      pack(plane.mass, words);
      out.put(plane.cells);
      out.put(words);
    }
  }
}

void MergedPlanes::read(ByteReader& in) {
  std::vector<std::uint32_t> words;
  for (auto& planes : planes_) {
    const auto low = in.get<Index>(), count = in.get<Index>();
    for (Index place = low; place < low + count; ++place) {
      Plane& plane = planes[place];
      plane.cells += in.get<Index>();
      in.get(words);
      static_cast<void>(add_packed(words.data(), words.size(), plane.mass));
    }
  }
}

void MergedPlanes::add_to(HaloSums& sums) const {
  for (std::size_t a = 0; a < 3; ++a) {
    for (const auto& [place, plane] : planes_[a]) sums.add_plane(a, place, plane.cells, plane.mass);
  }
}

}  // namespace sidestream::halos
