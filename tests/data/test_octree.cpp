// Trees stored level by level, compared with a recursion, and lists that are not trees.
#include <doctest/doctest.h>

#include <functional>

#include "sidestream/error.hpp"
#include "sidestream/kit/data/octree.hpp"

using namespace sidestream;

namespace {

Mesh tree_mesh(const Index3& roots, int dimensions) {
  Mesh mesh;
  mesh.name = "tree";
  mesh.dimensions = dimensions;
  mesh.geometry =
      std::make_shared<OctreeGeometry>(roots, std::array<double, 3>{0, 0, 0}, std::array<double, 3>{1, 1, 1});
  return mesh;
}

/// The flags of each cell, and the block that has them.
struct Tree {
  std::vector<std::uint8_t> refined;
  Block block{};
  ArrayView view{};
  explicit Tree(std::vector<std::uint8_t> flags) : refined(std::move(flags)) {
    block.id = 7;
    block.space = IndexSpace::list;
    block.cells = list_box(static_cast<Index>(refined.size()));
    view = {refined.data(), Type::uint8, MemorySpace::host, block.cells, 1, {1, 0, 0, 0}};
  }
};

/// The message with which level_starts refuses.
std::string refusal(const Mesh& mesh, const Tree& tree) {
  try {
    static_cast<void>(level_starts(mesh, tree.block, tree.view));
    return {};
  } catch (const Error& error) {
    CHECK(error.code() == Code::usage);
    return error.what();
  }
}

}  // namespace

TEST_CASE("levels begin where the children of all that is refined before end") {
  const Mesh mesh = tree_mesh({2, 1, 1}, 3);
  CHECK(level_starts(mesh, Tree({}).block, Tree({}).view) == std::vector<Index>{0});
  const Tree roots({0, 0});
  CHECK(level_starts(mesh, roots.block, roots.view) == std::vector<Index>{0, 2});
  std::vector<std::uint8_t> flags(2 + 8 + 16, 0);
  flags[1] = 1;  // the second root cell
  flags[4] = 1;  // two of its children
  flags[9] = 255;
  const Tree tree(flags);
  CHECK(level_starts(mesh, tree.block, tree.view) == std::vector<Index>{0, 2, 10, 26});
}

TEST_CASE("cells are where a recursion puts them, in one, two and three dimensions") {
  for (const int dimensions : {1, 2, 3}) {
    const Index3 roots{3, dimensions > 1 ? 2 : 1, 1};
    const Mesh mesh = tree_mesh(roots, dimensions);
    // True for positions of cells that are refined. Cells are listed level by level, by looking at every position of a
    // level.
    const std::function<bool(int, Index, Index, Index)> exists = [&](int level, Index i, Index j, Index k) {
      if (level == 0) return true;
      return exists(level - 1, i / 2, dimensions > 1 ? j / 2 : j, dimensions > 2 ? k / 2 : k) && level < 4 &&
             (i / 2 + 2 * (j / 2) + k / 2 + level) % 3 == 0;
    };
    const auto is_refined = [&](const TreeCell& c) {
      Index3 child = c.index;
      for (int a = 0; a < dimensions; ++a) child[static_cast<std::size_t>(a)] *= 2;
      return exists(c.level + 1, child[0], child[1], child[2]);
    };
    std::vector<TreeCell> expected;
    std::vector<std::uint8_t> flags;
    const std::function<void(std::vector<TreeCell>)> list = [&](const std::vector<TreeCell>& level) {
      std::vector<TreeCell> next;
      for (const TreeCell& cell : level) {
        expected.push_back(cell);
        flags.push_back(is_refined(cell) ? 1 : 0);
        for (int n = 0; flags.back() != 0 && n < 1 << dimensions; ++n) {
          next.push_back({cell.level + 1,
                          {2 * cell.index[0] + n % 2, dimensions > 1 ? 2 * cell.index[1] + n / 2 % 2 : 0,
                           dimensions > 2 ? 2 * cell.index[2] + n / 4 : 0}});
        }
      }
      if (!next.empty()) list(next);
    };
    std::vector<TreeCell> first;
    for (Index j = 0; j < roots[1]; ++j) {
      for (Index i = 0; i < roots[0]; ++i) first.push_back({0, {i, j, 0}});
    }
    list(first);
    const Tree tree(flags);
    const std::vector<TreeCell> found = tree_cells(mesh, tree.block, tree.view);
    REQUIRE(found.size() == expected.size());
    CHECK(found.back().level >= 2);
    for (std::size_t n = 0; n < found.size(); ++n) {
      CHECK(found[n].level == expected[n].level);
      CHECK(found[n].index == expected[n].index);
    }
  }
}

TEST_CASE("lists that are not trees are refused, with the block") {
  const Mesh mesh = tree_mesh({2, 1, 1}, 2);
  CHECK(refusal(mesh, Tree({0})).find("block 7 of the mesh 'tree' has 1 cells, but by its flags") == 0);
  CHECK(refusal(mesh, Tree({0, 0, 0})).find("its tree has only 2") != std::string::npos);
  CHECK(refusal(mesh, Tree({0, 1, 0, 0, 0})).find("its tree has at least 6") != std::string::npos);
  CHECK(refusal(mesh, Tree({0, 1, 0, 0, 0, 0})).empty());
  CHECK(refusal(mesh, Tree({0, 1, 0, 0, 0, 1})).find("its tree has at least 10") != std::string::npos);
}

TEST_CASE("leaves count, those of other blocks don't") {
  const Tree tree({0, 1, 0, 0, 1, 0, 0, 0, 0, 0});
  CHECK(uncounted_cells(tree.view, {}) == std::vector<std::uint8_t>{0, 1, 0, 0, 1, 0, 0, 0, 0, 0});
  const Tree owned({1, 1, 0, 1, 1, 1, 0, 2, 1, 0});
  CHECK(uncounted_cells(tree.view, owned.view) == std::vector<std::uint8_t>{0, 1, 1, 0, 1, 0, 1, 0, 0, 1});
}
