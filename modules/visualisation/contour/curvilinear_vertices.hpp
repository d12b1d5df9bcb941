// Parts of the surface kernel for curved grids: positions and normals of vertices from the coordinates of the points at
// both ends, and the cells that are left-handed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "visualisation/contour/curved_points.hpp"
#include "visualisation/contour/row_normals.hpp"

namespace sidestream {

/// T is the type of the numbers. Rows of points come in ascending order, and cells at most one plane behind them.
template <class T>
class CurvedFlight {
 public:
  virtual ~CurvedFlight() = default;
  /// Prefetches the points above these cells of a row, given by offset from `first`: memory is slow where they are
  /// scattered, and the processor cannot predict which ones come next.
  virtual void announce(const Index3& first, std::span<const std::int32_t> cells) const noexcept = 0;
  /// Computes the positions of a row's vertices; returns true if all of them are finite.
  [[nodiscard]] virtual bool place(const PointRow& row, std::array<double, 3>* out) = 0;
  /// Computes unit normals towards lower numbers: from central differences along the grid lines, one-sided where a
  /// neighbour has no value.
  virtual void normals(const NumberPlanes<T>& numbers, const PointRow& row, std::array<double, 3>* out) = 0;
  /// Determines for each entry of `at`, which ascends, if the cell at that offset from `first` is left-handed. Returns
  /// true if any is.
  [[nodiscard]] virtual bool mirrored(const Index3& first, std::span<const std::int32_t> at, std::uint8_t* out) = 0;
};

/// `box` has the points that may be asked for; `normals` is true if normals will be. Keeps references into `points`.
template <class T>
[[nodiscard]] std::unique_ptr<CurvedFlight<T>> curved_flight(const CurvedPoints& points, const Box& box, bool normals);

extern template std::unique_ptr<CurvedFlight<float>> curved_flight(const CurvedPoints&, const Box&, bool);
extern template std::unique_ptr<CurvedFlight<double>> curved_flight(const CurvedPoints&, const Box&, bool);

}  // namespace sidestream
