#include "sidestream/kit/data/octree.hpp"

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

[[noreturn]] void no_tree(const Mesh& mesh, const Block& block, const char* relation, Index cells) {
  const Index3& roots = dynamic_cast<const OctreeGeometry&>(*mesh.geometry).roots();
  fail(
      Code::usage,
      "block {} of the mesh '{}' has {} cells, but by its flags ('refined') its tree has {} {}; expected all {} x {} x "
      "{} root cells, then 2 children along each axis for each refined cell, level by level",
      block.id, mesh.name, block.cells.hi[0], relation, cells, roots[0], roots[1], roots[2]);
}

}  // namespace

std::vector<Index> level_starts(const Mesh& mesh, const Block& block, const ArrayView& refined) {
  const Index cells = block.cells.hi[0];
  const Index3& roots = dynamic_cast<const OctreeGeometry&>(*mesh.geometry).roots();
  std::vector<Index> starts{0};
  Index count = cells == 0 ? 0 : roots[0] * roots[1] * roots[2];
  while (count > 0) {
    const Index first = starts.back();
    if (count > cells - first) no_tree(mesh, block, "at least", first + count);
    Index parents = 0;
    for (Index i = first; i < first + count; ++i) parents += *refined.at<std::uint8_t>(i, 0, 0) != 0 ? 1 : 0;
    starts.push_back(first + count);
    count = parents << mesh.dimensions;
  }
  if (starts.back() != cells) no_tree(mesh, block, "only", starts.back());
  return starts;
}

std::vector<TreeCell> tree_cells(const Mesh& mesh, const Block& block, const ArrayView& refined) {
  const std::vector<Index> starts = level_starts(mesh, block, refined);
  const Index3& roots = dynamic_cast<const OctreeGeometry&>(*mesh.geometry).roots();
  std::vector<TreeCell> cells;
  cells.reserve(static_cast<std::size_t>(starts.back()));
  for (Index k = 0; k < roots[2] && starts.size() > 1; ++k) {
    for (Index j = 0; j < roots[1]; ++j) {
      for (Index i = 0; i < roots[0]; ++i) cells.push_back({0, {i, j, k}});
    }
  }
  const int children = 1 << mesh.dimensions;
  for (std::size_t parent = 0; parent < cells.size(); ++parent) {
    if (*refined.at<std::uint8_t>(static_cast<Index>(parent), 0, 0) == 0) continue;
    const TreeCell of = cells[parent];
    for (int child = 0; child < children; ++child) {
      TreeCell cell{of.level + 1, of.index};
      for (int a = 0; a < mesh.dimensions; ++a) {
        Index& index = cell.index[static_cast<std::size_t>(a)];
        index = 2 * index + (child >> a & 1);
      }
      cells.push_back(cell);
    }
  }
  return cells;
}

std::vector<std::uint8_t> uncounted_cells(const ArrayView& refined, const ArrayView& owned) {
  const Index cells = refined.box.extent(0);
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(cells));
  for (Index i = 0; i < cells; ++i) {
    const bool leaf = *refined.at<std::uint8_t>(i, 0, 0) == 0;
    const bool mine = owned.data == nullptr || *owned.at<std::uint8_t>(i, 0, 0) != 0;
    flags[static_cast<std::size_t>(i)] = leaf && mine ? 0 : 1;
  }
  return flags;
}

}  // namespace sidestream
