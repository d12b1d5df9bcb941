// Slices on which each cell has its own value: polygons where a plane cuts cells of trees and of refinement levels.
//
// Cells that the plane may cut are found by descending: trees from their roots, boxes by halving. `CellSections` cuts
// each cell (convex polygon, as a fan of triangles). Cells are sorted by name, so that the surface does not depend on
// the division, and points are not shared between cells. If the plane is the mesh itself (two dimensions), cells are
// drawn as they are.
#include "visualisation/extract/extract.hpp"

#include <algorithm>
#include <cmath>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/mesh/chosen_runs.hpp"
#include "sidestream/kit/mesh/owned_leaves.hpp"
#include "sidestream/kit/mesh/place_names.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"
#include "visualisation/contour/marching_cubes_cell.hpp"
#include "visualisation/extract/plane_options.hpp"
#include "visualisation/mesh/cells/cell_section.hpp"

namespace sidestream {
namespace {

constexpr int edges_of_cell = 16;  ///< number of edges that may name a point

/// A cell that is cut. `at`: index of its values in the block's arrays.
struct CutCell {
  TreeName name;
  TreeCell cell;
  Index3 at;
};

/// True if a plane meets a region, which may be infinite, within a rounding error.
bool meets(const Plane& plane, const std::array<double, 3>& low, const std::array<double, 3>& high) {
  double least = 0, most = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (plane.normal[a] == 0) continue;  // avoids 0 times infinity
    const double p = plane.normal[a] * (low[a] - plane.origin[a]), q = plane.normal[a] * (high[a] - plane.origin[a]);
    least += std::min(p, q);
    most += std::max(p, q);
  }
  const double slack = 1e-9 * (std::fabs(least) + std::fabs(most));
  return !(least - slack > 0) && !(most + slack < 0);
}

/// One component of a variable in a block: constant in cells, or linear along their edges.
class Values {
 public:
  Values(const BlockView* view, bool at_nodes, int component)
      : view_(view), at_nodes_(at_nodes), component_(component) {}
  [[nodiscard]] double at(const Index3& cell, const SectionPoint& point) const {
    if (view_ == nullptr) return std::numeric_limits<double>::quiet_NaN();
    if (!at_nodes_) return number_at(view_->array, cell, component_);
    const SectionEdge edge = section_edge(point.edge);
    Index3 node = cell;
    for (std::size_t a = 0; a < 3; ++a) node[a] += edge.corner >> a & 1;
    Index3 other = node;
    ++other[edge.axis];
    if (point.along == 0) return at_node(node);
    return point.along == 1 ? at_node(other) : mix(at_node(node), at_node(other), point.along);
  }

 private:
  /// Value from the block that owns the node.
  [[nodiscard]] double at_node(const Index3& p) const {
    const auto has = [&](const Box& box) { return !intersection(box, {p, {p[0] + 1, p[1] + 1, p[2] + 1}}).empty(); };
    if (std::any_of(view_->owned.begin(), view_->owned.end(), has)) return number_at(view_->array, p, component_);
    const auto piece =
        std::find_if(view_->halo.begin(), view_->halo.end(), [&](const HaloPiece& h) { return has(h.box); });
    return piece == view_->halo.end() ? std::numeric_limits<double>::quiet_NaN()
                                      : number_at(piece->array, p, component_);
  }
  const BlockView* view_;
  bool at_nodes_;
  int component_;
};

/// Slicer for the cells of one block.
class BlockSlicer {
 public:
  BlockSlicer(const SliceQuery& query, const LocalInput& input, const Mesh& mesh, const CellSections& sections,
              const Block& block)
      : query_(query), mesh_(mesh), sections_(sections), whole_(lies_in(query.plane, mesh)) {
    for (const std::int32_t id : query.variables) {
      const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(id));
      const BlockView* view = input.find(id, block.id);
      for (int c = 0; c < variable.components; ++c) {
        values_.emplace_back(view, variable.centering != Centering::cell, c);
      }
    }
    triangles_.data.resize(values_.size());
    lines_.data.resize(values_.size());
  }

  /// True if the plane contains a two-dimensional mesh.
  static bool lies_in(const Plane& plane, const Mesh& mesh) {
    return mesh.dimensions == 2 && axis_along(plane.normal) == 2;
  }
  [[nodiscard]] bool cuts(const CellEnds& ends) const { return whole_ || sections_.cuts(ends); }
  void keep(const TreeCell& cell, const Index3& from, const Index3& extents, const Index3& at) {
    TreeCell counted = cell;
    for (std::size_t a = 0; a < 3; ++a) counted.index[a] -= from[a];
    cut_.push_back({name_of(counted, extents, mesh_.dimensions), cell, at});
  }

