// A mesh cut at random into blocks; some overlap, some are missing and some are not delivered. What a server should see
// is found by looking at every block for every point.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "server/redistribution/exchange_plan.hpp"
#include "support/fake_domain.hpp"

namespace sidestream::testing {

/// A world with two variables, which differ in type, components and order.
struct RandomWorld {
  Metadata metadata;
  BlockTable table;
  std::set<std::int64_t> undelivered;  ///< ids
  Index ghosts = 0;

  RandomWorld(std::mt19937& random, int servers, Centering centering) {
    const auto any = [&](Index lo, Index hi) { return std::uniform_int_distribution<Index>(lo, hi)(random); };
    Mesh mesh;
    mesh.id = 0;
    mesh.name = "grid";
    mesh.dimensions = static_cast<int>(any(1, 3));
    for (int a = 0; a < 3; ++a) {
      const auto n = static_cast<std::size_t>(a);
      const bool used = a < mesh.dimensions;
      mesh.cells.lo[n] = used ? any(-2, 2) : 0;
      mesh.cells.hi[n] = mesh.cells.lo[n] + (used ? any(1, 7) : 1);
      mesh.periodic[n] = used && any(0, 1) == 1;
    }
    metadata.meshes.push_back(mesh);
    add_variable("a", Type::float64, 1, Order::column, centering);
    add_variable("b", Type::int32, 2, Order::row, centering);
    divide(random, servers, static_cast<std::size_t>(any(1, 12)));
    ghosts = any(0, 2);
  }

  [[nodiscard]] const Mesh& mesh() const { return metadata.meshes[0]; }
  /// A value that depends on the position, the component and the block.
  [[nodiscard]] static double value(const Index3& p, int c, std::int64_t block) {
    return static_cast<double>(10'000'000 * (block + 1) + 1'000'000 * c + 10'000 * p[2] + 100 * p[1] + p[0]);
  }
  /// The block that a point's value comes from, or nothing if there is none or it was not delivered.
  [[nodiscard]] std::optional<std::int64_t> owner(const Variable& variable, const Index3& p) const {
    std::optional<std::int64_t> lowest;
    for (const Block& block : table.blocks()) {
      if (variable.points(block).contains(p) && (!lowest || block.id < *lowest)) lowest = block.id;
    }
    return lowest && undelivered.contains(*lowest) ? std::nullopt : lowest;
  }
  /// The point of the mesh for `p`, which may be a periodic image beyond the faces.
  [[nodiscard]] Index3 inside(const Variable& variable, Index3 p, bool wrap) const {
    const Box points = variable.points(mesh().cells);
    for (std::size_t a = 0; a < 3; ++a) {
      if (!wrap || !mesh().periodic[a]) continue;
      const Index n = mesh().cells.extent(static_cast<int>(a));
      while (p[a] < points.lo[a]) p[a] += n;
      while (p[a] >= points.hi[a]) p[a] -= n;
    }
    return p;
  }
  /// The value that must be seen at `p`, or nothing if no block has it.
  [[nodiscard]] std::optional<double> expected(const Variable& variable, const Index3& p, int c, bool wrap) const {
    const Index3 q = inside(variable, p, wrap);
    const auto from = owner(variable, q);
    return from ? std::optional(value(q, c, *from)) : std::nullopt;
  }
  [[nodiscard]] std::vector<Box> owned(const Variable& variable, const Block& block) const {
    return table.owned(variable, block);
  }

 private:
  void add_variable(const char* name, Type type, int components, Order order, Centering centering) {
    Variable variable;
    variable.id = static_cast<std::int32_t>(metadata.variables.size());
    variable.name = name;
    variable.mesh = 0;
    variable.type = type;
    variable.components = components;
    variable.order = order;
    variable.centering = reduced(centering, mesh().dimensions);
    metadata.variables.push_back(variable);
  }

  void divide(std::mt19937& random, int servers, std::size_t count) {
    std::vector<Box> boxes{mesh().cells};
    for (std::size_t tries = 0; boxes.size() < count && tries < 40; ++tries) {
      Box& box = boxes[random() % boxes.size()];
      const auto axis = static_cast<int>(random() % 3);
      const auto a = static_cast<std::size_t>(axis);
      if (box.extent(axis) < 2) continue;
      Box rest = box;
      rest.lo[a] = box.hi[a] =
          box.lo[a] + 1 + static_cast<Index>(random() % static_cast<unsigned>(box.extent(axis) - 1));
      boxes.push_back(rest);
    }
    std::shuffle(boxes.begin(), boxes.end(), random);
    const int holes = static_cast<int>(random() % 3), late = static_cast<int>(random() % 3);
    std::vector<PlacedBlock> blocks;
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      PlacedBlock placed;
      placed.block.id = static_cast<std::int64_t>(b);
      placed.block.client = static_cast<std::int32_t>(random() % 5);
      placed.block.cells = boxes[b];
      if (random() % 4 == 0) placed.block.cells = intersection(grown(boxes[b], 1), mesh().cells);  // overlaps others
      placed.server = placed.block.client % servers;
      if (holes == 2 && b % 3 == 1) continue;
      if (late == 2 && b % 4 == 2) undelivered.insert(placed.block.id);
      blocks.push_back(placed);
    }
    table = BlockTable(blocks);
  }
};

/// Calls f(p) for each point.
template <class F>
void for_each_point(const Box& box, F&& f) {
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) f(Index3{i, j, k});
    }
  }
}

