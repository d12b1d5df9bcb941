// Cells of unstructured meshes.
//
// Cells are split into parts whose map can be inverted (linear cells, or tetrahedra and triangles for polyhedra,
// polygons and cells of higher order); `locate` solves for the parametric coordinates and returns weights of the
// corners if the place is inside.
#include <algorithm>
#include <limits>
#include <map>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/mesh/point_values.hpp"
#include "visualisation/mesh/cells/cell_shape.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"
#include "visualisation/mesh/cells/subdivision.hpp"
#include "visualisation/sampling/searched_cells.hpp"

namespace sidestream::sampling {
namespace {

constexpr std::uint8_t line = 3;

/// Values of a list of integers of any type.
std::vector<Index> whole_numbers(const BlockView& view, Index count) {
  std::vector<Index> numbers;
  numbers.reserve(static_cast<std::size_t>(count));
  with_type(view.array.type, [&](auto zero) {
    using T = decltype(zero);
    for (Index i = 0; i < count; ++i) numbers.push_back(static_cast<Index>(*view.array.at<T>(i, 0, 0)));
  });
  return numbers;
}

class UnstructuredCells final : public SearchedCells {
 public:
  UnstructuredCells(const Query& query, const LocalInput& input, SampledBlock block)
      : query_(query), input_(input), mesh_(mesh_of(query, input.metadata)), block_(std::move(block)) {
    const Index cells = block_.block.cells.hi[0];
    const BlockView *where = of(Role::coordinates), *links = of(Role::connectivity), *ends = of(Role::offsets),
                    *types = of(Role::types), *ids = of(Role::cell_ids), *flags = of(Role::cell_ghosts);
    if (!where || !links || !ends || !types) return;  // an array that defines the cells is missing
    links_ = whole_numbers(*links, block_.block.lengths.corners);
    ends_ = whole_numbers(*ends, cells);
    types_ = whole_numbers(*types, cells);
    if (ids) ids_ = whole_numbers(*ids, cells);
    if (flags) flags_ = whole_numbers(*flags, cells);
    places_.resize(static_cast<std::size_t>(block_.block.lengths.points));
    for (std::size_t n = 0; n < places_.size(); ++n) {
      for (int c = 0; c < mesh_.dimensions; ++c) {
        places_[n][static_cast<std::size_t>(c)] = real_at(*where, static_cast<Index>(n), c);
      }
    }
  }

  Index count() const noexcept override { return static_cast<Index>(ends_.size()); }

  State bounds_of(Index cell, Place& low, Place& high) override {
    const auto number = static_cast<std::size_t>(cell);
    if (!flags_.empty() && flags_[number] != 0) return State::left_out;
    const std::span<const Index> points = points_of_cell(number);
    if (points.empty()) return State::left_out;
    low = high = places_[static_cast<std::size_t>(points[0])];
    for (const Index p : points) {
      const Place& place = places_[static_cast<std::size_t>(p)];
      for (std::size_t a = 0; a < 3; ++a) {
        low[a] = std::min(low[a], place[a]);
        high[a] = std::max(high[a], place[a]);
      }
    }
    widen(low, high);
    const auto type = static_cast<std::uint8_t>(types_[number]);
    if (is_thin_cell(type) && type != line) return State::left_out;  // without an interior
    return divide(cell) ? State::searched : State::unknown;
  }

