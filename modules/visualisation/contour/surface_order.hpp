// Joins pieces of blocks to one surface, without assembling it in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "sidestream/data/surface_stream.hpp"
#include "visualisation/contour/surface.hpp"
#include "visualisation/mesh/repeated_points.hpp"

namespace sidestream {

/// Further data of the surface of some pieces, and its layout.
struct SurfaceShape {
  std::vector<AttributeLayout> layout{};  ///< layout of Piece::data
  bool normals = false;                   ///< as an array `normals`, if the pieces have them
  std::vector<double> values{};           ///< not empty: value of the array `value` by layer
  Type coordinates = Type::float64;       ///< type of points and normals in files
};

/// One surface of all pieces. Layers follow each other; each has the points in the order of their keys, once each (for
/// lists of cells, once at each position), and the triangles or lines in the order of their cells. The pieces stay as
/// they are. In addition only the order is stored, which takes no memory where a layer has one piece.
class OrderedSurface final : public SurfaceStream {
 public:
  OrderedSurface(std::vector<Piece> pieces, SurfaceShape shape);

  [[nodiscard]] const Surface& outline() const override { return outline_; }
  [[nodiscard]] std::uint64_t points() const override { return points_; }
  [[nodiscard]] std::uint64_t triangles() const override { return triangles_; }
  [[nodiscard]] std::uint64_t lines() const override { return lines_; }
  void give_points(const Sink& sink) const override;
  void give_triangles(const Sink& sink) const override;
  void give_lines(const Sink& sink) const override;
  void give_data(std::size_t array, const Sink& sink) const override;
  /// Points of lists of cells whose key another point elsewhere has.
  [[nodiscard]] const RepeatedPoints& repeated() const noexcept { return repeated_; }

 private:
  /// A contiguous part of a piece's points or cells, in that piece's order.
  struct Run {
    std::uint32_t piece;
    std::size_t first, count;
  };
  /// The order of a piece's points and cells; empty: as stored.
  struct Ranks {
    std::vector<std::uint32_t> points, cells;
    std::vector<std::int64_t> numbers;  ///< number of each point in the surface; empty: consecutive from `first` on
    std::int64_t first = 0;
  };
  struct Key {
    std::int64_t key, other;
    std::array<double, 3> place{};  ///< for lists of cells: a key may have several points
    [[nodiscard]] std::strong_ordering operator<=>(const Key& that) const noexcept {
      if (key != that.key) return key <=> that.key;
      return other != that.other ? other <=> that.other : order_of(place, that.place);
    }
    [[nodiscard]] bool operator==(const Key& that) const noexcept { return (*this <=> that) == 0; }
    [[nodiscard]] bool is_named_as(const Key& that) const noexcept { return key == that.key && other == that.other; }
  };

  void rank(std::size_t piece);
  [[nodiscard]] std::size_t point_at(std::size_t piece, std::size_t rank) const noexcept;
  [[nodiscard]] std::size_t cell_at(std::size_t piece, std::size_t rank) const noexcept;
  [[nodiscard]] std::size_t ranked_points(std::size_t piece) const noexcept;
  [[nodiscard]] Key key_at(std::size_t piece, std::size_t point) const noexcept;
  [[nodiscard]] Key key_of(std::size_t piece, std::size_t rank) const noexcept;
  [[nodiscard]] std::int64_t number(std::size_t piece, std::int64_t point) const noexcept;
  void order_points(const std::vector<std::size_t>& layer);
  void order_cells(const std::vector<std::size_t>& layer);
  void order_listed_cells(const std::vector<std::size_t>& layer);
  template <std::size_t corners, class Cells>
  void give_cells(const Cells& cells, const std::vector<std::array<std::int64_t, corners>>& made,
                  const Sink& sink) const;
  void give_places(PackedPlaces Piece::*places, Type type, const Sink& sink) const;
  template <class Make>
  void give_reals(std::size_t components, Type type, const Make& make, const Sink& sink) const;

  std::vector<Piece> pieces_;
  SurfaceShape shape_;
  Surface outline_;
  std::vector<Ranks> ranks_;
  std::vector<Run> point_runs_, cell_runs_;
  std::uint64_t points_ = 0, triangles_ = 0, lines_ = 0;
  RepeatedPoints repeated_;
  // Cells of lists, copied because the corners have to be ordered too.
  std::vector<std::array<std::int64_t, 3>> made_triangles_;
  std::vector<std::array<std::int64_t, 2>> made_lines_;
};

}  // namespace sidestream