/// A client's array of a block over `box`: its own values in `points`, wrong ones around them.
inline ArrayView fill(const Variable& variable, const Box& box, const Box& points, std::int64_t block,
                      std::deque<Bytes>& memory) {
  ArrayView array;
  array.type = variable.type;
  array.box = box;
  array.components = variable.components;
  array.strides = packed_strides(box, variable.components, variable.order);
  array.data = memory.emplace_back(packed_bytes(box, variable.components, variable.type)).data();
  with_type(variable.type, [&](auto zero) {
    using T = decltype(zero);
    for_each_point(box, [&](const Index3& p) {
      for (int c = 0; c < variable.components; ++c) {
        const double value = points.contains(p) ? RandomWorld::value(p, c, block) : -7;
        *const_cast<T*>(array.at<T>(p[0], p[1], p[2], c)) = static_cast<T>(value);
      }
    });
  });
  return array;
}

/// Checks everything that `gather` gives for a region.
inline void check_gather(const RandomWorld& world, const BlockView& view, const Variable& variable, const Box& region,
                         const Box& reach, bool wrap) {
  for (int c = 0; c < variable.components; ++c) {
    std::vector<double> values(static_cast<std::size_t>(region.count()));
    std::int64_t missing = view.gather(region, c, values.data()), nowhere = 0;
    std::size_t n = 0;
    for_each_point(region, [&](const Index3& p) {
      const double found = values[n++];
      const auto right = reach.contains(p) ? world.expected(variable, p, c, wrap) : std::nullopt;
      nowhere += !right;
      if (right ? found != *right : !std::isnan(found)) {
        FAIL_CHECK("block " << view.block.id << " at " << p[0] << " " << p[1] << " " << p[2] << ": " << found);
      }
    });
    CHECK(missing == nowhere);
  }
}

/// Checks that the array of a piece has every value, or lists it as absent.
inline void check_array(const RandomWorld& world, const BlockView& view, const Variable& variable, bool wrap) {
  CHECK(view.array.strides == packed_strides(view.array.box, variable.components, variable.order));
  CHECK(view.array.type == variable.type);
  for_each_point(view.array.box, [&](const Index3& p) {
    int absent = 0;
    for (const Box& box : view.absent) absent += box.contains(p);
    for (int c = 0; c < variable.components; ++c) {
      const auto right = world.expected(variable, p, c, wrap);
      CHECK(absent == (right ? 0 : 1));
      const double found = with_type(variable.type, [&](auto zero) {
        return static_cast<double>(*view.array.at<decltype(zero)>(p[0], p[1], p[2], c));
      });
      const bool marked = variable.type == Type::float64 ? std::isnan(found) : found == 0;
      if (right ? found != *right : !marked) {
        FAIL_CHECK("server " << -1 - view.block.id << " at " << p[0] << " " << p[1] << " " << p[2] << ": " << found);
      }
    }
  });
}

