// Which blocks of an iteration the tasks of a configuration need, so that only these are read.
//
// 1. Tasks that are due, with their selections; conditions that are unknown before reading count as true.
// 2. Blocks by plane, box, level, or by ranges that files store. A range that is unknown means all blocks.
// 3. Blocks that provide halos, and neighbours that servers need to decide in the same way, are added.
#include "analyse/demand.hpp"

#include <algorithm>

#include "data/derivation.hpp"
#include "data/levels.hpp"
#include "loading.hpp"
#include "reduce/triggers/trigger_statistics.hpp"
#include "server/engine/schedule.hpp"
#include "server/redistribution/block_assignment.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/kit/analysis/empty_results.hpp"
#include "sidestream/kit/data/block_index.hpp"
#include "sidestream/kit/data/selected_arrays.hpp"

namespace sidestream::analysing {

namespace {

/// The selection without conditions on values that are unknown before reading; then all blocks may be needed.
Selected known_part(Selected selected) {
  const Part::Kind kind = selected.part.kind;
  const bool by_values =
      kind == Part::Kind::values || (kind == Part::Kind::predicate && selected.part.predicate.range.variable >= 0);
  if (by_values || !selected.decomposition.is_published()) selected.part = AllBlocks{};
  return selected;
}

/// Ranges of source indices for [lo, hi) on a periodic axis of n: at most three.
std::vector<std::pair<Index, Index>> stretches(Index lo, Index hi, Index n, bool periodic) {
  if (!periodic || (lo >= 0 && hi <= n)) return {{lo, hi}};
  if (hi - lo >= n) return {{0, n}};
  std::vector<std::pair<Index, Index>> found{{std::max<Index>(lo, 0), std::min(hi, n)}};
  if (lo < 0) found.emplace_back(n + lo, n);
  if (hi > n) found.emplace_back(0, hi - n);
  return found;
}

/// Adds the blocks that provide halos of the needed ones.
void add_halo(const Selected& selected, const Mesh& mesh, std::span<const Block> blocks, const BlockIndex& index,
              std::vector<bool>& needed) {
  if (selected.halo == 0 || mesh.is_list()) return;
  const std::vector<bool> own = needed;
  std::vector<std::int64_t> found;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!own[b]) continue;
    const Box all = mesh.cells_on(blocks[b].level);
    std::array<std::vector<std::pair<Index, Index>>, 3> axes;
    for (std::size_t a = 0; a < 3; ++a) {
      axes[a] = stretches(blocks[b].cells.lo[a] - selected.halo - 1, blocks[b].cells.hi[a] + selected.halo + 1,
                          all.hi[a], mesh.periodic[a] && selected.wrap);
    }
    for (const auto& x : axes[0]) {
      for (const auto& y : axes[1]) {
        for (const auto& z : axes[2]) {
          index.overlapping(blocks[b].mesh, blocks[b].level,
                            {{x.first, y.first, z.first}, {x.second, y.second, z.second}}, found);
          for (const std::int64_t other : found) needed[static_cast<std::size_t>(other)] = true;
        }
      }
    }
  }
}

/// Blocks that a surface may pass, according to the ranges in files.
struct Bracketing {
  std::vector<bool> passed;  ///< by block: true if a surface may pass
  /// Further blocks that servers, which use the values themselves, need for the same decisions.
  std::vector<bool> beside;
};

/// Ranges of all blocks with cells on the variable's mesh; nothing if one is unknown. The range that a neighbour sees
/// is unknown, so the whole block's is used.
std::optional<std::vector<BlockRange>> ranges_of(const RangeRequest& request, const Metadata& metadata,
                                                 std::span<const Block> blocks, const Demand::RangeOf& range_of) {
  const Variable& variable = metadata.variables.at(static_cast<std::size_t>(request.variable));
  if (variable.derived() || variable.components != 1) return std::nullopt;
  std::vector<BlockRange> ranges;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].mesh != variable.mesh || blocks[b].empty()) continue;
    const std::optional<Range> range = range_of(variable.id, b);
    if (!range) return std::nullopt;
    BlockRange& one = ranges.emplace_back();
    one.block = blocks[b].id;
    one.variable = request.variable;
    one.component = request.component;
    one.all = *range;
    one.lowest.fill(*range);
  }
  return ranges;
}

