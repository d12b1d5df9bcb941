// Stored values at another resolution: picked and repeated, so that each published value is a stored one and can be
// checked, or interpolated.
#pragma once

#include <span>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream {

/// The way to new values. Integers are always picked.
enum class Interpolation {
  pick,          ///< stored values
  linear,        ///< between points, or centres of cells; constant beyond the outermost centres
  conservative,  ///< cells: means of merged cells, and slopes within divided ones, whose mean is the stored value
};

/// Change of resolution; `coarsen` or `refine` is 1.
struct Resolution {
  Index coarsen = 1;  ///< this many cells along each axis become one
  Index refine = 1;   ///< one cell becomes this many along each axis
  Interpolation interpolation = Interpolation::pick;
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
  /// The stored points that make the variable's `points`.
  [[nodiscard]] Box stored(const Box& points, const Variable& variable) const;
  /// Fills an array over `points` from one over stored(points). Both are contiguous, i fastest or k fastest according
  /// to the variable's order. A value depends on its place only, not on the box.
  void fill(const Box& points, const Variable& variable, std::span<const std::byte> from,
            std::span<std::byte> to) const;

 private:
  /// A stored value and its share in a new one.
  struct Tap {
    Index source = 0;
    double weight = 1;
  };
  using Taps = std::vector<Tap>;
  /// The shares of stored values along an axis, in the order of their sources.
  [[nodiscard]] Taps taps(int axis, Index index, const Variable& variable) const;
  [[nodiscard]] Taps linear_taps(int axis, Index index) const;
  [[nodiscard]] Taps mean_taps(int axis, Index index) const;
  /// True if values get slopes along an axis besides the stored value.
  [[nodiscard]] bool has_slope(int axis, const Variable& variable) const noexcept;
  [[nodiscard]] Interpolation way(const Variable& variable) const noexcept;
  /// Coordinate of a stored node.
  [[nodiscard]] double node(int axis, Index index) const;
  [[nodiscard]] Index source(int axis, Index index, Centering centering) const noexcept;

  using Around = std::array<const Taps*, 3>;  ///< the shares along each axis
  template <class T>
  class Field;
  template <class T>
  void interpolate(const Box& points, const Variable& variable, std::span<const std::byte> from,
                   std::span<std::byte> to) const;

  Interpolation interpolation_;
  std::array<Index, 3> coarsen_{1, 1, 1}, refine_{1, 1, 1};
  Index3 size_{}, stored_size_{};
  std::array<std::vector<double>, 3> nodes_;  ///< of rectilinear meshes; empty: spaced evenly
};

}  // namespace sidestream