/// The points of a variable that a piece's array should cover.
inline Box around(const RandomWorld& world, const Variable& variable, const Box& cells, Index halo, bool wrap) {
  Box box = variable.points(cells);
  const Box points = variable.points(world.mesh().cells);
  for (int a = 0; a < world.mesh().dimensions; ++a) {
    const auto n = static_cast<std::size_t>(a);
    const bool beyond = wrap && world.mesh().periodic[n];
    box.lo[n] = beyond ? box.lo[n] - halo : std::max(box.lo[n] - halo, points.lo[n]);
    box.hi[n] = beyond ? box.hi[n] + halo : std::min(box.hi[n] + halo, points.hi[n]);
  }
  return box;
}

inline const std::vector<Decomposition>& decompositions() {
  static const std::vector<Decomposition> all{
      Decomposition::slabs(0),   Decomposition::slabs(1),   Decomposition::slabs(2), Decomposition::pencils(0),
      Decomposition::pencils(1), Decomposition::pencils(2), Decomposition::bricks()};
  return all;
}

/// A selection of an analysis: both variables as published, each with its own halo. One is also selected in pieces, the
/// other in the same and in other pieces.
inline std::vector<Selected> random_selection(std::mt19937& random, const RandomWorld& world) {
  const auto any = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random); };
  const auto pieces = [&] {
    Decomposition d = decompositions()[static_cast<std::size_t>(any(0, 6))];
    d.axis %= world.mesh().dimensions;
    return d;
  };
  std::vector<Selected> all;
  if (any(0, 3) > 0) all.emplace_back(0, any(0, 4));
  if (any(0, 3) > 0) all.emplace_back(1, any(0, 2));
  const Decomposition first = pieces();
  all.emplace_back(0, any(0, 3), AllBlocks{}, first);
  all.emplace_back(1, any(0, 9), AllBlocks{}, first);
  all.emplace_back(0, 0, AllBlocks{}, pieces());
  for (Selected& selected : all) selected.wrap = any(0, 3) > 0;
  return all;
}

/// Checks all views of one server.
inline void check_views(const RandomWorld& world, const std::vector<Selected>& selection, const Views& views,
                        const BlockAssignment& movement, int servers, int server) {
  for (const Variable& variable : world.metadata.variables) {
    const auto v = static_cast<std::size_t>(variable.id);
    Index plain = 0, wrapped = 0;
    for (const Selected& selected : selection) {
      if (selected.variable != variable.id || !selected.decomposition.is_published()) continue;
      plain = std::max<Index>(plain, selected.halo);
      if (selected.wrap) wrapped = std::max<Index>(wrapped, selected.halo);
    }
    for (const BlockView& view : views.blocks[v]) {
      for (const Box& box : view.owned) check_gather(world, view, variable, box, box, false);
      if (plain == 0) continue;
      // If only a part of the halo goes round, the mesh and the points beyond it are checked separately.
      const Box points = variable.points(world.mesh().cells);
      check_gather(world, view, variable, grown(view.points, wrapped), grown(view.points, wrapped), true);
      const Box inside = intersection(grown(view.points, plain + 1), points);
      check_gather(world, view, variable, inside, grown(view.points, plain), false);
    }
  }
  for (std::size_t n = 0; n < movement.decomposed.size(); ++n) {
    const Selected& selected = movement.decomposed[n];
    const Variable& variable = world.metadata.variables[static_cast<std::size_t>(selected.variable)];
    const Box cells = piece_of(selected.decomposition, world.mesh(), servers, server);
    REQUIRE(views.pieces[n].views.size() == (cells.empty() ? 0 : 1));
    if (cells.empty()) continue;
    const BlockView& view = views.pieces[n].views[0];
    CHECK(view.block.id == -1 - server);
    CHECK(view.block.cells == cells);
    CHECK(view.points == variable.points(cells));
    CHECK(view.array.box == around(world, variable, cells, selected.halo, selected.wrap));
    check_array(world, view, variable, selected.wrap);
    check_gather(world, view, variable, grown(view.array.box, 1), view.array.box, selected.wrap);
  }
}

}  // namespace sidestream::testing