  std::optional<InCell> take(Index cell, const Place& place, std::span<double> values) override {
    if (!divide(cell)) return std::nullopt;
    for (const Simple& part : parts_) {
      const auto found = find_in(part, place);
      if (!found) continue;
      write(static_cast<std::size_t>(cell), part.points, found->weights, values);
      return InCell{rank_of(static_cast<std::size_t>(cell)), found->margin, false};
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] const BlockView* of(Role role) const { return input_.find(mesh_.array(role), block_.block.id); }

  /// The points of a cell. Throws Error(analysis) if it refers to points that do not exist.
  [[nodiscard]] std::span<const Index> points_of_cell(std::size_t cell) const {
    const Index begin = cell == 0 ? 0 : ends_[cell - 1], end = ends_[cell];
    const auto count = static_cast<Index>(links_.size());
    const bool listed = begin >= 0 && begin <= end && end <= count;
    const auto points =
        listed ? std::span(links_).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin))
               : std::span<const Index>();
    const auto there = [&](Index p) { return p >= 0 && p < static_cast<Index>(places_.size()); };
    if (listed && std::all_of(points.begin(), points.end(), there)) return points;
    fail(Code::analysis,
         "cell {} of block {} of the mesh '{}' has the entries {} to {} of {} in the connectivity, or a point that is "
         "none of the {} of the block; publish lists that belong together",
         cell, block_.block.id, mesh_.name, begin, end, count, places_.size());
  }

  /// A cell whose map can be inverted: one of the list, or a part of one.
  struct Simple {
    std::uint8_t type;
    std::vector<Index> points;
  };

  /// The weights of a part's corners if it contains the place.
  [[nodiscard]] std::optional<Located> find_in(const Simple& part, const Place& place) const {
    const CellKind kind = kind_of(part.type);
    // A surface in space has no interior.
    if (kind.dimensions != mesh_.dimensions || kind.corners != part.points.size()) return std::nullopt;
    std::array<Place, most_corners> corners{};
    for (std::size_t c = 0; c < part.points.size(); ++c) corners[c] = places_[static_cast<std::size_t>(part.points[c])];
    return locate(part.type, std::span(corners.data(), part.points.size()), place);
  }

  /// Makes a cell the current one, with its parts. Returns false if its type is unknown.
  bool divide(Index cell) {
    if (cell == current_) return known_;
    current_ = cell;
    parts_.clear();
    const auto number = static_cast<std::size_t>(cell);
    known_ = take_parts(number, static_cast<std::uint8_t>(types_[number]), points_of_cell(number));
    return known_;
  }

  /// Splits a cell: cells of higher order into linear ones (mesh/cells/subdivision.hpp), polyhedra into tetrahedra,
  /// polygons into triangles. Returns false if the type is unknown.
  bool take_parts(std::size_t cell, std::uint8_t type, std::span<const Index> points) {
    if (kind_of(type).dimensions > 0) {
      parts_.push_back({type, {points.begin(), points.end()}});
      return true;
    }
    if (type == vtk_polygon) {
      take_polygon(points);
      return true;
    }
    if (type == vtk_polyhedron) return take_polyhedron(cell);
    const std::int64_t expected = points_of_subdivided(type);
    if (!is_subdivided(type) || (expected > 0 && expected != static_cast<Index>(points.size()))) return false;
    for (const LinearPart& part : linear_parts(type, static_cast<std::int64_t>(points.size()))) {
      const auto point = [&](int n) { return points[static_cast<std::size_t>(n)]; };
      std::vector<Index> of_part;
      for (const int n : part.points) of_part.push_back(point(n));
      if (part.type == vtk_polygon) {
        take_polygon(of_part);
      } else if (part.type == vtk_polyhedron) {
        std::vector<std::vector<Index>> faces;
        for (const auto& face : part.faces) {
          for (std::vector<Index>& loop = faces.emplace_back(); const int n : face) loop.push_back(point(n));
        }
        take_tetrahedra(faces);
      } else {
        parts_.push_back({part.type, std::move(of_part)});
      }
    }
    return true;
  }

  void take_polygon(std::span<const Index> points) {
    for (std::size_t n = 2; n < points.size(); ++n)
      parts_.push_back({vtk_triangle, {points[0], points[n - 1], points[n]}});
  }

