// Boxes and cells of a volume.
//
// Blocks on axes are cut into parts of 64 cells along each axis. On one level, numbers lie at the points of a grid
// (PointGrid), between centres of cells or between nodes. On refinement levels, boxes contain the cells that no finer
// level covers. In octrees a box has the up to eight leaves that are children of one cell.
//
// On meshes whose points have coordinates there are single cells. Their faces are cut into triangles from that corner
// whose coordinates come first. So two cells cut the face that they share in the same way, wherever they are.
#include "visualisation/render/volume.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/mesh/chosen_runs.hpp"
#include "sidestream/kit/mesh/point_values.hpp"
#include "visualisation/extract/extract.hpp"
#include "visualisation/extract/part_query.hpp"
#include "visualisation/mesh/cells/block_cells.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"
#include "visualisation/mesh/field_source.hpp"

namespace sidestream::rendering {

namespace {

constexpr Index part_width = 64;

template <class F>
void for_each_part(const Box& box, F&& f) {
  for (Index k = box.lo[2]; k < box.hi[2]; k += part_width) {
    for (Index j = box.lo[1]; j < box.hi[1]; j += part_width) {
      for (Index i = box.lo[0]; i < box.hi[0]; i += part_width) {
        f(intersection(box, {{i, j, k}, {i + part_width, j + part_width, k + part_width}}));
      }
    }
  }
}

Box with_upper_ends(Box cells) {
  for (Index& end : cells.hi) ++end;
  return cells;
}

std::vector<float> positions(const std::vector<double>& values, const TransferFunction& function) {
  std::vector<float> numbers(values.size());
  std::transform(values.begin(), values.end(), numbers.begin(), [&](double v) { return function.position(v); });
  return numbers;
}

/// Boxes of one block.
class BlockBoxes {
 public:
  BlockBoxes(const VolumeQuery& query, const LocalInput& input, const BlockView& view, const TransferFunction& function,
             const std::function<void(VolumeBox)>& take)
      : query_(query),
        input_(input),
        view_(view),
        variable_(input.metadata.variables.at(static_cast<std::size_t>(query.variable))),
        mesh_(input.metadata.mesh_of(variable_)),
        function_(function),
        take_(take) {}

  /// On the only level.
  void between_points(const PointGrid& grid) {
    const std::vector<Box> cells = cells_between_chosen(query_.choice, mesh_, variable_.centering,
                                                        grid.cells_of(view_, flags_of(mesh_, input_, view_)));
    FieldSource source(grid, mesh_, variable_, query_.component, &view_);
    std::vector<double> values;
    for (const Box& box : cells) {
      for_each_part(box, [&](const Box& part) {
        const Box points = with_upper_ends(part);
        values.resize(static_cast<std::size_t>(points.count()));
        source.fill(points, values.data());
        VolumeBox volume{{}, positions(values, function_), false};
        for (int a = 0; a < 3; ++a) {
          const auto n = static_cast<std::size_t>(a);
          for (Index i = points.lo[n]; i < points.hi[n]; ++i) volume.faces[n].push_back(grid.position(a, i));
        }
        take_(std::move(volume));
      });
    }
  }

  /// On a refinement level.
  void on_level() {
    if (view_.copy || !query_.choice.has_level(view_.block.level)) return;
    const LevelAxes axes(mesh_, view_.block.level);
    const bool in_cells = variable_.centering == Centering::cell;
    std::vector<Box> cells = in_cells ? view_.owned : std::vector<Box>{view_.block.cells};
    for (const Box& covered : view_.covered) cells = difference(cells, covered);
    for (const Box& box : cells) {
      for_each_part(chosen_in(query_.choice, axes, Centering::cell, box, 3), [&](const Box& part) {
        VolumeBox volume{{}, numbers_on_level(part, in_cells), in_cells};
        for (int a = 0; a < 3; ++a) {
          const auto n = static_cast<std::size_t>(a);
          for (Index i = part.lo[n]; i <= part.hi[n]; ++i) volume.faces[n].push_back(axes.node(a, i));
        }
        take_(std::move(volume));
      });
    }
  }

