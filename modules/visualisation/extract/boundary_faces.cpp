// Boundary faces of a block's cells, for rendering.
//
// 1. Points of the block and of its neighbours' cells are numbered alike, by rank of their keys.
// 2. Each face of a solid cell is cut into triangles from its point of lowest rank, so that both cells of a face
//    produce the same triangles (collect, add).
// 3. Triangles are sorted by points. One that occurs twice lies between two cells and is dropped (seen). Flat cells are
//    always kept; triangles of neighbouring cells are not drawn here.
#include "visualisation/extract/part_query.hpp"

#include <algorithm>
#include <cmath>

#include "visualisation/mesh/cells/cell_shapes.hpp"
#include "visualisation/mesh/plane.hpp"

namespace sidestream {
namespace {

using rendering::Vec3;

/// A triangle of points, numbered alike in both pieces, the lowest first.
struct Triangle {
  std::array<std::int64_t, 3> points;
  std::int64_t cell;  ///< -1: not a cell of the block
  bool solid;         ///< face of a solid cell, which another cell may share
};

class Faces {
 public:
  explicit Faces(const BlockPart& part) : part_(part) {
    number(part.own, own_);
    number(part.around, around_);
    rank_points();
    collect(part.own, own_, true);
    collect(part.around, around_, false);
  }
  /// Visible triangles, in the order of their points.
  [[nodiscard]] std::vector<Triangle> seen() {
    std::sort(triangles_.begin(), triangles_.end(), [](const Triangle& a, const Triangle& b) {
      return a.points != b.points ? a.points < b.points : a.cell < b.cell;
    });
    std::vector<Triangle> seen;
    for (std::size_t n = 0; n < triangles_.size();) {
      std::size_t end = n + 1;
      while (end < triangles_.size() && triangles_[end].points == triangles_[n].points) ++end;
      if (!triangles_[n].solid || end - n == 1) seen.insert(seen.end(), &triangles_[n], &triangles_[n] + (end - n));
      n = end;
    }
    std::erase_if(seen, [](const Triangle& t) { return t.cell < 0; });
    return seen;
  }
  [[nodiscard]] const std::vector<std::array<std::int64_t, 3>>& lines() const { return lines_; }
  /// The block's own number of a point.
  [[nodiscard]] std::size_t own(std::int64_t ranked) const {
    return static_cast<std::size_t>(of_rank_[static_cast<std::size_t>(ranked)]);
  }

