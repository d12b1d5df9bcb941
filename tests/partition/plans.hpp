// Blocks to plan, settings from a configuration, and checks of every plan.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"
#include "sidestream/extend/partitioner.hpp"
#include "support/fake_domain.hpp"

namespace sidestream::testing {

/// A mesh `grid` of `cells`, a variable `a` on it, and some blocks.
struct Planned {
  explicit Planned(const Box& cells) {
    Mesh mesh;
    mesh.id = 0;
    mesh.name = "grid";
    mesh.cells = cells;
    mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
    metadata.meshes.push_back(mesh);
    Variable variable;
    variable.id = variable.mesh = 0;
    variable.name = "a";
    metadata.variables.push_back(variable);
  }
  /// `count` blocks of random shapes that fill the mesh.
  Planned(const Box& cells, std::size_t count, unsigned seed) : Planned(cells) {
    std::mt19937 random(seed);
    for (const Box& box : count ? random_division(cells, count, seed) : Division{}) {
      PlannedBlock block;
      block.block.id = static_cast<std::int64_t>(blocks.size());
      block.block.cells = box;
      block.bytes = static_cast<std::uint64_t>(box.count()) * 8;
      block.cost = random() % 3 ? static_cast<double>(random() % 1000) * 0.001 : 0;
      block.near = static_cast<std::int32_t>(random() % 4) - 1;
      blocks.push_back(block);
    }
  }
  [[nodiscard]] PlanInput input(int servers, int server = -1) const { return {metadata, blocks, servers, server}; }

  Metadata metadata;
  std::vector<PlannedBlock> blocks;
};

inline Settings settings_for(const PartitionerKind& kind, const std::string& yaml, const Metadata& metadata) {
  const Parameters none;
  const Node node = parse_node(yaml, "test.yaml");
  return read_settings(node, kind.options, "the partitioner '" + kind.name + "'", node.where,
                       {ExpressionContext{none}, &metadata});
}

inline Plan plan(const PartitionerKind& kind, const std::string& yaml, const Planned& planned, int servers,
                 int server = -1) {
  return kind.plan(planned.input(servers, server), settings_for(kind, yaml, planned.metadata));
}

using PieceKey = std::tuple<std::int64_t, std::int32_t, std::int32_t, Index3, Index3>;
inline std::set<PieceKey> keys(const Plan& plan) {
  std::set<PieceKey> result;
  for (const PlanPiece& p : plan.pieces) result.emplace(p.block, p.server, p.copy, p.cells.lo, p.cells.hi);
  return result;
}

/// The server of each block of a plan that splits none.
inline std::vector<int> servers_of(const Plan& plan, const Planned& planned) {
  std::vector<int> result(planned.blocks.size(), -1);
  for (const PlanPiece& piece : plan.pieces) {
    if (piece.copy) continue;
    CHECK(piece.cells == planned.blocks.at(static_cast<std::size_t>(piece.block)).block.cells);
    CHECK(result.at(static_cast<std::size_t>(piece.block)) == -1);
    result[static_cast<std::size_t>(piece.block)] = piece.server;
  }
  return result;
}

/// Checks properties of every plan. It has the cells of every block exactly once, without copies. A server exists, and
/// gets at most one piece of a block. Plans for single servers add up to the whole plan.
inline void check_plan(const PartitionerKind& kind, const std::string& yaml, const Planned& planned, int servers) {
  CAPTURE(kind.name);
  CAPTURE(servers);
  CAPTURE(planned.blocks.size());
  const Plan whole = plan(kind, yaml, planned, servers);
  std::vector<std::vector<Box>> missing;
  for (const PlannedBlock& block : planned.blocks) missing.push_back({block.block.cells});
  std::set<std::pair<std::int64_t, int>> pairs;
  for (const PlanPiece& piece : whole.pieces) {
    CHECK((piece.server >= 0 && piece.server < servers));
    CHECK(!piece.cells.empty());
    CHECK(pairs.emplace(piece.block, piece.server).second);
    auto& rest = missing.at(static_cast<std::size_t>(piece.block));
    CHECK(planned.blocks[static_cast<std::size_t>(piece.block)].block.cells.contains(piece.cells));
    if (piece.copy) continue;
    Index before = 0, after = 0;
    for (const Box& box : rest) before += box.count();
    rest = difference(rest, piece.cells);
    for (const Box& box : rest) after += box.count();
    CHECK(before - after == piece.cells.count());  // none of them was given away before
  }
  for (const auto& rest : missing) CHECK(rest.empty());
  std::set<PieceKey> united;
  for (int server = 0; server < servers; ++server) {
    for (const PlanPiece& p : plan(kind, yaml, planned, servers, server).pieces) {
      if (p.server == server) CHECK(united.emplace(p.block, p.server, p.copy, p.cells.lo, p.cells.hi).second);
    }
  }
  CHECK(united == keys(whole));
}

inline const int server_counts[] = {1, 2, 3, 5, 8};
inline const std::size_t block_counts[] = {0, 1, 2, 7, 24, 61};

}  // namespace sidestream::testing
