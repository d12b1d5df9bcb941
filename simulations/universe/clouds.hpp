// Between particles and grid: cloud in cell, Hockney and Eastwood (1981), section 5-2.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fourier.hpp"
#include "particles.hpp"

namespace universe {

/// Cells of a rank with a layer of its neighbours' on each side of y and z, and x all round.
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
  /// Of x in [0, cells), and y and z of the rank, or one beside them.
  [[nodiscard]] T& at(int x, int y, int z) { return values_[index(x, y - y0_ + 1, z - z0_ + 1)]; }
  [[nodiscard]] const T& at(int x, int y, int z) const { return values_[index(x, y - y0_ + 1, z - z0_ + 1)]; }
  /// By layers: y in [0, ny + 2), z in [0, nz + 2), 0 being the lower layer of the halo.
  [[nodiscard]] T* line(int y, int z) { return &values_[index(0, y, z)]; }
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

/// Collective: what `of` says of each particle, spread over the eight cells round it, per cell. Sums are of whole
/// numbers, multiples of `unit`, so that they do not depend on the order of the particles.
[[nodiscard]] Field deposit(const Layout& layout, const Particles& particles, double unit,
                            const std::function<double(const Particle&)>& of);

/// Collective: a field with the layers of the neighbours.
[[nodiscard]] HaloField<double> with_halo(const Layout& layout, const Field& field);

/// At a place of this rank's cells.
[[nodiscard]] double interpolate(const HaloField<double>& field, const std::array<double, 3>& place);

}  // namespace universe