 private:
  /// Numbers every point by its key, the same in both pieces.
  void number(const CellPiece& piece, std::vector<std::int64_t>& numbers) {
    for (const PointKey& key : piece.keys) {
      keys_.push_back(key);
      numbers.push_back(static_cast<std::int64_t>(keys_.size()) - 1);
    }
  }
  void rank_points() {
    std::vector<std::int64_t> order(keys_.size());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = static_cast<std::int64_t>(n);
    const auto key = [&](std::int64_t n) -> const PointKey& { return keys_[static_cast<std::size_t>(n)]; };
    std::sort(order.begin(), order.end(),
              [&](std::int64_t a, std::int64_t b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
    std::vector<std::int64_t> rank(keys_.size());
    for (std::size_t n = 0; n < order.size(); ++n) {
      // the block's own point comes first
      if (n == 0 || key(order[n]) != key(order[n - 1])) of_rank_.push_back(order[n]);
      rank[static_cast<std::size_t>(order[n])] = static_cast<std::int64_t>(of_rank_.size()) - 1;
    }
    for (auto* numbers : {&own_, &around_}) {
      for (std::int64_t& n : *numbers) n = rank[static_cast<std::size_t>(n)];
    }
  }

  void collect(const CellPiece& piece, const std::vector<std::int64_t>& numbers, bool own) {
    std::size_t begin = 0, face = 0;
    std::vector<std::int64_t> points, loop;
    for (std::size_t cell = 0; cell < piece.types.size(); ++cell) {
      const auto end = static_cast<std::size_t>(piece.ends[cell]);
      points.clear();
      for (; begin < end; ++begin) points.push_back(numbers[static_cast<std::size_t>(piece.links[begin])]);
      const std::int64_t number = own ? static_cast<std::int64_t>(cell) : -1;
      const std::uint8_t type = piece.types[cell];
      if (type == vtk_polyhedron) {
        for (std::int64_t left = piece.faces[face++]; left > 0; --left) {
          loop.clear();
          for (std::int64_t corners = piece.faces[face++]; corners > 0; --corners) {
            loop.push_back(numbers[static_cast<std::size_t>(piece.faces[face++])]);
          }
          add(loop, number, true);
        }
      } else if (const CellShape* shape = shape_of(type)) {
        for (const auto& corners : shape->body.faces()) {
          loop.clear();
          for (const int corner : corners) loop.push_back(points[static_cast<std::size_t>(corner)]);
          add(loop, number, true);
        }
      } else if (is_flat_cell(type)) {
        if (type == vtk_pixel) std::swap(points[2], points[3]);
        add(points, number, false);
      } else if (own && (type == 3 || type == 4)) {
        for (std::size_t n = 1; n < points.size(); ++n) lines_.push_back({points[n - 1], points[n], number});
      }
    }
  }

  void add(const std::vector<std::int64_t>& loop, std::int64_t cell, bool solid) {
    if (loop.size() < 3) return;
    const auto first = static_cast<std::size_t>(std::min_element(loop.begin(), loop.end()) - loop.begin());
    const auto at = [&](std::size_t n) { return loop[(first + n) % loop.size()]; };
    for (std::size_t n = 1; n + 1 < loop.size(); ++n) {
      if (at(n) == at(0) || at(n + 1) == at(0) || at(n) == at(n + 1)) continue;
      triangles_.push_back({{at(0), std::min(at(n), at(n + 1)), std::max(at(n), at(n + 1))}, cell, solid});
    }
  }

  const BlockPart& part_;
  std::vector<PointKey> keys_;
  std::vector<std::int64_t> own_, around_;  ///< numbers of each piece's points
  std::vector<std::int64_t> of_rank_;       ///< the first point of each key
  std::vector<Triangle> triangles_;
  std::vector<std::array<std::int64_t, 3>> lines_;  ///< both ends, and the cell
};

}  // namespace

Piece boundary_faces(const BlockPart& part, bool in_cells, std::size_t attribute) {
  Faces faces(part);
  Piece piece;
  const std::vector<double>& values = (in_cells ? part.own.cell_data : part.own.point_data).at(attribute);
  piece.data.resize(1);
  const auto corner = [&](std::int64_t ranked, std::int64_t cell) {
    const std::size_t p = faces.own(ranked);
    piece.points.push_back(part.own.points[p]);
    piece.data[0].push_back(values[in_cells ? static_cast<std::size_t>(cell) : p]);
    return static_cast<std::int64_t>(piece.points.size()) - 1;
  };
  for (const Triangle& triangle : faces.seen()) {
    const auto place = [&](std::size_t v) { return part.own.points[faces.own(triangle.points[v])]; };
    const Vec3 normal =
        rendering::cross(rendering::subtract(place(1), place(0)), rendering::subtract(place(2), place(0)));
    const double size = rendering::length(normal);
    if (!(size > 0) || !std::isfinite(size)) continue;
    std::array<std::int64_t, 3> points;
    for (std::size_t v = 0; v < 3; ++v) {
      points[v] = corner(triangle.points[v], triangle.cell);
      piece.normals.push_back(rendering::scale(normal, 1 / size));
    }
    piece.triangles.push_back(points);
  }
  for (const auto& [a, b, cell] : faces.lines()) {
    piece.lines.push_back({corner(a, cell), corner(b, cell)});
    for (int end = 0; end < 2; ++end) piece.normals.push_back({0, 0, 0});
  }
  return piece;
}

namespace {

std::vector<Piece> faces_of(const std::vector<BlockPart>& parts, const PartQuery& query, const Metadata& metadata) {
  const auto in_cells = [&](std::size_t v) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(query.variables[v]));
    return variable.centering == Centering::cell && metadata.mesh_of(variable).kind() != MeshKind::points;
  };
  auto attribute = static_cast<std::size_t>(query.shown_component);
  for (std::size_t v = 0; v < query.shown; ++v) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(query.variables[v]));
    if (in_cells(v) == in_cells(query.shown)) attribute += static_cast<std::size_t>(variable.components);
  }
  std::vector<Piece> pieces;
  for (const BlockPart& part : parts) pieces.push_back(boundary_faces(part, in_cells(query.shown), attribute));
  return pieces;
}

}  // namespace

std::vector<Piece> extract(const ThresholdQuery& query, const LocalInput& input) {
  return faces_of(parts_of(query, input), query, input.metadata);
}

std::vector<Piece> extract(const ClipQuery& query, const LocalInput& input) {
  return faces_of(parts_of(query, input), query, input.metadata);
}

}  // namespace sidestream
