// The kinds of BlockCells: boxes of cells on axes or with coordinates, lists of cells, and particles; trees are in
// tree_cells.cpp. Each finds out once which cells count (Standing) and then gives cells, positions and keys by number.
// PieceBuilder collects chosen cells and numbers their points on first use.
#include "visualisation/mesh/cells/block_cells.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"
#include "sidestream/kit/mesh/point_values.hpp"
#include "visualisation/mesh/cells/cell_list.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"

namespace sidestream {
namespace {

constexpr int level_bits = 56;  ///< the lower bits are the number on the level

using Place = std::array<double, 3>;

bool is_finite(const Place& x) { return std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2]); }

/// Number of an index in a box, i fastest.
std::size_t number_in(const Box& box, const Index3& p) {
  return static_cast<std::size_t>(((p[2] - box.lo[2]) * box.extent(1) + (p[1] - box.lo[1])) * box.extent(0) +
                                  (p[0] - box.lo[0]));
}

Index3 index_in(const Box& box, std::size_t number) {
  const auto n = static_cast<Index>(number);
  const Index row = box.extent(0), plane = row * box.extent(1);
  return {box.lo[0] + n % row, box.lo[1] + n % plane / row, box.lo[2] + n / plane};
}

template <class F>
void for_each_index(const Box& box, F&& f) {
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) f(Index3{i, j, k});
    }
  }
}

/// A block that is a box of cells, on axes or with coordinates of its nodes.
class BoxCells final : public BlockCells {
 public:
  BoxCells(const LocalInput& input, const Mesh& mesh, const Variable& variable, const BlockView& view,
           const BlockView* coordinates, bool neighbours)
      : input_(input), mesh_(mesh), block_(view.block), all_(mesh.cells_on(view.block.level)) {
    const Centering nodes = nodes_of(mesh.dimensions);
    all_nodes_ = points_of(nodes, all_);
    if (all_nodes_.count() >= std::int64_t{1} << level_bits) {
      fail(Code::analysis, "level {} of the mesh '{}' has {} nodes, of which parts can be made of fewer than 2^{} only",
           block_.level, mesh.name, all_nodes_.count(), level_bits);
    }
    box_ = intersection(neighbours ? grown(block_.cells, 1) : block_.cells, all_);
    nodes_ = points_of(nodes, box_);
    stand(view, variable.centering == Centering::cell);
    if (coordinates) {
      take_places(*coordinates);
    } else {
      axes_.emplace(mesh, block_.level);
    }
  }

  std::size_t cells() const override { return standing_.size(); }
  std::size_t points() const override { return static_cast<std::size_t>(nodes_.count()); }
  Standing standing(std::size_t cell) const override { return standing_[cell]; }

  void load(std::size_t number, BlockCell& cell) const override {
    const Index3 p = index_in(box_, number);
    const int corners = 1 << mesh_.dimensions;
    cell.points.clear();
    cell.faces.clear();
    for (int c = 0; c < corners; ++c) {
      cell.points.push_back(number_in(nodes_, {p[0] + (c & 1), p[1] + (c >> 1 & 1), p[2] + (c >> 2)}));
    }
    if (!axes_) {  // in VTK's order, around the cell
      if (mesh_.dimensions > 1) std::swap(cell.points[2], cell.points[3]);
      if (mesh_.dimensions > 2) std::swap(cell.points[6], cell.points[7]);
    }
    const std::uint8_t on_axes[] = {vtk_line, vtk_pixel, vtk_voxel}, curved[] = {vtk_line, vtk_quad, vtk_hexahedron};
    cell.type = (axes_ ? on_axes : curved)[mesh_.dimensions - 1];
  }

  Place place(std::size_t point) const override {
    if (!axes_) return places_[point];
    const Index3 p = index_in(nodes_, point);
    return {axes_->node(0, p[0]), axes_->node(1, p[1]), axes_->node(2, p[2])};
  }
  PointKey key(std::size_t point) const override {
    const std::int64_t number = on_level(number_in(all_nodes_, index_in(nodes_, point)));
    return {PointKey::of_mesh, number, number};
  }
  std::int32_t level(std::size_t) const override { return block_.level; }
  std::int64_t name(std::size_t cell) const override { return on_level(number_in(all_, index_in(box_, cell))); }