  bool take_polyhedron(std::size_t cell) {
    const BlockView *list = of(Role::faces), *ends = of(Role::face_offsets);
    if (!list || !ends) return false;
    if (faces_.empty()) {
      faces_ = whole_numbers(*list, block_.block.lengths.faces);
      face_ends_ = whole_numbers(*ends, block_.block.cells.hi[0]);
    }
    Index at = 0;
    for (std::size_t before = cell; before > 0 && at == 0; --before) at = std::max<Index>(0, face_ends_[before - 1]);
    const Index end = face_ends_[cell];
    if (at >= end || end > static_cast<Index>(faces_.size())) return false;
    std::vector<std::vector<Index>> faces;
    Index left = faces_[static_cast<std::size_t>(at++)];
    for (; left > 0 && at < end; --left) {
      std::vector<Index>& loop = faces.emplace_back();
      for (Index corners = faces_[static_cast<std::size_t>(at++)]; corners > 0 && at < end; --corners) {
        const Index p = faces_[static_cast<std::size_t>(at++)];
        if (p < 0 || p >= static_cast<Index>(places_.size())) return false;
        loop.push_back(p);
      }
      if (loop.size() < 3) return false;
    }
    take_tetrahedra(faces);
    return left == 0;
  }

  /// Orders points by their global numbers, if they have any, so that cells that share a face split it in the same way.
  void take_tetrahedra(std::vector<std::vector<Index>>& faces) {
    const BlockView* names = of(Role::point_ids);
    if (names && names_.empty()) names_ = whole_numbers(*names, block_.block.lengths.points);
    std::map<Index, Index> points;  // by global number
    std::map<Index, Index> order;   // without global numbers: in the order of the faces
    for (auto& face : faces) {
      for (Index& p : face) {
        const Index name = names ? names_[static_cast<std::size_t>(p)]
                                 : order.try_emplace(p, static_cast<Index>(order.size())).first->second;
        points[name] = p;
        p = name;
      }
    }
    for (const auto& [a, b, c, d] : tetrahedra_of(faces)) {
      parts_.push_back({vtk_tetra, {points[a], points[b], points[c], points[d]}});
    }
  }

  /// Writes the values at a place in a part of a cell.
  void write(std::size_t cell, std::span<const Index> points, const Weights& weights, std::span<double> values) const {
    std::size_t column = 0;
    for (std::size_t v = 0; v < query_.variables.size(); ++v) {
      const Variable& variable = input_.metadata.variables.at(static_cast<std::size_t>(query_.variables[v]));
      const BlockView* view = block_.views[v];
      const bool in_cells = variable.centering == Centering::cell;
      for (int c = 0; c < variable.components; ++c, ++column) {
        const auto at_corner = [&](std::size_t n) { return real_at(*view, points[n], c); };
        values[column] = !view      ? std::numeric_limits<double>::quiet_NaN()
                         : in_cells ? real_at(*view, static_cast<Index>(cell), c)
                                    : weighed(std::span(weights).first(points.size()), !query_.linear_nodes, at_corner);
      }
    }
  }
  [[nodiscard]] Rank rank_of(std::size_t cell) const {
    if (ids_.empty()) return {0, block_.block.id, static_cast<std::int64_t>(cell)};
    return {0, ids_[cell], block_.block.id};
  }

  const Query& query_;
  const LocalInput& input_;
  const Mesh& mesh_;
  const SampledBlock block_;
  std::vector<Index> links_, ends_, types_, ids_, flags_;
  std::vector<Index> faces_, face_ends_, names_;  ///< filled on first use
  std::vector<Place> places_;
  Index current_ = -1;         ///< the cell that was divided last
  bool known_ = false;         ///< true if its type is
  std::vector<Simple> parts_;  ///< its parts
};

}  // namespace

std::unique_ptr<SearchedCells> unstructured_cells(const Query& query, const LocalInput& input, SampledBlock block) {
  return std::make_unique<UnstructuredCells>(query, input, std::move(block));
}

}  // namespace sidestream::sampling
