// Walks through trees from the roots, compared with the list of all cells.
#include <doctest/doctest.h>

#include <random>

#include "sidestream/error.hpp"
#include "sidestream/kit/data/tree_walk.hpp"

using namespace sidestream;

namespace {

Mesh tree_mesh(const Index3& roots, int dimensions) {
  Mesh mesh;
  mesh.name = "tree";
  mesh.dimensions = dimensions;
  mesh.geometry = std::make_shared<OctreeGeometry>(roots, std::array{-1.0, 0.5, 3.0}, std::array{0.75, 1.0, -2.0});
  return mesh;
}

/// Flags, each `stride` bytes after the previous one.
struct Flags {
  std::vector<std::uint8_t> bytes;
  Block block{};
  ArrayView view{};
  Flags(const std::vector<std::uint8_t>& flags, Index stride)
      : bytes(flags.size() * static_cast<std::size_t>(stride) + 1, 9) {
    for (std::size_t n = 0; n < flags.size(); ++n) bytes[n * static_cast<std::size_t>(stride)] = flags[n];
    block.space = IndexSpace::list;
    block.cells = list_box(static_cast<Index>(flags.size()));
    view = {bytes.data(), Type::uint8, MemorySpace::host, block.cells, 1, {stride, 0, 0, 0}};
  }
};

std::vector<std::uint8_t> random_tree(const Index3& roots, int dimensions, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> flags;
  auto level = static_cast<std::size_t>(roots[0] * roots[1] * roots[2]);
  for (int depth = 0; level > 0; ++depth) {
    std::size_t parents = 0;
    for (std::size_t n = 0; n < level; ++n) {
      // Any number except 0 means refined.
      const bool refined = depth < 6 && random() % 3 == 0;
      flags.push_back(refined ? static_cast<std::uint8_t>(1 + random() % 255) : 0);
      parents += refined ? 1 : 0;
    }
    level = parents << dimensions;
  }
  return flags;
}

}  // namespace

TEST_CASE("children, levels and places are those of the list of all cells") {
  for (const int dimensions : {1, 2, 3}) {
    const Index3 roots{3, dimensions > 1 ? 2 : 1, dimensions > 2 ? 5 : 1};
    const Mesh mesh = tree_mesh(roots, dimensions);
    for (unsigned seed = 0; seed < 8; ++seed) {
      for (const Index stride : {1, 3}) {
        const auto flags = random_tree(roots, dimensions, seed);
        const Flags tree(flags, stride);
        const TreeIndex index(mesh, tree.block, tree.view);
        const std::vector<TreeCell> cells = tree_cells(mesh, tree.block, tree.view);
        CHECK(index.level_starts() == level_starts(mesh, tree.block, tree.view));
        CHECK(index.cells() == static_cast<Index>(cells.size()));
        std::size_t child = static_cast<std::size_t>(roots[0] * roots[1] * roots[2]);
        bool right = true;
        for (std::size_t n = 0; n < cells.size(); ++n) {
          right &= index.refined(static_cast<Index>(n)) == (flags[n] != 0);
          if (flags[n] == 0) continue;
          right &= index.first_child(static_cast<Index>(n)) == static_cast<Index>(child);
          for (int c = 0; c < index.children(); ++c, ++child) {
            const TreeCell found = index.child(cells[n], c);
            right &= found.level == cells[child].level && found.index == cells[child].index;
          }
        }
        CHECK(right);
        // A walk that does not enter every third cell finds exactly the leaves outside of those cells.
        std::vector<char> outside(cells.size(), 0), visited(cells.size(), 0);
        const auto barred = [](const TreeCell& c) { return (c.index[0] + c.index[1] + c.index[2] + c.level) % 3 == 1; };
        std::size_t first = static_cast<std::size_t>(roots[0] * roots[1] * roots[2]);
        for (std::size_t n = 0; n < cells.size(); ++n) {
          outside[n] = static_cast<char>(outside[n] != 0 || barred(cells[n]));
          for (int c = 0; flags[n] != 0 && c < index.children(); ++c) outside[first++] = outside[n];
        }
        index.walk([&](const TreeCell& c) { return !barred(c); },
                   [&](Index number, const TreeCell& c) {
                     const auto n = static_cast<std::size_t>(number);
                     right &=
                         visited[n] == 0 && flags[n] == 0 && c.level == cells[n].level && c.index == cells[n].index;
                     visited[n] = 1;
                   });
        for (std::size_t n = 0; n < cells.size(); ++n) right &= (visited[n] != 0) == (flags[n] == 0 && outside[n] == 0);
        CHECK(right);
      }
    }
  }
}

TEST_CASE("a block without cells, and flags that are no tree") {
  const Mesh mesh = tree_mesh({2, 1, 1}, 3);
  const Flags none({}, 1);
  const TreeIndex empty(mesh, none.block, none.view);
  CHECK(empty.level_starts() == std::vector<Index>{0});
  empty.walk([](const TreeCell&) -> bool { throw 1; }, [](Index, const TreeCell&) { throw 1; });
  for (const std::vector<std::uint8_t>& flags : {std::vector<std::uint8_t>{1, 0},
                                                 {0, 0, 0},
                                                 {0},
                                                 {1, 1, 0, 0, 0, 0, 0, 0, 0, 0},
                                                 {0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
                                                 {1, 0, 0, 0, 0, 0, 0, 0, 0, 1}}) {
    const Flags tree(flags, 1);
    std::string expected, found;
    try {
      static_cast<void>(level_starts(mesh, tree.block, tree.view));
    } catch (const Error& error) {
      expected = error.what();
    }
    try {
      const TreeIndex index(mesh, tree.block, tree.view);
    } catch (const Error& error) {
      found = error.what();
    }
    CHECK(!expected.empty());
    CHECK(found == expected);
  }
}

TEST_CASE("as refinement levels a tree has the same places, to the last bit") {
  const Mesh tree = tree_mesh({3, 2, 1}, 2);
  const Mesh levels = as_levels(tree, 5);
  const TreePlaces places(tree);
  CHECK(levels.cells == Box{{0, 0, 0}, {3, 2, 1}});
  CHECK(levels.ratio_to(5) == Index3{32, 32, 1});
  const auto& uniform = dynamic_cast<const UniformGeometry&>(*levels.geometry);
  for (Index i = 0; i <= 96; ++i) {
    CHECK(places.node(0, 5, i) == uniform.origin()[0] + uniform.spacing()[0] * (static_cast<double>(i) / 32));
    if (i % 32 == 0) CHECK(places.node(0, 5, i) == places.node(0, 0, i / 32));
  }
}