  /// Adds the cut cells in the order of names, which is the surface's order.
  template <class Ends>
  void take(Ends&& ends, std::vector<Piece>& pieces) {
    std::sort(cut_.begin(), cut_.end(), [](const CutCell& a, const CutCell& b) { return a.name < b.name; });
    for (const CutCell& cut : cut_) {
      const CellEnds cell = ends(cut.cell);
      if (whole_) {
        outline(cell);
      } else {
        sections_.section(cell, points_);
      }
      if (!points_.empty()) add(cut);
    }
    if (!triangles_.triangles.empty()) pieces.push_back(std::move(triangles_));
    if (!lines_.lines.empty()) pieces.push_back(std::move(lines_));
  }

 private:
  /// Outline of a two-dimensional cell, counter-clockwise seen from the normal's side. Corners are named by an edge,
  /// too.
  void outline(const CellEnds& ends) {
    constexpr std::array<std::uint8_t, 4> edges{0, 5, 1, 4};
    constexpr std::array<double, 4> along{0, 0, 1, 1};
    constexpr std::array<std::uint8_t, 4> corners{0, 1, 3, 2};
    points_.clear();
    for (std::size_t n = 0; n < 4; ++n) {
      points_.push_back({{ends[0][corners[n] & 1], ends[1][corners[n] >> 1], ends[2][0]}, edges[n], along[n]});
    }
    const bool mirrored = (ends[0][1] < ends[0][0]) != (ends[1][1] < ends[1][0]);
    if (mirrored != (query_.plane.normal[2] < 0)) std::reverse(points_.begin(), points_.end());
  }

  void add(const CutCell& cut) {
    const auto count = static_cast<std::int64_t>(points_.size());
    if (count == 2) {
      const std::int64_t first = add_points(cut, lines_);
      lines_.lines.push_back({first, first + 1});
      lines_.cells.push_back(cut.name.a);
      return;
    }
    const std::int64_t first = add_points(cut, triangles_);
    for (std::int64_t n = 2; n < count; ++n) {
      triangles_.triangles.push_back({first, first + n - 1, first + n});
      triangles_.cells.push_back(cut.name.a);
    }
    if (!query_.edges) return;
    const std::int64_t start = add_points(cut, lines_);
    for (std::int64_t n = 0; n < count; ++n) {
      lines_.lines.push_back({start + n, start + (n + 1) % count});
      lines_.cells.push_back(cut.name.a);
    }
  }

  std::int64_t add_points(const CutCell& cut, Piece& piece) const {
    const auto first = static_cast<std::int64_t>(piece.points.size());
    for (const SectionPoint& point : points_) {
      piece.points.push_back(point.place);
      piece.keys.push_back(cut.name.a);
      const auto other = static_cast<std::uint64_t>(cut.name.b) * edges_of_cell + point.edge;
      piece.others.push_back(static_cast<std::int64_t>(other));
      for (std::size_t v = 0; v < values_.size(); ++v) piece.data[v].push_back(values_[v].at(cut.at, point));
    }
    return first;
  }

  const SliceQuery& query_;
  const Mesh& mesh_;
  const CellSections& sections_;
  bool whole_;
  std::vector<Values> values_;
  std::vector<CutCell> cut_;
  std::vector<SectionPoint> points_;
  Piece triangles_, lines_;
};

// ---- Trees ---------------------------------------------------------------------------------------------------------

CellEnds ends_in_tree(const TreePlaces& places, const TreeCell& cell, int dimensions) {
  CellEnds ends{};
  for (int a = 0; a < dimensions; ++a) {
    const auto n = static_cast<std::size_t>(a);
    ends[n] = {places.node(a, cell.level, cell.index[n]), places.node(a, cell.level, cell.index[n] + 1)};
  }
  return ends;
}

void slice_tree(const SliceQuery& query, const LocalInput& input, const Mesh& mesh, const BlockView& view,
                std::vector<Piece>& pieces) {
  const auto tree = OwnedLeaves::of(input, mesh, view.block);
  if (!tree || view.copy) return;
  const TreePlaces places(mesh);
  const Index3& roots = dynamic_cast<const OctreeGeometry&>(*mesh.geometry).roots();
  CellEnds whole{};
  for (int a = 0; a < mesh.dimensions; ++a) {
    const auto n = static_cast<std::size_t>(a);
    whole[n] = {places.node(a, 0, 0), places.node(a, 0, roots[n])};
  }
  const CellSections sections(query.plane, whole, mesh.dimensions);
  BlockSlicer slicer(query, input, mesh, sections, view.block);
  const auto cut = [&](const TreeCell& cell) { return slicer.cuts(ends_in_tree(places, cell, mesh.dimensions)); };
  for_each_chosen_leaf(tree->index(), mesh, query.choice, cut, [&](Index number, const TreeCell& cell) {
    if (!tree->owns(number)) return;
    Index3 extents{1, 1, 1};
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimensions); ++a) extents[a] = roots[a] << cell.level;
    slicer.keep(cell, {0, 0, 0}, extents, {number, 0, 0});
  });
  slicer.take([&](const TreeCell& cell) { return ends_in_tree(places, cell, mesh.dimensions); }, pieces);
}