  BlockNumbers numbers(const Variable& variable, int component) const override {
    BlockNumbers numbers{variable.centering != Centering::cell, {}};
    const BlockView* view = input_.find(variable.id, block_.id);
    if (view == nullptr) return numbers;
    const Box& region = numbers.at_points ? nodes_ : box_;
    numbers.values.resize(static_cast<std::size_t>(region.count()));
    view->gather(region, component, numbers.values.data());
    return numbers;
  }

 private:
  [[nodiscard]] std::int64_t on_level(std::size_t number) const {
    return std::int64_t{block_.level} << level_bits | static_cast<std::int64_t>(number);
  }

  /// Decides which cells count. For values in cells, the view tells which cells are the block's own and which are in
  /// the halo. Otherwise overlapping blocks would count twice.
  void stand(const BlockView& view, bool in_cells) {
    standing_.assign(static_cast<std::size_t>(box_.count()), Standing::absent);
    const auto set = [&](const Box& part, Standing to) {
      for_each_index(intersection(part, box_), [&](const Index3& p) { standing_[number_in(box_, p)] = to; });
    };
    if (in_cells) {
      for (const HaloPiece& piece : view.halo) set(piece.box, Standing::neighbour);
      for (const Box& owned : view.owned) set(owned, Standing::own);
    } else if (!view.copy) {
      neighbours_by_nodes(view);
      set(block_.cells, Standing::own);
    }
    for (const Box& covered : view.covered) set(covered, Standing::absent);
    leave_out_flagged();
  }

  /// For values at nodes: marks cells whose nodes are all here or in the halo.
  void neighbours_by_nodes(const BlockView& view) {
    std::vector<char> known(static_cast<std::size_t>(nodes_.count()), 0);
    const auto note = [&](const Box& part) {
      for_each_index(intersection(part, nodes_), [&](const Index3& p) { known[number_in(nodes_, p)] = 1; });
    };
    for (const Box& owned : view.owned) note(owned);
    for (const HaloPiece& piece : view.halo) note(piece.box);
    BlockCell cell;
    for (std::size_t n = 0; n < standing_.size(); ++n) {
      load(n, cell);
      if (std::all_of(cell.points.begin(), cell.points.end(), [&](std::size_t p) { return known[p] != 0; })) {
        standing_[n] = Standing::neighbour;
      }
    }
  }

  void leave_out_flagged() {
    const BlockView* flags = input_.find(mesh_.array(Role::cell_ghosts), block_.id);
    if (flags == nullptr) return;
    std::vector<double> values(standing_.size());
    flags->gather(box_, 0, values.data());
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (values[n] > 0) standing_[n] = Standing::absent;
    }
  }

  void take_places(const BlockView& coordinates) {
    places_.assign(points(), Place{0, 0, 0});
    std::vector<double> values(points());
    // A surface or a curve in space has more coordinates than axes.
    for (int d = 0; d < coordinates.array.components; ++d) {
      coordinates.gather(nodes_, d, values.data());
      for (std::size_t p = 0; p < values.size(); ++p) places_[p][static_cast<std::size_t>(d)] = values[p];
    }
    BlockCell cell;
    for (std::size_t n = 0; n < standing_.size(); ++n) {
      load(n, cell);
      const auto placed = [&](std::size_t p) { return is_finite(places_[p]); };
      if (!std::all_of(cell.points.begin(), cell.points.end(), placed)) standing_[n] = Standing::absent;
    }
  }

  const LocalInput& input_;
  const Mesh& mesh_;
  const Block block_;
  Box all_, all_nodes_;  ///< all of the level
  Box box_, nodes_;      ///< the cells and nodes that are visited
  std::optional<LevelAxes> axes_;
  std::vector<Place> places_;  ///< without axes
  std::vector<Standing> standing_;
};

