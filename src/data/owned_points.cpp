// Owned points. A mesh of n points has n - 1 cells along an axis, or n if it is periodic. A block with the points
// [lo, hi) has the cells above them, so the last block of an axis that is not periodic has one cell less than points:
//
//   points   0   1   2 | 3   4   5 | 6   7        (| between blocks)
//   cells      0   1   2   3   4   5   6
//
// Cells 2 and 5 lie between blocks; their blocks lack the upper nodes (Block::is_open).
#include "data/owned_points.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sidestream/kit/data/box_values.hpp"

namespace sidestream {

std::string own_points(Mesh& mesh) {
  if (mesh.owned_points) return {};
  if (mesh.kind() != MeshKind::uniform && mesh.kind() != MeshKind::rectilinear) {
    return fmt::format("the mesh is {}, expected a uniform or rectilinear one; publish one layer of ghosts instead",
                       mesh.geometry ? mesh.geometry->kind() : "not known yet");
  }
  if (!mesh.refinement.empty()) return "the mesh has refinement levels, expected one level; use values in cells";
  Box cells = mesh.cells;
  for (int a = 0; a < mesh.dimensions && mesh.kind() == MeshKind::uniform; ++a) {
    const auto n = static_cast<std::size_t>(a);
    if (mesh.periodic[n]) continue;
    if (cells.extent(a) < 2) {
      return fmt::format("the mesh has one point along {}, expected at least two; declare fewer dimensions", "xyz"[n]);
    }
    --cells.hi[n];
  }
  mesh.cells = cells;
  mesh.owned_points = true;
  return {};
}

void set_periodic_axes(Mesh& mesh, const std::array<bool, 3>& periodic) {
  for (std::size_t a = 0; a < 3 && mesh.owned_points && mesh.kind() == MeshKind::uniform; ++a) {
    mesh.cells.hi[a] += static_cast<Index>(periodic[a]) - static_cast<Index>(mesh.periodic[a]);
  }
  mesh.periodic = periodic;
}

bool lacks_nodes(const Mesh& mesh, const Variable& variable) noexcept {
  return mesh.owned_points && reduced(variable.centering, mesh.dimensions) != Centering::cell;
}

void select_without_ranges(Selected& selected, const Metadata& metadata) {
  const Variable& variable = metadata.variables.at(static_cast<std::size_t>(selected.variable));
  if (!metadata.mesh_of(variable).owned_points) return;
  if (selected.part.kind == Part::Kind::values) selected.part = AllBlocks{};
  if (selected.part.kind != Part::Kind::predicate || selected.part.predicate.range.variable < 0) return;
  selected.part.predicate.needed = [asked = selected.part.predicate.needed](const BlockSummary& summary) {
    static_cast<void>(asked(summary));
    return true;
  };
}

namespace {

/// An uninitialised array over `box` with the type and components of another one.
ArrayView array_like(const ArrayView& like, const Box& box, Order order,
                     std::vector<std::unique_ptr<std::byte[]>>& memory) {
  ArrayView array = like;
  array.box = box;
  array.strides = packed_strides(box, like.components, order);
  memory.emplace_back(new std::byte[packed_bytes(box, like.components, like.type)]);
  array.data = memory.back().get();
  return array;
}

}  // namespace

BlockView completed(const BlockView& view, const Variable& variable,
                    std::vector<std::unique_ptr<std::byte[]>>& memory) {
  BlockView whole = view;
  whole.block.space = IndexSpace::box;
  whole.points = variable.points(whole.block);
  if (whole.points == view.points || (variable.filled && view.array.box.contains(whole.points))) return whole;
  Box box = view.array.box;
  for (std::size_t a = 0; a < 3; ++a) box.hi[a] = std::max(box.hi[a], whole.points.hi[a]);
  whole.array = array_like(view.array, box, variable.order, memory);
  copy_box(view.array, whole.array, view.array.box);
  for (const Box& beyond : difference(box, view.array.box)) erase_box(whole.array, beyond);
  std::vector<Box> missing = difference(whole.points, view.points);
  if (variable.filled) missing = difference(missing, view.array.box);
  for (const HaloPiece& piece : view.halo) {
    for (const Box& part : missing) {
      const Box here = intersection(part, piece.box);
      if (!here.empty()) copy_box(piece.array, whole.array, here);
    }
    missing = difference(missing, piece.box);
  }
  for (const Box& part : missing) erase_box(whole.array, part);
  whole.absent.insert(whole.absent.end(), missing.begin(), missing.end());
  return whole;
}

}  // namespace sidestream
