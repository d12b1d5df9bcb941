#include "analyse/demand.hpp"

#include <algorithm>

#include "analyse/bracketing.hpp"
#include "analysis/common/extract/empty_results.hpp"
#include "data/derivation.hpp"
#include "data/levels.hpp"
#include "data/mesh_arrays.hpp"
#include "loading.hpp"
#include "reduce/trigger_statistics.hpp"
#include "server/engine/triggers.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/kit/data/block_index.hpp"

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

}  // namespace

Demand::Demand(const Document& document, const Parameters& parameters, const Metadata& files) {
  const Registry registry = all_kinds(read_opening(document), document, {});
  config_ = read_config(document, registry, parameters, files);
  ever_.resize(config_.metadata.variables.size());
  for (const TaskConfig& task : config_.tasks) add(task, selection_of(task, registry));
  add_statistics();
  add_partitioner(registry);
  for (const Task& task : tasks_) {
    for (const Selected& selected : task.needs) ever_[static_cast<std::size_t>(selected.variable)] = true;
  }
}

Selection Demand::selection_of(const TaskConfig& task, const Registry& registry) const {
  if (task.writer) {
    const auto directory = dry_directory(config_.opening.directory);
    return registry.writers().at(task.kind).create(task.settings, config_.metadata, directory)->selection();
  }
  return registry.analyses().at(task.kind).create(task.settings, config_.metadata)->selection();
}

void Demand::add(const TaskConfig& task, const Selection& selection) {
  const Schedule& schedule = task.schedule;
  if (!schedule.event.empty()) return waiting_.push_back(task.name);
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
  const Triggers triggers(config_.tasks);
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
