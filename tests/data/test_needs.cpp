// The blocks that parts of selections need, compared with a look at corners, cells and values one by one.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "data/divided.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

double waves(const std::array<double, 3>& x, const Index3&, int) {
  return std::sin(1.3 * x[0]) + std::cos(0.9 * x[1] + 0.2 * x[2]) + 0.3 * x[2];
}

/// True if the plane lies between the eight corners of a block's region. The region goes from its first points to the
/// first points beyond it, and to the faces of the mesh.
bool cut_by_hand(const Mesh& mesh, Centering centering, const Box& cells, const PlaneCut& plane) {
  const Axes& axes = *mesh.geometry->axes();
  bool below = false, above = false;
  for (int corner = 0; corner < 8; ++corner) {
    double distance = 0;
    for (int a = 0; a < 3; ++a) {
      const bool upper = corner >> a & 1;
      const Index index = upper ? cells.hi[a] : cells.lo[a];
      const bool face = index == (upper ? mesh.cells.hi[a] : mesh.cells.lo[a]);
      const double shift = !at_nodes(centering, a) && !face ? 0.5 : 0;
      const double x = axes.node(a, index) + (shift > 0 ? shift * (axes.node(a, index + 1) - axes.node(a, index)) : 0);
      distance += plane.normal[static_cast<std::size_t>(a)] * (x - plane.origin[static_cast<std::size_t>(a)]);
    }
    below |= distance <= 0;
    above |= distance >= 0;
  }
  return below && above;
}

FakeDomain domain_of(int kind, Centering centering, Type type = Type::float64,
                     decltype(FakeField::value) value = waves) {
  const Box cells{{0, 0, 0}, {12, 9, 10}};
  const FakeField field{"a", std::move(value), centering, 1, type};
  if (kind == 0) {
    return FakeDomain(cells, std::make_shared<UniformGeometry>(std::array{-1.0, 0.0, 2.0}, std::array{0.5, 1.0, 0.25}),
                      {field});
  }
  if (kind == 1) {  // an axis that runs backwards
    return FakeDomain(cells, std::make_shared<UniformGeometry>(std::array{4.0, 0.0, 1.0}, std::array{-0.5, 0.25, -1.0}),
                      {field});
  }
  std::array<std::vector<double>, 3> nodes;
  for (std::size_t a = 0; a < 3; ++a) {
    for (Index i = 0; i <= cells.hi[a]; ++i)
      nodes[a].push_back(0.1 * static_cast<double>(i * i) + static_cast<double>(a));
  }
  return FakeDomain(cells, std::make_shared<RectilinearGeometry>(Index3{0, 0, 0}, nodes), {field});
}

}  // namespace

TEST_CASE("planes: in any direction, on nodes and on cell centres") {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> unit(-1, 1);
  int needed_blocks = 0, all_blocks = 0;
  for (int kind = 0; kind < 3; ++kind) {
    for (const Centering centering : every_centering) {
      const FakeDomain domain = domain_of(kind, centering);
      const Axes& axes = *domain.mesh().geometry->axes();
      for (int round = 0; round < 60; ++round) {
        const Divided divided(domain, random_division(domain.mesh().cells, 1 + random() % 40, random()));
        PlaneCut plane;
        for (std::size_t a = 0; a < 3; ++a) {
          const auto index = static_cast<Index>(random() % static_cast<unsigned>(domain.mesh().cells.hi[a]));
          plane.origin[a] = round % 3 == 0   ? axes.node(static_cast<int>(a), index)
                            : round % 3 == 1 ? axes.centre(static_cast<int>(a), index)
                                             : axes.node(static_cast<int>(a), index) + 0.1 * unit(random);
          plane.normal[a] = unit(random);
        }
        if (round % 2) {  // perpendicular to an axis: it may lie in a layer of points
          const std::size_t keep = random() % 3;
          for (std::size_t a = 0; a < 3; ++a) plane.normal[a] = a == keep ? (random() % 2 ? 1 : -2) : 0;
        }
        const auto needed = divided.needs({0, 0, plane});
        for (std::size_t b = 0; b < needed.size(); ++b) {
          CHECK(needed[b] == cut_by_hand(domain.mesh(), centering, divided.blocks[b].cells, plane));
          needed_blocks += needed[b];
          ++all_blocks;
        }
      }
    }
  }
  CHECK(needed_blocks > all_blocks / 10);
  CHECK(needed_blocks < all_blocks);
}

