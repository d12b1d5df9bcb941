// Cells of a volume on meshes whose points have coordinates.
//
// Faces of a cell are cut into triangles from that corner whose coordinates come first. So two cells cut the face that
// they share in the same way, wherever they are.
#include <algorithm>
#include <cmath>
#include <limits>

#include "visualisation/extract/part_query.hpp"
#include "visualisation/mesh/cells/block_cells.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"
#include "visualisation/render/volume.hpp"

namespace sidestream::rendering {
namespace {

class CellsOfBlock final : public VolumeCells {
 public:
  CellsOfBlock(const VolumeQuery& query, std::unique_ptr<BlockCells> cells, const BlockNumbers& numbers,
               const TransferFunction& function)
      : choice_(query.choice), cells_(std::move(cells)), at_points_(numbers.at_points) {
    for (const double value : numbers.values) numbers_.push_back(function.position(value));
  }

  std::int64_t count() const override { return static_cast<std::int64_t>(cells_->cells()); }

  bool look(std::int64_t number, VolumeCell& cell) const override {
    const auto n = static_cast<std::size_t>(number);
    if (cells_->standing(n) != Standing::own) return false;
    if (!at_points_ && std::isnan(number_at(n))) return false;
    cells_->look(n, of_block_);
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