/// A block that lists its cells.
class ListCells final : public BlockCells {
 public:
  ListCells(const LocalInput& input, const Block& block, CellList list)
      : input_(input), block_(block), list_(std::move(list)) {
    std::int64_t begin = 0;
    for (std::size_t n = 0; n < list_.cells(); ++n) {
      begins_.push_back(begin);
      begin = list_.end(n);
    }
  }
  std::size_t cells() const override { return list_.cells(); }
  std::size_t points() const override { return list_.points(); }
  Standing standing(std::size_t cell) const override {
    if (!list_.counts(cell)) return Standing::absent;
    for (std::int64_t n = begins_[cell]; n < list_.end(cell); ++n) {
      if (!is_finite(list_.places()[list_.link(n)])) return Standing::absent;
    }
    return Standing::own;
  }
  void load(std::size_t number, BlockCell& cell) const override {
    cell.type = list_.types()[number];
    cell.points.clear();
    cell.faces.clear();
    for (std::int64_t n = begins_[number]; n < list_.end(number); ++n) cell.points.push_back(list_.link(n));
    if (cell.type != vtk_polyhedron) return;
    for (const auto& loop : list_.faces(number)) cell.faces.emplace_back(loop.begin(), loop.end());
  }
  Place place(std::size_t point) const override { return list_.places()[point]; }
  PointKey key(std::size_t point) const override {
    const std::int64_t name = list_.point_name(point);
    return {PointKey::of_mesh, name, name};
  }
  std::int64_t name(std::size_t cell) const override {
    if (const auto name = list_.cell_name(cell)) return *name;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t n = begins_[cell]; n < list_.end(cell); ++n) {
      least = std::min(least, list_.point_name(list_.link(n)));
    }
    return least;
  }
  BlockNumbers numbers(const Variable& variable, int component) const override {
    const BlockView* view = input_.find(variable.id, block_.id);
    BlockNumbers numbers{variable.centering != Centering::cell, {}};
    if (view == nullptr) return numbers;
    numbers.values = numbers_of(*view, component);
    if (!numbers.at_points) numbers.values = list_.in_cells(std::move(numbers.values));
    return numbers;
  }

 private:
  const LocalInput& input_;
  const Block block_;
  CellList list_;
  std::vector<std::int64_t> begins_;  ///< beginning of each cell in the connectivity
};

/// A block of particles.
class PointCells final : public BlockCells {
 public:
  PointCells(const LocalInput& input, const Mesh& mesh, const BlockView& view, const BlockView& coordinates)
      : input_(input), mesh_(mesh), block_(view.block), coordinates_(coordinates) {
    ids_ = input.find(mesh.array(Role::point_ids), block_.id);
    standing_.assign(static_cast<std::size_t>(view.points.count()), Standing::absent);
    for_each_counted(view, [&](Index i) { standing_[static_cast<std::size_t>(i)] = Standing::own; });
  }
  std::size_t cells() const override { return standing_.size(); }
  std::size_t points() const override { return standing_.size(); }
  Standing standing(std::size_t cell) const override { return standing_[cell]; }
  void load(std::size_t number, BlockCell& cell) const override {
    cell.type = vtk_vertex;
    cell.points.assign(1, number);
    cell.faces.clear();
  }
  Place place(std::size_t point) const override {
    Place x{0, 0, 0};
    for (int d = 0; d < mesh_.dimensions; ++d) {
      x[static_cast<std::size_t>(d)] = real_at(coordinates_, static_cast<Index>(point), d);
    }
    return x;
  }
  PointKey key(std::size_t point) const override {
    if (ids_ != nullptr) {
      const std::int64_t id = with_type(ids_->array.type, [&](auto zero) {
        return static_cast<std::int64_t>(*ids_->array.at<decltype(zero)>(static_cast<Index>(point), 0, 0));
      });
      return {PointKey::of_mesh, id, id};
    }
    const Place x = place(point);
    return {in_order(x[0]), in_order(x[1]), in_order(x[2])};
  }
  std::int64_t name(std::size_t) const override { return 0; }
  BlockNumbers numbers(const Variable& variable, int component) const override {
    const BlockView* view = input_.find(variable.id, block_.id);
    return {true, view == nullptr ? std::vector<double>{} : numbers_of(*view, component)};
  }
  bool apart() const override { return true; }

 private:
  /// A whole number in the same order as the real one; both zeros give the same.
  static std::int64_t in_order(double x) {
    const auto bits = std::bit_cast<std::int64_t>(x + 0.0);
    return bits >= 0 ? bits : bits ^ std::numeric_limits<std::int64_t>::max();
  }

  const LocalInput& input_;
  const Mesh& mesh_;
  const Block block_;
  const BlockView& coordinates_;
  const BlockView* ids_ = nullptr;
  std::vector<Standing> standing_;
};

}  // namespace