TEST_CASE("planes: the variable whose spans count may be another one") {
  const Box cells{{0, 0, 0}, {8, 8, 8}};
  const FakeDomain domain(cells,
                          std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0}),
                          {{"a", waves, Centering::cell}, {"b", waves, Centering::node}});
  const Divided divided(domain, even_division(cells, {1, 1, 2}));
  // The plane z = 4.25 is above the nodes at 4, and below the first cell centres of the upper block.
  const PlaneCut plane{{0, 0, 4.25}, {0, 0, 1}};
  CHECK(divided.needs({0, 0, plane}) == std::vector<bool>{true, false});
  CHECK(divided.needs({1, 0, plane}) == std::vector<bool>{false, true});
  CHECK(divided.needs({1, 0, PlaneCut{plane.origin, plane.normal, 0}}) == std::vector<bool>{true, false});
}

TEST_CASE("planes: blocks on finer levels are covered by cells of the coarsest") {
  FakeDomain domain = domain_of(2, Centering::cell);
  domain.metadata.meshes[0].refinement = {{2, 2, 2}};
  Divided divided(domain, even_division({{0, 0, 0}, {24, 18, 20}}, {3, 3, 2}));
  for (Block& block : divided.blocks) block.level = 1;
  const Axes& axes = *domain.mesh().geometry->axes();
  for (Index i = 0; i <= 12; ++i) {
    const PlaneCut plane{{axes.node(0, i), 0, 0}, {1, 0, 0}};
    const auto needed = divided.needs({0, 0, plane});
    for (std::size_t b = 0; b < needed.size(); ++b) {
      // Node i of the coarsest level is node 2 i of this one. The first point beyond is half a fine cell further.
      const Box& cells = divided.blocks[b].cells;
      const bool must = 2 * i >= cells.lo[0] && 2 * i <= cells.hi[0];
      const bool may = 2 * i >= cells.lo[0] - 2 && 2 * i <= cells.hi[0] + 2;
      if (must) CHECK(needed[b]);
      if (!may) CHECK(!needed[b]);
    }
  }
  domain.metadata.meshes[0]
      .refinement.clear();  // refinement is not declared: nothing is known, so that everything is needed
  const auto needed = divided.needs({0, 0, PlaneCut{{axes.node(0, 0), 0, 0}, {1, 0, 0}}});
  CHECK(std::all_of(needed.begin(), needed.end(), [](bool n) { return n; }));
}

TEST_CASE("values: never a block too few, and none that is far from a surface") {
  std::mt19937 random(8);
  int needed_blocks = 0, all_blocks = 0;
  const auto check = [&](const FakeDomain& domain, const std::vector<double>& values) {
    Divided divided(domain, random_division(domain.mesh().cells, 1 + random() % 50, random()));
    divided.measure(0);
    const Variable& variable = domain.metadata.variables[0];
    const auto brackets = [&](const Range& range) {
      return std::any_of(values.begin(), values.end(), [&](double v) { return range.brackets(v); });
    };
    const auto needed = divided.needs({0, 0, ValuesBracketed{values}});
    const Box all_points = variable.points(domain.mesh().cells);
    for (std::size_t b = 0; b < needed.size(); ++b) {
      Box points = variable.points(divided.blocks[b].cells);
      for (int a = 0; a < 3; ++a) points.hi[a] += at_nodes(variable.centering, a) ? 0 : 1;  // the first points beyond
      const bool must = brackets(divided.range(0, intersection(points, all_points)));
      if (must) CHECK(needed[b]);
      Range near = divided.range(0, variable.points(divided.blocks[b].cells));
      for (const Block& other : divided.blocks) {
        if (!intersection(grown(other.cells, 1), divided.blocks[b].cells).empty()) {
          near.add(divided.range(0, variable.points(other.cells)));
        }
      }
      if (!brackets(near)) CHECK(!needed[b]);
      if (variable.centering == Centering::node) CHECK(needed[b] == must);
      needed_blocks += needed[b];
      ++all_blocks;
    }
  };
  for (const Centering centering : every_centering) {
    for (int round = 0; round < 25; ++round) {
      check(domain_of(round % 3, centering), {1.9, -0.4});
      check(domain_of(round % 3, centering, Type::int16,
                      [](const std::array<double, 3>& x, const Index3&, int) { return std::floor(4 * x[0] + x[2]); }),
            {3});
      check(domain_of(round % 3, centering, Type::float32,
                      [](const std::array<double, 3>& x, const Index3& p, int) {
                        return (p[0] + 3 * p[1] + 5 * p[2]) % 7 == 0 ? NAN : x[0] * x[1];
                      }),
            {2.0});
    }
  }
  CHECK(needed_blocks > all_blocks / 10);
  CHECK(needed_blocks < all_blocks);
}

