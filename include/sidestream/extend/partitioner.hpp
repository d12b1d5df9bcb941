// The contract of a partitioner: who gets which block.
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

/// One block that is needed, as the partitioner sees it.
struct PlannedBlock {
  Block block;
  std::uint64_t bytes = 0;  ///< of all variables that are needed of it
  double cost = 0;          ///< seconds that analyses spent on it last, 0 if not known
  std::int32_t near = -1;   ///< the server that is nearest to its client, -1 if none is nearer than others
  std::int32_t reserved = 0;
};

/// What a plan is made from. Blocks are in the order of clients, meshes and ids; empty blocks and those that no
/// analysis needs are not among them.
struct PlanInput {
  const Metadata& metadata;
  std::span<const PlannedBlock> blocks;
  int servers = 1;
  /// The one server whose part is wanted, or -1 for the whole plan. A partitioner may give more than that part, but
  /// need not spend time on it.
  int server = -1;
};

/// `cells` of a block go to `server`.
struct PlanPiece {
  std::int64_t block = 0;  ///< index in PlanInput::blocks
  std::int32_t server = 0;
  /// 1: a further copy. Its server may use the values, but its points count elsewhere (BlockView::owned is empty).
  std::int32_t copy = 0;
  Box cells;  ///< non-empty, inside the block's cells; those of a block's pieces, without copies, are disjoint
};

/// Blocks without a piece go nowhere. At most one piece of a block to each server.
struct Plan {
  std::vector<PlanPiece> pieces;
};

/// A kind of partitioner, as registered.
struct PartitionerKind {
  std::string name;
  std::string text;
  std::vector<Option> options;
  /// A pure function: the same input gives the same plan, whatever process it runs on. Throws through Settings::fail if
  /// the settings do not fit the blocks or the servers; then it throws on all servers.
  std::function<Plan(const PlanInput&, const Settings&)> plan;
  /// May be empty. Otherwise blocks of the part's mesh outside this part go nowhere, whatever analyses need.
  std::function<Selected(const Settings&, const Metadata&)> restrict_to;
  /// May be empty. Otherwise whether, with these settings, PlannedBlock::cost is wanted: measuring it takes a message
  /// between servers in each iteration, and plans are then made each time.
  std::function<bool(const Settings&)> wants_cost;
};

}  // namespace sidestream