  /// In an octree.
  void of_leaves() {
    const auto tree = OwnedLeaves::of(input_, mesh_, view_.block);
    if (!tree || view_.copy) return;
    const auto any = [](const TreeCell&) { return true; };
    for_each_chosen_leaf(tree->index(), mesh_, query_.choice, any, [&](Index number, const TreeCell& cell) {
      if (tree->owns(number)) add_leaf(cell, function_.position(real_at(view_, number, query_.component)));
    });
    take_family();
  }

 private:
  [[nodiscard]] std::vector<float> numbers_on_level(const Box& cells, bool in_cells) const {
    const Box points = in_cells ? cells : with_upper_ends(cells);
    std::vector<double> values(static_cast<std::size_t>(points.count()));
    view_.gather(points, query_.component, values.data());
    std::vector<float> numbers = positions(values, function_);
    const BlockView* flags = flags_of(mesh_, input_, view_);
    if (flags == nullptr || !in_cells) return numbers;
    flags->gather(points, 0, values.data());
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      if (values[n] > 0) numbers[n] = std::numeric_limits<float>::quiet_NaN();
    }
    return numbers;
  }

  /// Collects leaves of one parent; they follow one another. A root is its own parent.
  void add_leaf(const TreeCell& cell, float number) {
    TreeCell parent = cell;
    if (cell.level > 0) {
      --parent.level;
      for (Index& i : parent.index) i >>= 1;
    }
    const bool root = cell.level == 0;
    if (numbers_.empty() || root != root_ || parent.level != parent_.level || parent.index != parent_.index) {
      take_family();
      numbers_.assign(root ? 1 : 8, std::numeric_limits<float>::quiet_NaN());
      parent_ = parent;
      root_ = root;
    }
    const Index3& i = cell.index;
    numbers_[root ? 0 : static_cast<std::size_t>((i[0] & 1) + 2 * (i[1] & 1) + 4 * (i[2] & 1))] = number;
  }
  void take_family() {
    if (numbers_.empty()) return;
    const TreePlaces places(mesh_);
    VolumeBox volume{{}, std::move(numbers_), true};
    const std::int32_t level = parent_.level + (root_ ? 0 : 1);
    for (int a = 0; a < 3; ++a) {
      const auto n = static_cast<std::size_t>(a);
      const Index first = root_ ? parent_.index[n] : 2 * parent_.index[n];
      for (Index i = first; i <= first + (root_ ? 1 : 2); ++i) volume.faces[n].push_back(places.node(a, level, i));
    }
    numbers_.clear();
    take_(std::move(volume));
  }

  const VolumeQuery& query_;
  const LocalInput& input_;
  const BlockView& view_;
  const Variable& variable_;
  const Mesh& mesh_;
  const TransferFunction& function_;
  const std::function<void(VolumeBox)>& take_;
  std::vector<float> numbers_;  ///< of the leaves of `parent_`
  TreeCell parent_{};
  bool root_ = false;
};

}  // namespace

void add_values(const VolumeQuery& query, const LocalInput& input, bool logarithms, ColourRange& seen) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variable));
  for (const BlockView& view : input.of(query.variable)) {
    for_each_chosen_run(input, variable, view, query.component, query.choice,
                        [&](const auto* values, Index n, Index stride) {
                          for (Index i = 0; i < n; ++i) {
                            const auto v = static_cast<double>(values[i * stride]);
                            if (!std::isfinite(v) || (logarithms && !(v > 0))) continue;
                            seen.low = std::min(seen.low, v);
                            seen.high = std::max(seen.high, v);
                          }
                        });
  }
}

void for_each_box(const VolumeQuery& query, const LocalInput& input, const TransferFunction& function,
                  const std::function<void(VolumeBox)>& take) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variable));
  const Mesh& mesh = input.metadata.mesh_of(variable);
  std::optional<PointGrid> grid;
  if (!has_levels(mesh)) grid.emplace(mesh, variable.centering, Reach::faces);
  for (const BlockView& view : input.of(query.variable)) {
    BlockBoxes boxes(query, input, view, function, take);
    if (grid) {
      boxes.between_points(*grid);
    } else if (mesh.kind() == MeshKind::octree) {
      boxes.of_leaves();
    } else {
      boxes.on_level();
    }
  }
}