/// Blocks for a part that depends on values. Nothing if a block's range is unknown, or the part does not depend on
/// values.
std::optional<Bracketing> bracketing(const Selected& selected, const Metadata& metadata, std::span<const Block> blocks,
                                     const BlockIndex& index, const Demand::RangeOf& range_of) {
  if (selected.part.kind != Part::Kind::values || !selected.decomposition.is_published()) return std::nullopt;
  const RangeRequest request = sidestream::range_of(selected);
  const auto ranges = ranges_of(request, metadata, blocks, range_of);
  if (!ranges) return std::nullopt;
  const Mesh& mesh = metadata.mesh_of(metadata.variables.at(static_cast<std::size_t>(request.variable)));
  if (mesh.is_list()) return std::nullopt;
  Bracketing found{Needs(metadata, blocks, *ranges).of(selected), std::vector<bool>(blocks.size(), false)};
  // A variable without any block would count as missing in the iteration.
  const auto some = std::find_if(blocks.begin(), blocks.end(),
                                 [&](const Block& block) { return block.mesh == mesh.id && !block.empty(); });
  if (some != blocks.end()) found.beside[static_cast<std::size_t>(some - blocks.begin())] = true;
  // If both of two touching blocks are taken when a surface passes between them, these blocks suffice for the same
  // decisions. Otherwise the lower one is taken, which needs the upper ones.
  if (meets_other_levels(mesh)) return found;
  std::vector<std::int64_t> above;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!found.passed[b]) continue;
    Box reach = blocks[b].cells;
    for (Index& end : reach.hi) ++end;
    index.overlapping(mesh.id, blocks[b].level, reach, above);
    for (const std::int64_t other : above) found.beside[static_cast<std::size_t>(other)] = true;
  }
  return found;
}

}  // namespace

Demand::Demand(const Document& document, const Parameters& parameters, const Metadata& files) {
  const Registry registry = all_kinds(read_opening(document), document, {});
  config_ = read_config(document, registry, parameters, files);
  ever_.resize(config_.metadata.variables.size());
  for (const TaskConfig& task : config_.tasks) {
    if (task.uses < 0) add(task, selection_of(task, registry));
  }
  add_statistics();
  add_partitioner(registry);
  for (const Task& task : tasks_) {
    for (const Selected& selected : task.needs) ever_[static_cast<std::size_t>(selected.variable)] = true;
  }
}

Selection Demand::selection_of(const TaskConfig& task, const Registry& registry) const {
  if (task.writer) {
    const auto directory = null_directory(config_.opening.directory);
    return registry.writers().at(task.kind).create(task.settings, config_.metadata, directory)->selection();
  }
  return registry.analyses().at(task.kind).create(task.settings, config_.metadata)->selection();
}

void Demand::add(const TaskConfig& task, const Selection& selection) {
  const Schedule& schedule = task.schedule;
  if (!schedule.event.empty()) return waiting_.push_back(task.name);
  catalogue_ |= selection.catalogue;
  Selection needed = selection;
  std::erase_if(needed.variables, SeenValues::only_listens);
  Task made{ScheduleState(schedule), inputs_of(with_mesh_arrays(needed, config_.metadata), config_.metadata)};
  for (const RangeRequest& range : selection.ranges) {
    const auto more = inputs_of({Selected(range.variable)}, config_.metadata);
    made.needs.insert(made.needs.end(), more.begin(), more.end());
  }
  made.uncertain =
      schedule.when != nullptr || schedule.unit == Schedule::Unit::wall || schedule.unit == Schedule::Unit::automatic;
  tasks_.push_back(std::move(made));
}

/// Adds the statistics for conditions, which are evaluated in every iteration.
void Demand::add_statistics() {
  std::vector<TaskConfig> own = config_.tasks;
  std::erase_if(own, [](const TaskConfig& task) { return task.uses >= 0; });
  const Triggers triggers(own);
  if (triggers.statistics().empty()) return;
  TaskConfig when;
  when.name = "when";
  add(when, make_trigger_statistics(triggers.statistics())->selection());
}

/// Adds the values that a partitioner depends on.
void Demand::add_partitioner(const Registry& registry) {
  const PlacementConfig& placement = config_.opening.placement;
  const auto found = registry.partitioners().find(placement.partitioner);
  if (placement.mode != PlacementMode::nodes || found == registry.partitioners().end()) return;
  if (!found->second.restrict_to) return;
  TaskConfig partitioner;
  partitioner.name = placement.partitioner;
  add(partitioner, Selection({found->second.restrict_to(placement.partitioner_settings, config_.metadata)}));
}

std::vector<std::vector<bool>> Demand::of(const Iteration& iteration, std::span<const Block> blocks,
                                          const RangeOf& range_of) {
  const BlockIndex index(blocks);
  const Needs needs(config_.metadata, blocks, {});
  const std::vector<bool> covered = wholly_covered(config_.metadata, blocks, index);
  std::vector<std::vector<bool>> needed(ever_.size());
  for (Task& task : tasks_) {
    if (!task.uncertain && !task.schedule.due(iteration, true, false, false)) continue;
    for (const Selected& selected : task.needs) {
      const auto bracketed = bracketing(selected, config_.metadata, blocks, index, range_of);
      std::vector<bool> part = bracketed ? bracketed->passed : needs.of(known_part(selected));
      leave_out_covered(selected, covered, part);
      const Variable& variable = config_.metadata.variables[static_cast<std::size_t>(selected.variable)];
      add_halo(selected, config_.metadata.mesh_of(variable), blocks, index, part);
      std::vector<bool>& all = needed[static_cast<std::size_t>(selected.variable)];
      all.resize(blocks.size());
      for (std::size_t b = 0; b < part.size(); ++b) all[b] = all[b] || part[b] || (bracketed && bracketed->beside[b]);
    }
  }
  return needed;
}

}  // namespace sidestream::analysing
