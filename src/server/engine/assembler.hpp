// Assembling of arrived values into the blocks that analyses see.
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
#include "server/redistribution/block_assignment.hpp"
#include "server/redistribution/block_table.hpp"
#include "server/redistribution/exchange_plan.hpp"
#include "server/redistribution/local_values.hpp"
#include "server/redistribution/range_regions.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Everything that the due analyses need together. The same on every server.
struct Demand {
  std::vector<std::size_t> tasks;    ///< numbers of the tasks; equal tasks have equal demands
  std::vector<Selected> selection;   ///< selected published variables
  std::vector<Selected> derived;     ///< selected derived variables, which are computed from `selection`
  Iteration iteration;               ///< the iteration of derived variables
  bool catalogue = false;            ///< true if a task needs the catalogue
  std::vector<RangeRequest> ranges;  ///< ranges that tasks need in the catalogue
  bool repeats = false;              ///< true if every iteration has this demand
  bool counts = false;  ///< true if a task reads values, so that points shared by several blocks must count once
};

/// Assembled values of one iteration. Points into the transport's memory and its own messages.
struct Assembled {
  Views views;
  /// The same views with blocks that have all nodes of their cells (Selected::completed); empty if `views` has them
  /// all.
  std::optional<Views> completed;
  std::vector<MemberMessage> messages;           ///< messages from other servers
  std::vector<std::vector<std::uint8_t>> flags;  ///< flags of points that several blocks share
  std::shared_ptr<const Catalogue> catalogue;    ///< null unless a task needs it
  /// Number of blocks and bytes that came to this server for this iteration: whole blocks or pieces, and layers around
  /// them. Only layers move where values are in place.
  std::int64_t moved_blocks = 0;
  std::uint64_t moved_bytes = 0, moved_layers = 0;
};

/// Builds views for the union of selections. Keeps the global block table, which is updated by differences.
class Assembler {
 public:
  Assembler(const Metadata& metadata, Communicator& servers, AssignmentRules rules)
      : metadata_(metadata),
        servers_(servers),
        planner_(metadata, std::move(rules)),
        regions_(metadata, servers.rank()),
        derived_(metadata),
        absent_(metadata) {}

  /// Collective, when some server's blocks have changed: applies the changes since the last call on all servers.
  void update(ServerTables& tables);
  [[nodiscard]] const BlockTable& table() const noexcept { return table_; }
  /// Warns on the first server, once in a run, of two blocks that have cells in common. Call it after `update`; ignores
  /// missing blocks.
  void warn_of_overlap();
  /// Collective: gathers missing blocks. `mine`: of this server's clients. Call it before `settle_absent`.
  void gather_absent(const std::vector<AbsentBlock>& mine) { absent_.gather(mine, servers_); }
  /// Applies missing blocks: they own and cover nothing. Call it in iterations with missing blocks, and in the one
  /// after. `has`: true if any client published a variable.
  void settle_absent(const AbsentBlocks::Has& has);
  /// Discards views after variables were added, so that the next views have room for them.
  void forget_views() noexcept { viewed_.reset(); }
  [[nodiscard]] const AbsentBlocks& absent() const noexcept { return absent_; }
  /// The blocks that have a variable.
  [[nodiscard]] const BlockTable& table_of(std::int32_t variable) const {
    const std::size_t set = absent_.set_of(variable);
    return set == 0 ? table_ : absent_.table(set);
  }
  /// Collective, with the same `demand` on all servers. Fails on all servers or on none. May be called again with
  /// another demand for the same iteration. The result is valid until the next call, or `end`.
  [[nodiscard]] const Assembled& assemble(ServerTransport& transport, std::int64_t index, const Demand& demand);
  /// Assembles a demand that will not repeat. Plans of other demands are kept.
  [[nodiscard]] const Assembled& assemble_once(ServerTransport& transport, std::int64_t index, const Demand& demand);
  /// Ends the use of what `assemble` returned, before the iteration is released. Views are kept, because the next
  /// iteration may have the same ones with other values.
  void end() noexcept;

