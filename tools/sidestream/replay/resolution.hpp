// Stored values at another resolution. Values are picked and repeated, not averaged, so that each published value is a
// stored one and can be checked.
#pragma once

#include <span>

#include "sidestream/data/box.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// Change of resolution; either member is 1.
struct Resolution {
  Index coarsen = 1;  ///< this many cells along each axis become one
  Index refine = 1;   ///< one cell becomes this many along each axis
  [[nodiscard]] bool is_stored() const noexcept { return coarsen == 1 && refine == 1; }
};

/// Resampling of one mesh: axes of one cell stay as they are.
class Resampling {
 public:
  /// Throws Error(usage) if its cells cannot be divided so. A mesh whose nodes are only in a variable cannot be
  /// refined, either.
  Resampling(const Mesh& mesh, const Resolution& wanted);

  /// Number of cells along each axis.
  [[nodiscard]] Index3 size() const noexcept { return size_; }
  [[nodiscard]] double spacing(int axis, double stored) const noexcept;
  /// Nodes along an axis of a rectilinear mesh.
  [[nodiscard]] std::vector<double> nodes(int axis, const std::vector<double>& stored) const;
  /// The stored points from which `points` of that centring are picked.
  [[nodiscard]] Box stored(const Box& points, Centering centering) const noexcept;
  /// Fills an array over `points` from one over stored(points). Both are contiguous, i fastest or k fastest according
  /// to `order`.
  void pick(const Box& points, Centering centering, Order order, std::size_t point_bytes,
            std::span<const std::byte> from, std::span<std::byte> to) const;

 private:
  [[nodiscard]] Index source(int axis, Index index, Centering centering) const noexcept;
  std::array<Index, 3> coarsen_{1, 1, 1}, refine_{1, 1, 1};
  Index3 size_{};
};

}  // namespace sidestream
