// From arrivals to the blocks that analyses see.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "server/derived/derived_stage.hpp"
#include "server/redistribution/absent_blocks.hpp"
#include "server/redistribution/allocated_boxes.hpp"
#include "server/redistribution/block_table.hpp"
#include "server/redistribution/local_values.hpp"
#include "server/redistribution/movement.hpp"
#include "server/redistribution/redistribution.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// What the analyses that are due need together. The same on every server.
struct Demand {
  std::vector<std::size_t> tasks;    ///< their numbers: equal tasks have equal demands
  std::vector<Selected> selection;   ///< of what is published
  std::vector<Selected> derived;     ///< to be computed from that
  Iteration iteration;               ///< that they are computed for
  bool catalogue = false;            ///< some want the catalogue
  std::vector<RangeRequest> ranges;  ///< some want these in it
  bool repeats = false;              ///< it is that of every iteration
  bool counts = false;               ///< some look at values: points that several blocks have must count once
};

/// The assembled values of one iteration. Points into the transport's memory and its own messages.
struct Assembled {
  Views views;
  std::vector<MemberMessage> messages;           ///< from other servers
  std::vector<std::vector<std::uint8_t>> flags;  ///< of points that several blocks have
  std::shared_ptr<const Catalogue> catalogue;    ///< if somebody wants it
  /// What came to this server for this iteration, in bytes: whole blocks or pieces, and what else its views take, which
  /// is all that moves where values are at hand.
  std::int64_t moved_blocks = 0;
  std::uint64_t moved_bytes = 0, moved_layers = 0;
};

/// Builds views for the union of selections. Keeps the global block table, which changes by differences.
class Assembler {
 public:
  Assembler(const Metadata& metadata, Communicator& servers, MovementRules rules)
      : metadata_(metadata),
        servers_(servers),
        planner_(metadata, std::move(rules)),
        derived_(metadata),
        absent_(metadata) {}

  /// Collective, when some server's blocks have changed: applies what changed since the last call, everywhere.
  void update(ServerTables& tables);
  [[nodiscard]] const BlockTable& table() const noexcept { return table_; }
  /// Once in a run, on the first server: two blocks that have cells in common, after `update`; not what is absent.
  void warn_of_overlap();
  /// Collective: `mine` did not come in this iteration from the clients of this server. Before `settle_absent`.
  void gather_absent(const std::vector<AbsentBlock>& mine) { absent_.gather(mine, servers_); }
  /// In an iteration in which something is absent, or was before: it owns and covers nothing. `has`: whether somebody
  /// published a variable.
  void settle_absent(const AbsentBlocks::Has& has);
  [[nodiscard]] const AbsentBlocks& absent() const noexcept { return absent_; }
  /// The blocks that there are of a variable.
  [[nodiscard]] const BlockTable& table_of(std::int32_t variable) const {
    const std::size_t set = absent_.set_of(variable);
    return set == 0 ? table_ : absent_.table(set);
  }
  /// Collective, with the same `demand` everywhere. Fails on all servers or on none. May be asked again with another
  /// demand for the same iteration. What it returns stays until the next call, or `end`.
  [[nodiscard]] const Assembled& assemble(ServerTransport& transport, std::int64_t index, const Demand& demand);
  /// Before the iteration is released: nobody uses what `assemble` returned any more. Views are kept: the next
  /// iteration may have the same, with other values.
  void end() noexcept;

  /// Collective, after the analyses have run: `seconds` that this server spent on what `assemble` gave it last are
  /// shared out among its blocks by their cells, for partitioners that want costs.
  void note_cost(double seconds);
  [[nodiscard]] bool wants_cost() const { return planner_.wants_cost(); }
  /// After an update that failed: tables may differ between servers, and the next one builds them anew. The same on all
  /// servers.
  void distrust() noexcept { trusted_ = false; }

 private:
  void update_allocated(ServerTransport& transport, std::int64_t index, const std::vector<Selected>& selection);
  [[nodiscard]] std::vector<BlockRange> gather_ranges(const std::vector<BlockRange>& mine,
                                                      const std::vector<RangeRequest>& requests);
  [[nodiscard]] std::shared_ptr<const Catalogue> catalogue(std::vector<BlockRange> ranges);
  /// What stands as long as the blocks and what is demanded do.
  struct Stage {
    std::vector<std::size_t> tasks;
    std::optional<Redistribution> redistribution;
    std::optional<LocalValues> local;  ///< where values are at hand
  };
  [[nodiscard]] std::shared_ptr<const Stage> stage(const Demand& demand, const Decisions& decided,
                                                   bool values_in_place);
  [[nodiscard]] std::vector<ArrayView> fetch(ServerTransport& transport, std::int64_t index, const Stage& stage,
                                             bool again);
  const std::vector<Box>& owned(const Variable& variable, const Block& block);
  const std::vector<Box>& covered(const Variable& variable, const Block& block);
  void forget_stages();
  [[nodiscard]] std::vector<bool> left_out(const Demand& demand) const;
  void mark_derived(const Demand& demand);
  void mark(Views& views, bool refreshed);
  [[nodiscard]] bool refresh(const std::shared_ptr<const Stage>& stage, std::span<const ArrayView> values);
  [[nodiscard]] std::vector<ArrayView> get_values(ServerTransport& transport, std::int64_t index, const Demand& demand,
                                                  const std::shared_ptr<const Stage>& stage);
  void mark_pieces(Views& views) const;
  void mark_flagged(const Variable& flags, std::span<const ArrayView> arrays,
                    std::vector<std::vector<BlockView>>& blocks);
  void mark_shared(const Demand& demand, Assembled& result);
  void mark_trees(Assembled& result);
  [[nodiscard]] std::vector<std::int64_t> mark_tree(const Mesh& mesh, Assembled& result);
  void warn_of_owners(const Mesh& mesh, std::span<const std::int64_t> leaves);

  const Metadata& metadata_;
  Communicator& servers_;
  Planner planner_;
  DerivedStage derived_;
  BlockTable table_;
  std::shared_ptr<Catalogue> catalogue_;  ///< of the table; null: nobody has asked since it changed
  AllocatedBoxes allocated_;
  bool trusted_ = true;  ///< the table is the same on all servers
  BlockCosts costs_;
  std::shared_ptr<const Stage> ordered_;  ///< what the transport was told that it will be asked for again
  std::shared_ptr<const Stage> last_;     ///< of the last assembly
  Assembled assembled_;
  std::shared_ptr<const Stage> viewed_;  ///< of the views in `assembled_`; null: they are not to be used again
  AbsentBlocks absent_;
  /// By mesh, centering and role, the set of absent blocks, block.
  std::map<std::tuple<std::int32_t, std::size_t, std::int64_t>, std::vector<Box>> owned_;
  /// By mesh, the set of absent blocks, level, cells.
  std::map<std::tuple<std::int32_t, std::size_t, std::int32_t, Index3, Index3>, std::vector<Box>> covered_;
  bool warned_ = false;        ///< of blocks that overlap
  bool overlap_open_ = false;  ///< some that did not come were not looked at
  /// Of leaves that several blocks own; the same on all servers.
  bool told_trees_ = false;
  /// Those that hold while the table does; the newest first. The same on all servers.
  std::list<std::shared_ptr<const Stage>> stages_;
};

}  // namespace sidestream