  /// Divides `seconds`, which this server spent on its last assembly, among its blocks in proportion to their cells,
  /// for partitioners that use costs. Collective, after the analyses have run.
  void note_cost(double seconds);
  [[nodiscard]] bool wants_cost() const { return planner_.wants_cost(); }
  /// Marks the tables as possibly different between servers after a failed update; the next update rebuilds them. Call
  /// it on all servers.
  void invalidate() noexcept { trusted_ = false; }

 private:
  void update_allocated(ServerTransport& transport, std::int64_t index, const std::vector<Selected>& selection);
  /// Ranges of this server's blocks, or of all servers' blocks.
  struct Ranges {
    std::vector<BlockRange> blocks;
    std::vector<CountedRange> counted;
  };
  [[nodiscard]] Ranges measure(ServerTransport& transport, std::int64_t index, const Demand& demand,
                               const std::vector<Selected>& parts);
  [[nodiscard]] Ranges gather_ranges(const Ranges& mine, const std::vector<RangeRequest>& requests);
  [[nodiscard]] std::shared_ptr<const Catalogue> catalogue(Ranges ranges);
  /// State that stays valid as long as the blocks and the demand stay the same.
  struct CachedPlan {
    std::vector<std::size_t> tasks;
    std::optional<ExchangePlan> exchange;
    std::optional<LocalValues> local;  ///< set only if values are in place
  };
  [[nodiscard]] std::shared_ptr<const CachedPlan> plan_for(const Demand& demand, const Decisions& decided,
                                                           bool values_in_place);
  [[nodiscard]] std::vector<ArrayView> fetch(ServerTransport& transport, std::int64_t index, const CachedPlan& plan,
                                             bool again);
  const std::vector<Box>& owned(const Variable& variable, const Block& block);
  const std::vector<Box>& covered(const Variable& variable, const Block& block);
  void forget_plans();
  [[nodiscard]] std::vector<bool> left_out(const Demand& demand) const;
  void mark_derived(const Demand& demand);
  void derive(const Demand& demand);
  void complete(const Demand& demand);
  void warn_of_nodes(const Variable& variable, const BlockView& view);
  [[nodiscard]] bool is_completed(const Selected& selected) const;
  void mark(Views& views, bool refreshed);
  [[nodiscard]] bool refresh(const std::shared_ptr<const CachedPlan>& plan, std::span<const ArrayView> values);
  [[nodiscard]] std::vector<ArrayView> get_values(ServerTransport& transport, std::int64_t index, const Demand& demand,
                                                  const std::shared_ptr<const CachedPlan>& plan);
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
  RangeRegions regions_;
  DerivedStage derived_;
  BlockTable table_;
  std::shared_ptr<Catalogue> catalogue_;  ///< made from the table; null: not requested since the table changed
  AllocatedBoxes allocated_;
  bool fetches_ = false;  ///< true if values were ever not in place, so that the boxes of all arrays are known
  bool trusted_ = true;   ///< true if the table is the same on all servers
  BlockCosts costs_;
  std::shared_ptr<const CachedPlan> ordered_;  ///< the plan that the transport expects
  std::shared_ptr<const CachedPlan> last_;     ///< the plan of the last assembly
  Assembled assembled_;
  std::shared_ptr<const CachedPlan> viewed_;  ///< the plan of the views in `assembled_`; null: they must not be reused
  AbsentBlocks absent_;
  /// Keys: mesh with centering and role, set of missing blocks, block.
  std::map<std::tuple<std::int32_t, std::size_t, std::int64_t>, std::vector<Box>> owned_;
  /// Keys: mesh, set of missing blocks, level, cells.
  std::map<std::tuple<std::int32_t, std::size_t, std::int32_t, Index3, Index3>, std::vector<Box>> covered_;
  bool warned_ = false;         ///< true if the warning about overlapping blocks was given
  bool warned_absent_ = false;  ///< true if the warning about nodes of undelivered blocks was given
  bool overlap_open_ = false;   ///< true if some missing blocks were not checked
  /// True if the warning about leaves that several blocks own was given; the same on all servers.
  bool warned_trees_ = false;
  /// Plans that are valid as long as the table is; the newest first. The same on all servers.
  std::list<std::shared_ptr<const CachedPlan>> plans_;
};

}  // namespace sidestream
