// The contract of a partitioner, which assigns blocks to servers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// One needed block, as the partitioner sees it.
struct PlannedBlock {
  Block block;
  std::uint64_t bytes = 0;  ///< bytes of all variables that are needed on it
  double cost = 0;          ///< seconds that analyses spent on it most recently, 0 if not known
  std::int32_t near = -1;   ///< the server nearest to its client; -1 if all are equally near
  std::int32_t reserved = 0;
};

/// The input of a plan. Blocks are in the order of clients, meshes and ids, without empty blocks and blocks that no
/// analysis needs.
struct PlanInput {
  const Metadata& metadata;
  std::span<const PlannedBlock> blocks;
  int servers = 1;
  /// The server whose part is needed, or -1 for the whole plan. A partitioner may return more than that part, but need
  /// not spend time on it.
  int server = -1;
};

/// Assigns `cells` of a block to `server`.
struct PlanPiece {
  std::int64_t block = 0;  ///< index in PlanInput::blocks
  std::int32_t server = 0;
  /// 1: a further copy. Its server may use the values, but its points count elsewhere (BlockView::owned is empty).
  std::int32_t copy = 0;
  Box cells;  ///< non-empty, inside the block's cells; the pieces of a block that are not copies are disjoint
};

/// The assignment of all blocks. Blocks without a piece go nowhere. Each server gets at most one piece of a block.
struct Plan {
  std::vector<PlanPiece> pieces;
};

/// A registered kind of partitioner.
struct PartitionerKind {
  std::string name;
  std::string text;
  std::vector<Option> options;
  /// Makes the plan. A pure function: the same input gives the same plan on every process. Throws through
  /// Settings::fail if the settings do not fit the blocks or the servers; then it throws on all servers.
  std::function<Plan(const PlanInput&, const Settings&)> plan;
  /// Restricts the plan; may be empty. Blocks of the part's mesh outside this part go nowhere, even if analyses need
  /// them.
  std::function<Selected(const Settings&, const Metadata&)> restrict_to;
  /// True if PlannedBlock::cost is wanted with these settings; may be empty. Measuring it takes a message between
  /// servers in each iteration, and plans are then made each time.
  std::function<bool(const Settings&)> wants_cost;
};

}  // namespace sidestream
