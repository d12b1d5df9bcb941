// What the kernel for surfaces does otherwise where the grid is curved: places and normals of vertices from the
// coordinates of the points at both ends, and which cells are left-handed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "contour/contour_rows.hpp"
#include "contour/curved_points.hpp"
#include "contour/number_planes.hpp"

namespace sidestream {

/// T: of the numbers. Rows of points come in ascending order, and cells not more than a plane behind them.
template <class T>
class CurvedFlight {
 public:
  virtual ~CurvedFlight() = default;
  /// A hint that the points above these cells of a row, so far along from `first`, will be asked for soon: memory is
  /// slow where they are spread, and the processor can't tell which ones come next.
  virtual void announce(const Index3& first, std::span<const std::int32_t> cells) const noexcept = 0;
  /// The places of a row's vertices; whether all of them are finite.
  [[nodiscard]] virtual bool place(const PointRow& row, std::array<double, 3>* out) = 0;
  /// Of length 1, towards lower numbers: from central differences along the grid's lines, one-sided where a neighbour
  /// has no value.
  virtual void normals(const NumberPlanes<T>& numbers, const PointRow& row, std::array<double, 3>* out) = 0;
  /// For each entry of `at`, which ascends, whether the cell that far along the row from `first` is left-handed; true
  /// if any is.
  [[nodiscard]] virtual bool mirrored(const Index3& first, std::span<const std::int32_t> at, std::uint8_t* out) = 0;
};

/// `box`: of the points that may be asked for; `normals`: whether they will be. Keeps what `points` refers to.
template <class T>
[[nodiscard]] std::unique_ptr<CurvedFlight<T>> curved_flight(const CurvedPoints& points, const Box& box, bool normals);

extern template std::unique_ptr<CurvedFlight<float>> curved_flight(const CurvedPoints&, const Box&, bool);
extern template std::unique_ptr<CurvedFlight<double>> curved_flight(const CurvedPoints&, const Box&, bool);

}  // namespace sidestream
