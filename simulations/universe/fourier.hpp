// Fourier transforms of real fields that are distributed over ranks in pencils.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "layout.hpp"

namespace universe {

using Complex = std::complex<double>;

/// Cells of this rank, x fastest, then y, then z.
using Field = std::vector<double>;
/// Modes of this rank: kz fastest, then ky, then kx; see Fourier::for_each_mode.
using Modes = std::vector<Complex>;

/// Each line is transformed by the same plan, so that values do not depend on the number of ranks.
class Fourier {
 public:
  explicit Fourier(const Layout& layout);
  ~Fourier();
  Fourier(const Fourier&) = delete;
  Fourier& operator=(const Fourier&) = delete;

  /// Collective. The sum over all cells of value exp(-i k x), for half of the modes.
  [[nodiscard]] Modes forward(const Field& field) const;
  /// Collective. The inverse, divided by the number of cells.
  [[nodiscard]] Field backward(Modes modes) const;
  [[nodiscard]] std::size_t modes() const;
  /// Calls `visit(number of the mode in Modes, {kx, ky, kz})` for the modes of this rank. Wave numbers are integers, kx
  /// from 0 to cells / 2, the others from -(cells - 1) / 2 to cells / 2. Modes with 0 < kx < cells / 2 represent their
  /// conjugates, too.
  template <typename Visit>
  void for_each_mode(const Visit& visit) const {
    const int n = layout_.cells();
    const Share kx = share_of(n / 2 + 1, layout_.row(), layout_.rows()), ky = layout_.z();
    const auto number = [n](int index) { return index <= n / 2 ? index : index - n; };
    std::size_t mode = 0;
    for (int x = kx.lo; x < kx.hi; ++x) {
      for (int y = ky.lo; y < ky.hi; ++y) {
        for (int z = 0; z < n; ++z) visit(mode++, std::array<int, 3>{x, number(y), number(z)});
      }
    }
  }

 private:
  struct Plans;
  const Layout& layout_;
  std::unique_ptr<Plans> plans_;
};

}  // namespace universe
