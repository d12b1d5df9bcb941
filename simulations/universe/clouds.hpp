// Transfer between particles and grid: cloud in cell, Hockney and Eastwood (1981), section 5-2.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "fourier.hpp"
#include "particles.hpp"

namespace universe {

/// Cells of a rank with a halo layer on each side of y and z, and the whole of x.
template <typename T>
class HaloField {
 public:
  explicit HaloField(const Layout& layout)
      : n_(layout.cells()),
        ny_(layout.y().size()),
        nz_(layout.z().size()),
        y0_(layout.y().lo),
        z0_(layout.z().lo),
        values_(static_cast<std::size_t>(n_) * static_cast<std::size_t>(ny_ + 2) * static_cast<std::size_t>(nz_ + 2)) {}
  /// Access by cell: x in [0, cells), y and z of the rank, or one next to them.
  [[nodiscard]] T& at(int x, int y, int z) { return values_[index(x, y - y0_ + 1, z - z0_ + 1)]; }
  [[nodiscard]] const T& at(int x, int y, int z) const { return values_[index(x, y - y0_ + 1, z - z0_ + 1)]; }
  /// Access by layer: y in [0, ny + 2), z in [0, nz + 2); 0 is the lower layer of the halo.
  [[nodiscard]] T* line(int y, int z) { return &values_[index(0, y, z)]; }
  [[nodiscard]] const T* line(int y, int z) const { return &values_[index(0, y, z)]; }
  [[nodiscard]] int n() const { return n_; }
  [[nodiscard]] int ny() const { return ny_; }
  [[nodiscard]] int nz() const { return nz_; }

 private:
  [[nodiscard]] std::size_t index(int x, int y, int z) const {
    return (static_cast<std::size_t>(z) * static_cast<std::size_t>(ny_ + 2) + static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(n_) +
           static_cast<std::size_t>(x);
  }
  int n_, ny_, nz_, y0_, z0_;
  std::vector<T> values_;
};

/// Overlap of a cell-sized cloud with cells along one axis: the lower one, and the share in it.
struct Overlap {
  int lower;
  double part;
};

/// `place` is >= 0.
[[nodiscard]] inline Overlap overlap(double place) {
  const int upper = static_cast<int>(place + 0.5);
  return {upper - 1, 1 - (place - 0.5 - (upper - 1))};
}

/// Calls `visit(x, y, z, weight)` for the eight cells around a position; y and z may be one next to those of the rank.
template <typename Visit>
void each_cell(const std::array<double, 3>& place, int n, const Visit& visit) {
  const Overlap x = overlap(place[0]), y = overlap(place[1]), z = overlap(place[2]);
  const int x0 = x.lower < 0 ? n - 1 : x.lower, x1 = x.lower + 1 == n ? 0 : x.lower + 1;
  for (int dz = 0; dz < 2; ++dz) {
    const double wz = dz == 0 ? z.part : 1 - z.part;
    for (int dy = 0; dy < 2; ++dy) {
      const double w = wz * (dy == 0 ? y.part : 1 - y.part);
      visit(x0, y.lower + dy, z.lower + dz, w * x.part);
      visit(x1, y.lower + dy, z.lower + dz, w * (1 - x.part));
    }
  }
}

/// Collective: adds halo layers to the cells they represent, and returns `sums` times `unit` as a field.
[[nodiscard]] Field folded(const Layout& layout, HaloField<std::int64_t>& sums, double unit);

/// Collective: deposits `of(particle)` of each particle on the eight cells around it. Sums are integer multiples of
/// `unit`, so that they do not depend on the order of the particles.
template <typename Of>
[[nodiscard]] Field deposit(const Layout& layout, const Particles& particles, double unit, const Of& of) {
  HaloField<std::int64_t> sums(layout);
  const double scale = 1 / unit;
  for (const Particle& particle : particles) {
    const double value = of(particle) * scale;
    each_cell(particle.place, layout.cells(),
              [&](int x, int y, int z, double w) { sums.at(x, y, z) += std::llrint(w * value); });
  }
  return folded(layout, sums, unit);
}

/// A vector per cell.
using Vectors = HaloField<std::array<double, 3>>;

/// Copies `field` into component `axis` of this rank's cells.
void put_component(const Field& field, std::size_t axis, Vectors& vectors);
/// Collective: fills the halo layers with the values of their owners.
void fill_halo(const Layout& layout, Vectors& vectors);

/// The interpolated vector at a position in this rank's cells.
[[nodiscard]] inline std::array<double, 3> interpolate(const Vectors& field, const std::array<double, 3>& place) {
  std::array<double, 3> sum{};
  each_cell(place, field.n(), [&](int x, int y, int z, double w) {
    const std::array<double, 3>& at = field.at(x, y, z);
    for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += w * at[axis];
  });
  return sum;
}

}  // namespace universe