std::unique_ptr<BlockCells> cells_of_block(const LocalInput& input, const Variable& variable, const BlockView& view,
                                           bool neighbours) {
  const Mesh& mesh = input.metadata.meshes.at(static_cast<std::size_t>(view.block.mesh));
  if (view.copy || view.block.empty()) return nullptr;
  const BlockView* coordinates = input.find(mesh.array(Role::coordinates), view.block.id);
  if (mesh.kind() == MeshKind::unstructured) {
    std::optional<CellList> list = cell_list_of(input, view);
    if (!list) return nullptr;
    return std::make_unique<ListCells>(input, view.block, std::move(*list));
  }
  if (mesh.kind() == MeshKind::octree) return leaves_of_block(input, mesh, view);
  if (mesh.axes() == nullptr && coordinates == nullptr) return nullptr;
  if (mesh.kind() == MeshKind::points) {
    if (mesh.array(Role::point_ids) >= 0 && input.find(mesh.array(Role::point_ids), view.block.id) == nullptr) {
      return nullptr;
    }
    return std::make_unique<PointCells>(input, mesh, view, *coordinates);
  }
  return std::make_unique<BoxCells>(input, mesh, variable, view, coordinates, neighbours);
}

int halo_for_cells(const Mesh& mesh, const Variable& variable, bool neighbours) noexcept {
  if (mesh.is_list()) return 0;
  // Nodes of a block's cells may belong to another block, also the nodes with its coordinates.
  return neighbours || variable.centering != Centering::cell || mesh.axes() == nullptr ? 1 : 0;
}

PieceBuilder::PieceBuilder(const BlockCells& cells, const std::vector<BlockNumbers>& fields)
    : cells_(cells), fields_(fields), numbers_(cells.points(), -1) {
  piece_.apart = cells.apart();
  for (const BlockNumbers& field : fields) (field.at_points ? piece_.point_data : piece_.cell_data).emplace_back();
}

std::int64_t PieceBuilder::point(std::size_t p) {
  std::int64_t& number = numbers_[p];
  if (number >= 0) return number;
  number = static_cast<std::int64_t>(piece_.points.size());
  piece_.points.push_back(cells_.place(p));
  piece_.keys.push_back(cells_.key(p));
  std::size_t attribute = 0;
  for (const BlockNumbers& field : fields_) {
    if (field.at_points) piece_.point_data[attribute++].push_back(field.at(p));
  }
  return number;
}

std::int64_t PieceBuilder::point(const Place& place, const PointKey& key, std::span<const double> values) {
  piece_.points.push_back(place);
  piece_.keys.push_back(key);
  for (std::size_t a = 0; a < values.size(); ++a) piece_.point_data[a].push_back(values[a]);
  return static_cast<std::int64_t>(piece_.points.size()) - 1;
}

void PieceBuilder::add(std::size_t number, const BlockCell& cell) {
  for (const std::size_t p : cell.points) piece_.links.push_back(point(p));
  if (!cell.faces.empty()) {
    piece_.faces.push_back(static_cast<std::int64_t>(cell.faces.size()));
    for (const auto& face : cell.faces) {
      piece_.faces.push_back(static_cast<std::int64_t>(face.size()));
      for (const std::size_t p : face) piece_.faces.push_back(point(p));
    }
  }
  end_cell(number, 0, cell.type);
}

void PieceBuilder::add(std::size_t number, std::int64_t part, std::uint8_t type, std::span<const std::int64_t> points) {
  piece_.links.insert(piece_.links.end(), points.begin(), points.end());
  end_cell(number, part, type);
}

void PieceBuilder::end_cell(std::size_t number, std::int64_t part, std::uint8_t type) {
  piece_.types.push_back(type);
  piece_.ends.push_back(static_cast<std::int64_t>(piece_.links.size()));
  piece_.face_ends.push_back(type == vtk_polyhedron ? static_cast<std::int64_t>(piece_.faces.size()) : -1);
  piece_.names.push_back({cells_.name(number), part});
  std::size_t attribute = 0;
  for (const BlockNumbers& field : fields_) {
    if (!field.at_points) piece_.cell_data[attribute++].push_back(field.at(number));
  }
}

}  // namespace sidestream
