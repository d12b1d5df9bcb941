// Marks in assembled views: cells that finer levels cover, flagged ghosts, leaves that count, points shared by blocks.
//
// 1. mark: covered cells come from the block table, ghosts from the arrays that the simulation flags.
// 2. mark_trees: flags cells of octrees that are refined or owned by another block, and compares the volume of the
//    other leaves with the mesh's (a sum over servers, until it has warned).
// 3. mark_shared: servers exchange numbers of points, and the lowest block keeps a shared one.
// 4. complete: a second set of views, in which blocks with owned points have all nodes of their cells.
// mark_trees and mark_shared are collective.
#include <algorithm>
#include <set>

#include "base/mpi/agree.hpp"
#include "data/owned_points.hpp"
#include "server/engine/assembler.hpp"
#include "server/redistribution/shared_points.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/data/octree.hpp"

namespace sidestream {

const std::vector<Box>& Assembler::covered(const Variable& variable, const Block& block) {
  const std::size_t set = absent_.set_of(variable.id);
  const std::tuple key(variable.mesh, set, block.level, block.cells.lo, block.cells.hi);
  const auto found = covered_.find(key);
  if (found != covered_.end()) return found->second;
  return covered_.emplace(key, table_of(variable.id).covered(metadata_.mesh_of(variable), block)).first->second;
}

namespace {

/// Finds a block's view among views sorted by id; null if there is none.
const BlockView* find_view(const std::vector<BlockView>& views, std::int64_t block) {
  const auto at = std::lower_bound(views.begin(), views.end(), block,
                                   [](const BlockView& v, std::int64_t id) { return v.block.id < id; });
  return at == views.end() || at->block.id != block ? nullptr : &*at;
}

}  // namespace

/// Marks cells that finer levels cover, and ghosts that the simulation flags. Reused views still have their covered
/// cells marked.
void Assembler::mark(Views& assembled, bool refreshed) {
  std::vector<std::vector<BlockView>>& blocks = assembled.blocks;
  for (const Variable& variable : metadata_.variables) {
    std::vector<BlockView>& views = blocks[static_cast<std::size_t>(variable.id)];
    const Mesh& mesh = metadata_.mesh_of(variable);
    for (std::size_t v = 0; !refreshed && v < views.size() && !mesh.refinement.empty(); ++v) {
      views[v].covered = covered(variable, views[v].block);
    }
    if (variable.role != Role::point_ghosts && variable.role != Role::cell_ghosts) continue;
    std::vector<ArrayView> arrays;
    for (const BlockView& view : views) arrays.push_back(view.array);
    mark_flagged(variable, arrays, blocks);
  }
  mark_pieces(assembled);
}

/// Marks pieces with their ghost flags, which were exchanged in the same pieces.
void Assembler::mark_pieces(Views& views) const {
  for (PieceViews& pieces : views.pieces) {
    const Variable& variable = metadata_.variables[static_cast<std::size_t>(pieces.selected.variable)];
    for (const Role role : {Role::point_ghosts, Role::cell_ghosts}) {
      const std::int32_t flags = metadata_.mesh_of(variable).array(role);
      if (flags < 0 || metadata_.variables[static_cast<std::size_t>(flags)].centering != variable.centering) continue;
      const PieceViews* found = find_pieces(views, pieces.selected, flags);
      for (std::size_t v = 0; found && v < pieces.views.size(); ++v) pieces.views[v].ghosts = found->views[v].array;
    }
  }
}

/// Sets the flags (`arrays`: views of the variable `flags`) in the views of all variables of the same mesh and
/// centring.
void Assembler::mark_flagged(const Variable& flags, std::span<const ArrayView> arrays,
                             std::vector<std::vector<BlockView>>& blocks) {
  const std::vector<BlockView>& flagged = blocks[static_cast<std::size_t>(flags.id)];
  for (const Variable& variable : metadata_.variables) {
    const bool list = variable.role == Role::connectivity || variable.role == Role::faces;
    if (variable.mesh != flags.mesh || variable.centering != flags.centering || list) continue;
    for (BlockView& view : blocks[static_cast<std::size_t>(variable.id)]) {
      const BlockView* at = find_view(flagged, view.block.id);
      if (at != nullptr) view.ghosts = arrays[static_cast<std::size_t>(at - flagged.data())];
    }
  }
}

/// Collective, if there are trees: marks cells so that each leaf counts once.
void Assembler::mark_trees(Assembled& result) {
  const auto is_tree = [](const Mesh& mesh) { return mesh.kind() == MeshKind::octree; };
  if (std::none_of(metadata_.meshes.begin(), metadata_.meshes.end(), is_tree)) return;
  std::vector<std::int64_t> leaves;
  run_collectively(servers_, [&] {
    for (const Mesh& mesh : metadata_.meshes) {
      if (!is_tree(mesh)) continue;
      const std::vector<std::int64_t> some = mark_tree(mesh, result);
      leaves.insert(leaves.end(), some.begin(), some.end());
    }
  });
  if (warned_trees_) return;
  servers_.sum(leaves);
  std::span<const std::int64_t> rest(leaves);
  for (const Mesh& mesh : metadata_.meshes) {
    if (!is_tree(mesh)) continue;
    warn_of_owners(mesh, rest.first(most_tree_levels));
    rest = rest.subspan(most_tree_levels);
  }
}

/// Flags the cells that do not count; returns the number of counted leaves on each level.
std::vector<std::int64_t> Assembler::mark_tree(const Mesh& mesh, Assembled& result) {
  std::vector<std::int64_t> leaves(most_tree_levels, 0);
  const std::int32_t owned = mesh.array(Role::owned);
  const auto refined = static_cast<std::size_t>(mesh.array(Role::refined));
  std::vector<ArrayView> arrays;
  for (const BlockView& view : result.views.blocks[refined]) {
    const std::vector<Index> starts = level_starts(mesh, view.block, view.array);
    const BlockView* mine =
        owned < 0 ? nullptr : find_view(result.views.blocks[static_cast<std::size_t>(owned)], view.block.id);
    const auto& flags = result.flags.emplace_back(uncounted_cells(view.array, mine ? mine->array : ArrayView{}));
    ArrayView& array = arrays.emplace_back(view.array);
    array.strides = {1, 0, 0, 0};
    array.data = flags.data();
    if (!view.copy) count_leaves(starts, flags, leaves);
  }
  mark_flagged(metadata_.variables[refined], arrays, result.views.blocks);
  return leaves;
}

/// Warns, once in a run, if leaves are owned by more than one block.
void Assembler::warn_of_owners(const Mesh& mesh, std::span<const std::int64_t> leaves) {
  const double excess = excess_of_leaves(mesh, leaves);
  if (excess == 0 || warned_trees_) return;
  warned_trees_ = true;
  if (servers_.rank() != 0) return;
  log::warning(
      "the leaves that blocks of the mesh '{}' own have together {:.6g} times its volume: some are in more than one "
      "block, and count in each; {}",
      mesh.name, 1 + excess,
      mesh.array(Role::owned) < 0 ? "name a variable (`owned`) that is 0 where a cell counts in another block"
                                  : "let `owned` be 0 for a leaf in all blocks but one");
}

/// Decides which copy of a shared point counts, if the simulation numbers points but does not flag them.
void Assembler::mark_shared(const Demand& demand, Assembled& result) {
  if (!demand.counts) return;
  for (const Variable& variable : metadata_.variables) {
    const Mesh& mesh = metadata_.mesh_of(variable);
    const bool points = variable.role == Role::point_ids && mesh.array(Role::point_ghosts) < 0;
    const bool cells = variable.role == Role::cell_ids && mesh.array(Role::cell_ghosts) < 0;
    const bool wanted = std::any_of(demand.selection.begin(), demand.selection.end(),
                                    [&](const Selected& s) { return s.variable == variable.id; });
    if (!mesh.is_list() || !wanted || !(points || cells)) continue;
    const std::vector<BlockView>& views = result.views.blocks[static_cast<std::size_t>(variable.id)];
    std::vector<ArrayView> arrays;
    for (std::vector<std::uint8_t>& flags : flag_shared(views, servers_)) {
      ArrayView array;
      array.type = Type::uint8;
      array.box = list_box(static_cast<Index>(flags.size()));
      array.data = result.flags.emplace_back(std::move(flags)).data();
      arrays.push_back(array);
    }
    mark_flagged(variable, arrays, result.views.blocks);
  }
}

/// Marks derived views separately: they resemble the views of one input, which may exist on finer blocks where another
/// input does not.
void Assembler::mark_derived(const Demand& demand) {
  for (const Selected& one : demand.derived) {
    if (absent_.set_of(one.variable) == 0) continue;
    const Variable& variable = metadata_.variables[static_cast<std::size_t>(one.variable)];
    if (metadata_.mesh_of(variable).refinement.empty()) continue;
    for (BlockView& view : assembled_.views.blocks[static_cast<std::size_t>(one.variable)]) {
      view.covered = covered(variable, view.block);
    }
  }
}

bool Assembler::is_completed(const Selected& selected) const {
  const Variable& variable = metadata_.variables[static_cast<std::size_t>(selected.variable)];
  return selected.completed && selected.decomposition.is_published() &&
         lacks_nodes(metadata_.mesh_of(variable), variable);
}

/// Makes the second set of views, in which blocks of meshes with owned points have all nodes of their cells. Tasks that
/// only need points that count use the first set, so that their input does not depend on other due tasks.
void Assembler::complete(const Demand& demand) {
  Views& views = assembled_.completed.emplace();
  views.blocks = assembled_.views.blocks;
  views.pieces = assembled_.views.pieces;
  std::set<std::int32_t> done;
  for (const Selected& selected : demand.selection) {
    if (!is_completed(selected) || !done.insert(selected.variable).second) continue;
    const Variable& variable = metadata_.variables[static_cast<std::size_t>(selected.variable)];
    for (BlockView& view : views.blocks[static_cast<std::size_t>(variable.id)]) {
      view = completed(view, variable, views.memory);
      warn_of_nodes(variable, view);
    }
  }
  // Derived values at nodes that other blocks own follow from completed inputs.
  std::vector<Selected> derived;
  for (const Selected& selected : demand.derived) {
    if (!is_completed(selected)) continue;
    derived.push_back(selected);
    views.blocks[static_cast<std::size_t>(selected.variable)].clear();  // views with the blocks' own points only
  }
  derived_.derive(derived, demand.iteration, table_, views);
}

/// Warns, once in a run, if a block's upper nodes are missing.
void Assembler::warn_of_nodes(const Variable& variable, const BlockView& view) {
  if (warned_absent_ || view.absent.empty()) return;
  warned_absent_ = true;
  log::warning(
      "block {} of '{}' ends at points that no block delivered, from ({}, {}, {}) on: they are NaN, or 0 in whole "
      "numbers, and surfaces and slices leave their cells out; publish the neighbour in every iteration",
      view.block.id, variable.name, view.absent[0].lo[0], view.absent[0].lo[1], view.absent[0].lo[2]);
}

}  // namespace sidestream
