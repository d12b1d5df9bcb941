// What a server gets in one iteration: from selections and the partitioner to pieces of blocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/redistribution/block_table.hpp"
#include "server/redistribution/range_decisions.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/extend/partitioner.hpp"

namespace sidestream {

/// One server's part of the plan, as positions in the block table.
struct Movement {
  struct Piece {
    std::int64_t block = 0;  ///< position in the table
    Box cells;               ///< of the block, all or some
    bool copy = false;       ///< its points count elsewhere
    std::int64_t id = 0;     ///< the block's, or, if it was split, a negative one that no other piece has
  };
  std::vector<Piece> pieces;  ///< by ascending id
  /// By variable: empty if it is not needed at all; otherwise by block the halo that is needed, -1: not needed.
  std::vector<std::vector<std::int32_t>> halo;
  /// By variable: how much of the halo goes on at the other end of a periodic mesh.
  std::vector<std::int32_t> wrap;
  /// By variable: empty if nobody wants ghosts of it; otherwise by block whether they come along.
  std::vector<std::vector<bool>> ghosts{};
  /// What is wanted in decompositions of their own, each once; their parts are all.
  std::vector<Selected> decomposed;

  [[nodiscard]] bool wants_ghosts(std::int32_t variable, std::int64_t block) const {
    const auto v = static_cast<std::size_t>(variable), b = static_cast<std::size_t>(block);
    return v < ghosts.size() && b < ghosts[v].size() && ghosts[v][b];
  }
};

/// How blocks get to servers in this session.
struct MovementRules {
  const PartitionerKind* partitioner = nullptr;
  Settings settings;      ///< of the partitioner
  bool move_all = false;  ///< blocks that nobody needs too
};

/// Seconds that analyses spent on a block last, by mesh and id.
using BlockCosts = std::map<std::pair<std::int32_t, std::int64_t>, double>;

/// Plans are made once for the same table and the same demands, and kept; with ranges they are made every time.
class Planner {
 public:
  Planner(const Metadata& metadata, MovementRules rules) : metadata_(metadata), rules_(std::move(rules)) {}

  /// Those of `selection`, and what the partitioner is restricted to, that go by ranges.
  [[nodiscard]] std::vector<Selected> ranged_parts(const std::vector<Selected>& selection) const;
  /// The ranges that deciding on them takes.
  [[nodiscard]] std::vector<RangeRequest> ranges_for(const std::vector<Selected>& selection) const;
  [[nodiscard]] bool wants_cost() const {
    return rules_.partitioner->wants_cost && rules_.partitioner->wants_cost(rules_.settings);
  }
  /// A pure function of its arguments, the same on every server but for the part it returns. `decided`: which blocks
  /// each of `ranged_parts` needs. `covered`: those that finer ones cover whole, by position; empty if none is. Throws
  /// what the partitioner throws.
  [[nodiscard]] std::shared_ptr<const Movement> plan(const BlockTable& table, const std::vector<Selected>& selection,
                                                     const Decisions& decided, const std::vector<bool>& covered,
                                                     const BlockCosts& costs, int servers, int server) const;
  /// Where blocks stay with the servers of their clients: all that `server` has of what is selected. Parts that only
  /// ranges can tell count as all.
  [[nodiscard]] std::shared_ptr<const Movement> keep(const BlockTable& table, const std::vector<Selected>& selection,
                                                     int server) const;

 private:
  /// What blocks a server may have.
  struct Allowed {
    std::int32_t mesh = -1;      ///< on which not all are
    std::vector<bool> blocks{};  ///< by position
  };
  [[nodiscard]] bool is_ranged(const Selected& selected) const;
  [[nodiscard]] std::shared_ptr<Movement> empty_movement() const;
  void note_demand(const BlockTable& table, const Selected& selected, const std::vector<bool>& needed,
                   const Allowed& allowed, Movement& movement) const;
  const Metadata& metadata_;
  MovementRules rules_;
};

/// Whether two entries want the same pieces of the same variable.
[[nodiscard]] bool same_pieces(const Selected& a, const Selected& b) noexcept;

/// Plans for no blocks at all: throws now what is wrong with the partitioner's settings, whatever the blocks.
void check_partitioner(const MovementRules& rules, const Metadata& metadata, int servers);

/// The points of `piece` that count as its own: those of its block that the block owns, without the upper layer of
/// nodes where the block goes on in another piece.
[[nodiscard]] std::vector<Box> owned_by_piece(const Variable& variable, const Block& block, const Box& piece,
                                              const std::vector<Box>& owned_by_block);

// What a partitioner of a plug-in may get wrong.

/// Throws Error(analysis) unless the piece is part of a block, for a server, that exist; blocks that are lists go
/// whole. A piece without cells is in order: of a list it may be points alone, of a box it is nothing (see is_nothing).
void check_piece(const PlanPiece& piece, std::span<const PlannedBlock> blocks, int servers,
                 const std::string& partitioner);

/// Whether a piece that was checked moves nothing.
[[nodiscard]] bool is_nothing(const PlanPiece& piece, std::span<const PlannedBlock> blocks);

/// Throws the Error(analysis) of a server that got two pieces of the block with this id.
[[noreturn]] void fail_doubled(const std::string& partitioner, int server, std::int64_t block);

}  // namespace sidestream
