// Results of analyses: tables, data sets, images, surfaces, parts of meshes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/type.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream {

/// Values of one column, one per row: integers, real numbers, or texts.
using ColumnValues = std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

struct Column {
  std::string name;
  ColumnValues values;
};

/// Named columns of equal length. Each is contiguous and has one type, so that ten million rows cost only their values.
/// Small tables can be made row by row.
class Table {
 public:
  using Cell = std::variant<std::int64_t, double, std::string>;

  Table() = default;
  /// Throws Error(analysis) if the lengths differ.
  explicit Table(std::vector<Column> columns);
  /// Adds each row as `add_row` does; without rows the columns have the type of the first row that is added.
  Table(const std::vector<std::string>& names, const std::vector<std::vector<Cell>>& rows);

  /// Adds a row with a cell for each column. A column has the type of its first cell. Integers become real in a column
  /// of reals; other differences throw Error(analysis).
  void add_row(const std::vector<Cell>& cells);

  [[nodiscard]] const std::vector<Column>& columns() const noexcept { return columns_; }
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// One cell, for access to a few.
  [[nodiscard]] Cell at(std::size_t row, std::size_t column) const;

 private:
  std::vector<Column> columns_;
  std::size_t rows_ = 0;
};

/// Named arrays of any number of axes, with the attributes that readers need.
struct DataSet {
  using Attribute = sidestream::Attribute;
  struct Array {
    std::string name;
    Type type = Type::float64;
    std::vector<std::string> axes{};  ///< names, slowest first
    std::vector<Index> extents{};     ///< extents of the whole array, one per axis
    std::vector<Index> start{};       ///< beginning of `values`; empty: at 0
    std::vector<Index> size{};        ///< extents of `values`; empty: `extents`
    std::string unit{};
    std::vector<Attribute> attributes{};
    std::vector<std::byte> values{};  ///< contiguous, the last axis fastest
  };
  std::vector<Array> arrays{};
  std::vector<Attribute> attributes{};
};

/// Pixels from the top left, row by row, red green blue alpha, 8 bits each.
struct Image {
  std::int32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};

/// Triangles, or lines if the mesh is a plane, in a canonical order (by global cell, vertices by global edge). So the
/// same surface has the same bytes for every division of the mesh.
struct Surface {
  struct Array {
    std::string name;
    std::int32_t components = 1;
    std::vector<double> values;  ///< components next to each other, one tuple per point
    Type type = Type::float64;   ///< in files: float64 or float32
  };
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<std::int64_t, 3>> triangles;  ///< indices into points, counter-clockwise seen from outside
  std::vector<std::array<std::int64_t, 2>> lines{};    ///< indices into points: both ends of each line segment
  std::vector<Array> point_data;
  Type coordinates = Type::float64;  ///< type of the points in files: float64 or float32
};

/// Cells of VTK's linear types with the points that they share, in a canonical order (both by global number). So the
/// same part of a mesh has the same bytes for every division of the mesh.
struct CellSet {
  std::vector<std::array<double, 3>> points;
  std::vector<std::uint8_t> types;  ///< type of each cell, with VTK's numbers
  std::vector<std::int64_t> ends;   ///< the end of each cell's points in `links`
  std::vector<std::int64_t> links;  ///< indices into points
  /// Faces of polyhedra, one cell after the other: number of faces, then for each face its number of points and the
  /// points.
  std::vector<std::int64_t> faces{};
  std::vector<std::int64_t> face_ends{};  ///< the end of each cell's faces; -1 for cells that are not polyhedra
  std::vector<Surface::Array> point_data{}, cell_data{};
};

/// The form of a result with parts on several servers: one file, or pieces that all servers write.
enum class Pieces : std::int32_t {
  automatic = 0,  ///< in pieces if it is larger than 64 MiB
  never = 1,
  always = 2,
};

}  // namespace sidestream