TEST_CASE("intervals: in a regular decomposition exactly the blocks between whose points a value may be within") {
  const Box cells{{0, 0, 0}, {12, 9, 10}};
  const auto rough = [](const std::array<double, 3>&, const Index3& p, int) {
    return static_cast<double>((p[0] * 31 + p[1] * 57 + p[2] * 83) % 101);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = domain_of(0, centering, Type::float64, rough);
    Division regular;
    for (Index k = 0; k < 10; ++k) {
      for (Index i = 0; i < 6; ++i) regular.push_back({{2 * i, 0, k}, {2 * i + 2, 9, k + 1}});
    }
    Divided divided(domain, regular);
    divided.measure(0);
    const Box points = domain.metadata.variables[0].points(cells);
    int some = 0, spared = 0;
    for (const auto& [low, high] : {std::pair{-infinity, 2.0}, {-infinity, 0.0}, {98.0, infinity}, {100.0, infinity}}) {
      const std::vector<bool> needed = divided.needs({0, 1, ValuesBracketed{{}, {}, {{low, high}}}});
      for (std::size_t b = 0; b < regular.size(); ++b) {
        Box window = domain.metadata.variables[0].points(regular[b]);
        for (int a = 0; a < 3; ++a) window.hi[a] += at_nodes(centering, a) ? 0 : 1;
        const Range range = divided.range(0, intersection(window, points));
        const bool within = range.minimum < high && range.maximum > low;
        CHECK(needed[b] == within);
        ++(within ? some : spared);
      }
    }
    CHECK(some > 3);
    CHECK(spared > 20);
  }
}

TEST_CASE("values: in a regular decomposition exactly the blocks whose cells a surface crosses") {
  const Box cells{{0, 0, 0}, {12, 9, 10}};
  const auto rough = [](const std::array<double, 3>&, const Index3& p, int) {
    return static_cast<double>((p[0] * 31 + p[1] * 57 + p[2] * 83) % 101);  // neighbours have little in common
  };
  for (const Centering centering : every_centering) {
    const FakeDomain domain = domain_of(0, centering, Type::float64, rough);
    Division regular;
    for (Index k = 0; k < 5; ++k) {
      for (Index j = 0; j < 3; ++j) {
        for (Index i = 0; i < 6; ++i) regular.push_back({{2 * i, 3 * j, 2 * k}, {2 * i + 2, 3 * j + 3, 2 * k + 2}});
      }
    }
    Divided divided(domain, regular);
    divided.measure(0);
    const Box points = domain.metadata.variables[0].points(cells);
    int some = 0, spared = 0;
    for (double value = 0.5; value < 101; value += 4) {
      const std::vector<bool> needed = divided.needs({0, 1, ValuesBracketed{{value}, {}}});
      for (std::size_t b = 0; b < regular.size(); ++b) {
        Box window = domain.metadata.variables[0].points(regular[b]);
        // Cells between centres reach one point further; nodes already have the shared layer.
        for (int a = 0; a < 3; ++a) window.hi[a] += at_nodes(centering, a) ? 0 : 1;
        const bool crossed = divided.range(0, intersection(window, points)).brackets(value);
        CHECK(needed[b] == crossed);
        ++(crossed ? some : spared);
      }
    }
    CHECK(some > 100);
    CHECK(spared > 100);
  }
}

TEST_CASE("values: a block without a range was not delivered and is not needed") {
  const FakeDomain domain = domain_of(0, Centering::cell);
  Divided divided(domain, even_division(domain.mesh().cells, {2, 2, 1}));
  divided.measure(0);
  divided.ranges.erase(divided.ranges.begin() + 1);
  const auto needed = divided.needs({0, 0, ValuesBracketed{{1.9}, {0, 0}}});
  CHECK(!needed[1]);
  CHECK(std::count(needed.begin(), needed.end(), true) > 0);
}

TEST_CASE("all, boxes, levels, predicates; other meshes and empty blocks never") {
  FakeDomain domain = domain_of(0, Centering::cell);
  Mesh other = domain.metadata.meshes[0];
  other.id = 1;
  other.name = "other";
  domain.metadata.meshes.push_back(other);
  Divided divided(domain, random_division(domain.mesh().cells, 20, 3));
  divided.measure(0);
  divided.blocks[3].mesh = 1;
  divided.blocks[4].cells = {};
  divided.blocks[5].level = 1;
  const auto check = [&](const Part& part, auto&& expected) {
    const auto needed = divided.needs({0, 0, part});
    for (std::size_t b = 0; b < needed.size(); ++b) {
      CHECK(needed[b] == (b != 3 && b != 4 && expected(divided.blocks[b])));
    }
  };
  check(AllBlocks{}, [](const Block&) { return true; });
  check(OnLevel{1}, [](const Block& block) { return block.level == 1; });
  const Box box{{2, 3, 0}, {7, 4, 30}};
  check(InBox{box}, [&](const Block& block) {
    for (Index j = block.cells.lo[1]; j < block.cells.hi[1]; ++j) {
      for (Index i = block.cells.lo[0]; i < block.cells.hi[0]; ++i) {
        if (i >= 2 && i < 7 && j == 3) return true;
      }
    }
    return false;
  });
  const Axes& axes = *domain.mesh().geometry->axes();
  check(BlockPredicate{[&](const BlockSummary& s) {
                         if (s.block.level == 0) {
                           for (int a = 0; a < 3; ++a) {
                             CHECK(s.low[static_cast<std::size_t>(a)] == axes.node(a, s.block.cells.lo[a]));
                             CHECK(s.high[static_cast<std::size_t>(a)] == axes.node(a, s.block.cells.hi[a]));
                           }
                         }
                         CHECK(s.range == divided.range(0, s.block.cells));
                         return s.block.id % 2 == 0;
                       },
                       {0, 0}},
        [](const Block& block) { return block.id % 2 == 0; });
}