namespace {

class CellsOfBlock final : public VolumeCells {
 public:
  CellsOfBlock(const VolumeQuery& query, std::unique_ptr<BlockCells> cells, const BlockNumbers& numbers,
               const TransferFunction& function)
      : choice_(query.choice), cells_(std::move(cells)), at_points_(numbers.at_points) {
    for (const double value : numbers.values) numbers_.push_back(function.position(value));
  }

  std::int64_t count() const override { return static_cast<std::int64_t>(cells_->cells()); }

  bool load(std::int64_t number, VolumeCell& cell) const override {
    const auto n = static_cast<std::size_t>(number);
    if (cells_->standing(n) != Standing::own) return false;
    if (!at_points_ && std::isnan(number_at(n))) return false;
    cells_->load(n, of_block_);
    const CellShape* shape = shape_of(of_block_.type);
    if ((shape == nullptr && of_block_.type != vtk_polyhedron) || !is_chosen(choice_, *cells_, n, of_block_)) {
      return false;
    }
    cell.corners.clear();
    cell.numbers.clear();
    cell.triangles.clear();
    for (const std::size_t p : of_block_.points) {
      cell.corners.push_back(cells_->place(p));
      cell.numbers.push_back(number_at(at_points_ ? p : n));
      if (std::isnan(cell.numbers.back())) return false;
    }
    if (shape != nullptr) {
      for (const auto& face : shape->body.faces()) add_face({face.begin(), face.end()}, cell);
    } else {
      for (const auto& face : of_block_.faces) add_face(of_cell(face), cell);
    }
    return true;
  }

 private:
  [[nodiscard]] float number_at(std::size_t n) const {
    return n < numbers_.size() ? numbers_[n] : std::numeric_limits<float>::quiet_NaN();
  }
  /// Points of the block as corners of the current cell.
  [[nodiscard]] std::vector<std::size_t> of_cell(const std::vector<std::size_t>& points) const {
    std::vector<std::size_t> corners;
    for (const std::size_t p : points) {
      corners.push_back(static_cast<std::size_t>(std::ranges::find(of_block_.points, p) - of_block_.points.begin()));
    }
    return corners;
  }
  static void add_face(const std::vector<std::size_t>& face, VolumeCell& cell) {
    const auto place = [&](std::size_t n) { return cell.corners[face[n]]; };
    std::size_t first = 0;
    for (std::size_t n = 1; n < face.size(); ++n) first = place(n) < place(first) ? n : first;
    const auto corner = [&](std::size_t n) { return face[(first + n) % face.size()]; };
    for (std::size_t n = 1; n + 1 < face.size(); ++n) {
      cell.triangles.push_back({corner(0), corner(n), corner(n + 1)});
    }
  }

  CellChoice choice_;
  std::unique_ptr<BlockCells> cells_;
  bool at_points_;
  std::vector<float> numbers_;
  mutable BlockCell of_block_;  ///< scratch space
};

}  // namespace

bool has_coordinates(const Mesh& mesh) {
  return mesh.kind() == MeshKind::curvilinear || mesh.kind() == MeshKind::unstructured;
}

void for_each_block_of_cells(const VolumeQuery& query, const LocalInput& input, const TransferFunction& function,
                             const std::function<void(std::unique_ptr<VolumeCells>)>& take) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variable));
  for (const BlockView& view : input.of(query.variable)) {
    std::unique_ptr<BlockCells> cells = cells_of_block(input, variable, view, false);
    if (!cells) continue;
    const BlockNumbers numbers = cells->numbers(variable, query.component);
    take(std::make_unique<CellsOfBlock>(query, std::move(cells), numbers, function));
  }
}

}  // namespace sidestream::rendering
