// Plan of the blocks that a server gets in one iteration, from selections and the partitioner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/redistribution/block_table.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/range.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/partitioner.hpp"

namespace sidestream {

// Blocks needed by a part that depends on values, decided by the servers whose clients own them.

/// The range that decides on a part; variable -1: no range does.
[[nodiscard]] RangeRequest range_of(const Selected& selected);

/// For each part a flag for each block of the table, as from Needs.
using Decisions = std::vector<std::vector<bool>>;

/// Ranges of one server's blocks.
struct OwnRanges {
  std::span<const BlockRange> blocks;
  std::span<const CountedRange> counted{};  ///< for parts without covered blocks, on levels and trees
};

/// Decides which blocks each part needs. `mine`: the ranges of this server's blocks that the parts depend on. Ranges
/// are sent only to servers of blocks just below, or adjacent on other levels. All servers get the decisions, as one
/// bit per block or as a list of needed blocks, whichever is smaller. Collective, with the same table and parts on all
/// servers, and the same result.
[[nodiscard]] Decisions decide_by_ranges(const Metadata& metadata, const BlockTable& table,
                                         std::span<const Selected> parts, const OwnRanges& mine, Communicator& servers);

// The plan.

/// One server's part of the plan, by positions in the block table.
struct BlockAssignment {
  struct Piece {
    std::int64_t block = 0;  ///< position in the table
    Box cells;               ///< all or some cells of the block
    bool copy = false;       ///< true if its points count in another piece
    std::int64_t id = 0;     ///< the block's id, or a unique negative id if the block was split
  };
  std::vector<Piece> pieces;  ///< sorted by id
  /// By variable: empty if not needed; otherwise, by block, the width of the halo, or -1 if not needed.
  std::vector<std::vector<std::int32_t>> halo;
  /// By variable: width of the halo that continues periodically.
  std::vector<std::int32_t> wrap;
  /// By variable: empty if no task needs its ghosts; otherwise, by block, true if they are included.
  std::vector<std::vector<bool>> ghosts{};
  /// By variable: true if some task wants blocks with the upper nodes that they lack; see Selected::completed.
  std::vector<bool> completed{};
  /// Selections with their own decomposition, each once; every server gets its part of each.
  std::vector<Selected> decomposed;

  [[nodiscard]] bool wants_ghosts(std::int32_t variable, std::int64_t block) const {
    const auto v = static_cast<std::size_t>(variable), b = static_cast<std::size_t>(block);
    return v < ghosts.size() && b < ghosts[v].size() && ghosts[v][b];
  }
};

/// Rules for moving blocks to servers in this session.
struct AssignmentRules {
  const PartitionerKind* partitioner = nullptr;
  Settings settings;      ///< of the partitioner
  bool move_all = false;  ///< also moves blocks that no task needs
};

/// Seconds that analyses last spent on a block, by mesh and id.
using BlockCosts = std::map<std::pair<std::int32_t, std::int64_t>, double>;

/// Plans the movement of blocks. The caller caches plans for the same table and demand; plans that depend on ranges are
/// made every time.
class Planner {
 public:
  Planner(const Metadata& metadata, AssignmentRules rules) : metadata_(metadata), rules_(std::move(rules)) {}

  /// Selections that depend on value ranges, including the partitioner's restriction.
  [[nodiscard]] std::vector<Selected> ranged_parts(const std::vector<Selected>& selection) const;
  /// The ranges needed to decide on them.
  [[nodiscard]] std::vector<RangeRequest> ranges_for(const std::vector<Selected>& selection) const;
  [[nodiscard]] bool wants_cost() const {
    return rules_.partitioner->wants_cost && rules_.partitioner->wants_cost(rules_.settings);
  }
  /// Computes a plan: a pure function, the same on every server except for the part that it returns. `decided`: blocks
  /// that each of `ranged_parts` needs. `covered`: blocks that finer blocks cover completely, by position; empty if
  /// there are none. Throws what the partitioner throws.
  [[nodiscard]] std::shared_ptr<const BlockAssignment> plan(const BlockTable& table,
                                                            const std::vector<Selected>& selection,
                                                            const Decisions& decided, const std::vector<bool>& covered,
                                                            const BlockCosts& costs, int servers, int server) const;
  /// Plan in which blocks stay with the servers of their clients: all selected blocks of `server`. Treats parts that
  /// depend on ranges as whole.
  [[nodiscard]] std::shared_ptr<const BlockAssignment> keep(const BlockTable& table,
                                                            const std::vector<Selected>& selection, int server) const;

 private:
  /// Blocks that servers may have.
  struct Allowed {
    std::int32_t mesh = -1;      ///< the mesh whose blocks are restricted
    std::vector<bool> blocks{};  ///< by position
  };
  [[nodiscard]] bool is_ranged(const Selected& selected) const;
  [[nodiscard]] std::shared_ptr<BlockAssignment> empty_assignment() const;
  void note_demand(const BlockTable& table, const Selected& selected, const std::vector<bool>& needed,
                   const Allowed& allowed, BlockAssignment& assignment) const;
  const Metadata& metadata_;
  AssignmentRules rules_;
};

/// True if two selections need the same pieces of the same variable.
[[nodiscard]] bool same_pieces(const Selected& a, const Selected& b) noexcept;

/// Plans for no blocks at all, so that errors in the partitioner's settings are thrown early.
void check_partitioner(const AssignmentRules& rules, const Metadata& metadata, int servers);

/// Points that `piece` owns: its block's own points, without the upper layer of nodes where another piece of the block
/// follows.
[[nodiscard]] std::vector<Box> owned_by_piece(const Variable& variable, const Block& block, const Box& piece,
                                              const std::vector<Box>& owned_by_block);

// Checks of pieces, since the partitioner of a plug-in may be wrong.

/// Throws Error(analysis) unless the piece is part of an existing block and goes to an existing server. Lists must not
/// be split. A piece without cells is valid: a list may have points only, and a box is ignored (see is_nothing).
void check_piece(const PlanPiece& piece, std::span<const PlannedBlock> blocks, int servers,
                 const std::string& partitioner);

/// True if a checked piece moves nothing.
[[nodiscard]] bool is_nothing(const PlanPiece& piece, std::span<const PlannedBlock> blocks);

/// Throws the Error(analysis) of a server that got two pieces of the block with this id.
[[noreturn]] void fail_doubled(const std::string& partitioner, int server, std::int64_t block);

}  // namespace sidestream