TEST_CASE("meshes that say where they are in variables: planes by bounds, boxes of cells not at all for lists") {
  FakeDomain domain = domain_of(0, Centering::cell);
  domain.metadata.meshes[0].geometry = std::make_shared<ArrayGeometry>(MeshKind::unstructured);
  std::mt19937 random(31);
  std::uniform_real_distribution<double> unit(-1, 1);
  Divided divided(domain, even_division(domain.mesh().cells, {4, 3, 2}));
  int needed_blocks = 0;
  for (int round = 0; round < 200; ++round) {
    for (std::size_t b = 0; b < divided.blocks.size(); ++b) {
      Block& block = divided.blocks[b];
      block.space = IndexSpace::list;
      block.cells = list_box(b == 2 ? 0 : 5);
      block.lengths.points = b == 3 ? 0 : 4;  // 2: only points; 3: only cells, which is odd but not empty
      block.bounds = {};
      for (std::size_t a = 0; a < 3 && b != 1; ++a) {  // 1: has no bounds
        block.bounds.low[a] = unit(random);
        block.bounds.high[a] = block.bounds.low[a] + 0.3 * (1 + unit(random));
      }
    }
    divided.blocks[5].cells = list_box(0);
    divided.blocks[5].lengths.points = 0;
    PlaneCut plane{{unit(random), unit(random), unit(random)}, {unit(random), unit(random), unit(random)}};
    if (round % 3 == 0) plane.normal = {0, 0, -2};
    const auto needed = divided.needs({0, 0, plane});
    for (std::size_t b = 0; b < needed.size(); ++b) {
      bool below = b == 1, above = b == 1;
      for (int corner = 0; corner < 8; ++corner) {
        double distance = 0;
        for (std::size_t a = 0; a < 3 && b != 1; ++a) {
          const Bounds& bounds = divided.blocks[b].bounds;
          distance += plane.normal[a] * ((corner >> a & 1 ? bounds.high[a] : bounds.low[a]) - plane.origin[a]);
        }
        below |= distance <= 0;
        above |= distance >= 0;
      }
      CHECK(needed[b] == (b != 5 && below && above));
      needed_blocks += needed[b];
    }
    const auto boxed = divided.needs({0, 0, InBox{{{100, 100, 100}, {101, 101, 101}}}});
    for (std::size_t b = 0; b < boxed.size(); ++b) CHECK(boxed[b] == (b != 5));
  }
  CHECK(needed_blocks > 400);
  CHECK(needed_blocks < 200 * 20);
}

TEST_CASE("needs at full size: 8192 blocks of 4096^3 cells, and a plane") {
  FakeDomain domain(
      {{0, 0, 0}, {4096, 4096, 4096}},
      std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0 / 4096, 1.0 / 4096, 1.0 / 4096}),
      {{"data", waves, Centering::cell}, {"nodes", waves, Centering::node}});
  const Divided divided(domain, even_division(domain.mesh().cells, {16, 16, 32}));
  REQUIRE(divided.blocks.size() == 8192);
  const PlaneCut plane{{.5, .5, .5}, {.8, -.5, .3}};
  for (const std::int32_t variable : {0, 1}) {
    const auto needed = divided.needs({variable, 0, plane});
    const auto count = static_cast<double>(std::count(needed.begin(), needed.end(), true));
    CHECK(count / 8192 >= 0.096);
    CHECK(count / 8192 <= 0.115);
  }
}

TEST_CASE("blocks of trees have cells of every level") {
  FakeDomain domain = domain_of(0, Centering::cell);
  domain.metadata.meshes[0].geometry =
      std::make_shared<OctreeGeometry>(Index3{1, 1, 1}, std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  Block tree;
  tree.space = IndexSpace::list;
  tree.cells = list_box(9);
  Block empty = tree;
  empty.cells = list_box(0);
  const std::vector<Block> blocks{tree, empty};
  const Needs needs(domain.metadata, blocks, {});
  for (const std::int32_t level : {0, 1, 7}) CHECK(needs.of({0, 0, OnLevel{level}}) == std::vector<bool>{true, false});
}