// ---- Boxes of cells on a level -------------------------------------------------------------------------------------

/// The counted cells of a block: its own, without those that a finer level covers.
std::vector<Box> cells_of(const BlockView& view, bool in_cells) {
  if (view.copy) return {};
  std::vector<Box> cells = in_cells ? view.owned : std::vector<Box>{view.block.cells};
  for (const Box& covered : view.covered) cells = difference(cells, covered);
  return cells;
}

class BoxSlice {
 public:
  BoxSlice(const SliceQuery& query, const LocalInput& input, const Mesh& mesh, const BlockView& view)
      : mesh_(mesh),
        axes_(mesh, view.block.level),
        level_(view.block.level),
        flags_(flags_of(mesh, input, view)),
        sections_(query.plane, ends({mesh.cells_on(level_).lo, mesh.cells_on(level_).hi}), mesh.dimensions),
        slicer_(query, input, mesh, sections_, view.block) {
    const Variable& first = input.metadata.variables.at(static_cast<std::size_t>(query.variables.front()));
    for (const Box& box : cells_of(view, first.centering == Centering::cell)) {
      walk(chosen_in(query.choice, axes_, Centering::cell, box, mesh.dimensions));
    }
  }

  void take(std::vector<Piece>& pieces) {
    slicer_.take([&](const TreeCell& cell) { return ends(one(cell.index)); }, pieces);
  }

 private:
  static Box one(const Index3& cell) { return {cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}}; }

  [[nodiscard]] CellEnds ends(const Box& cells) const {
    CellEnds ends;
    for (int a = 0; a < 3; ++a) {
      const auto n = static_cast<std::size_t>(a);
      ends[n] = {axes_.node(a, cells.lo[n]), axes_.node(a, a < mesh_.dimensions ? cells.hi[n] : cells.lo[n])};
    }
    return ends;
  }

  /// Halves the box recursively as long as the plane cuts it.
  void walk(const Box& cells) {
    if (cells.empty() || !slicer_.cuts(ends(cells))) return;
    if (cells.count() == 1) return keep(cells.lo);
    int axis = 0;
    for (int a = 1; a < 3; ++a) axis = cells.extent(a) > cells.extent(axis) ? a : axis;
    const auto n = static_cast<std::size_t>(axis);
    Box lower = cells, upper = cells;
    lower.hi[n] = upper.lo[n] = cells.lo[n] + cells.extent(axis) / 2;
    walk(lower);
    walk(upper);
  }

  void keep(const Index3& cell) {
    if (flags_ != nullptr) {
      double flag = 0;
      flags_->gather(one(cell), 0, &flag);
      if (flag > 0) return;
    }
    const Box all = mesh_.cells_on(level_);
    slicer_.keep({level_, cell}, all.lo, {all.extent(0), all.extent(1), all.extent(2)}, cell);
  }

  const Mesh& mesh_;
  LevelAxes axes_;
  std::int32_t level_;
  const BlockView* flags_;
  CellSections sections_;
  BlockSlicer slicer_;
};

}  // namespace

Part cellwise_slice_part(const SliceQuery& query, const Mesh& mesh) {
  BlockPredicate predicate;
  const Part chosen = part_of(query.choice);
  const auto in_choice = chosen.kind == Part::Kind::predicate ? chosen.predicate.needed : nullptr;
  const bool whole = BlockSlicer::lies_in(query.plane, mesh);
  predicate.needed = [plane = query.plane, whole, in_choice](const BlockSummary& block) {
    return (!in_choice || in_choice(block)) && (whole || meets(plane, block.low, block.high));
  };
  return predicate;
}

std::vector<Piece> extract_cellwise(const SliceQuery& query, const LocalInput& input) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variables.front()));
  const Mesh& mesh = input.metadata.mesh_of(variable);
  std::vector<Piece> pieces;
  for (const BlockView& view : input.of(variable.id)) {
    if (mesh.kind() == MeshKind::octree) {
      slice_tree(query, input, mesh, view, pieces);
    } else if (query.choice.has_level(view.block.level)) {
      BoxSlice(query, input, mesh, view).take(pieces);
    }
  }
  return pieces;
}

}  // namespace sidestream
