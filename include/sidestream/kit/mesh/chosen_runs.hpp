// Iteration over the chosen points that count.
#pragma once

#include <algorithm>
#include <vector>

#include "sidestream/kit/mesh/cell_choice.hpp"
#include "sidestream/kit/mesh/owned_leaves.hpp"
#include "sidestream/kit/mesh/runs.hpp"

namespace sidestream {

/// Calls `f(number, cell)` for the chosen leaves of a block's tree for which `enter(cell)` is true, as for all their
/// ancestors. Skips subtrees without such leaves. Includes leaves that the block does not own.
template <class Enter, class F>
void for_each_chosen_leaf(const TreeIndex& tree, const Mesh& mesh, const CellChoice& choice, Enter&& enter, F&& f) {
  const TreePlaces places(mesh);
  const auto ends = [&](const TreeCell& cell, int a) {
    const Index i = cell.index[static_cast<std::size_t>(a)];
    return std::array{places.node(a, cell.level, i), places.node(a, cell.level, i + 1)};
  };
  tree.walk(
      [&](const TreeCell& cell) {
        if (cell.level > choice.finest) return false;
        for (int a = 0; choice.boxed && a < mesh.dimensions; ++a) {
          const auto [low, high] = ends(cell, a);
          if (!choice.may_have(static_cast<std::size_t>(a), low, high)) return false;
        }
        return enter(cell);
      },
      [&](Index number, const TreeCell& cell) {
        if (!choice.has_level(cell.level)) return;
        for (int a = 0; choice.boxed && a < mesh.dimensions; ++a) {
          const auto [low, high] = ends(cell, a);
          if (!choice.has_place(static_cast<std::size_t>(a), 0.5 * (low + high))) return;
        }
        f(number, cell);
      });
}

/// A view of a variable that owns only the chosen points.
[[nodiscard]] inline BlockView chosen_view(const LocalInput& input, const Variable& variable, const BlockView& view,
                                           const CellChoice& choice) {
  BlockView chosen = view;
  if (choice.all()) return chosen;
  const Mesh& mesh = input.metadata.mesh_of(variable);
  if (mesh.kind() == MeshKind::octree) {
    chosen.owned.clear();
    const auto tree = OwnedLeaves::of(input, mesh, view.block);
    if (!tree || view.copy) return chosen;
    const auto any = [](const TreeCell&) { return true; };
    for_each_chosen_leaf(tree->index(), mesh, choice, any, [&](Index number, const TreeCell&) {
      if (!tree->owns(number)) return;
      if (!chosen.owned.empty() && chosen.owned.back().hi[0] == number) {
        ++chosen.owned.back().hi[0];
      } else {
        chosen.owned.push_back({{number, 0, 0}, {number + 1, 1, 1}});
      }
    });
    return chosen;
  }
  if (!choice.has_level(view.block.level)) chosen.owned.clear();
  if (choice.boxed) {
    const LevelAxes axes(mesh, view.block.level);
    for (Box& box : chosen.owned) box = chosen_in(choice, axes, variable.centering, box, mesh.dimensions);
  }
  return chosen;
}

/// Calls `f` for runs as for_each_owned_run (runs.hpp), restricted to the chosen points.
template <class F>
void for_each_chosen_run(const LocalInput& input, const Variable& variable, const BlockView& view, int c,
                         const CellChoice& choice, F&& f) {
  if (choice.all()) return for_each_owned_run(view, c, f);
  for_each_owned_run(chosen_view(input, variable, view, choice), c, f);
}

/// Calls `f(level, first, count, stride)` for such runs.
template <class F>
void for_each_chosen_run_of_levels(const LocalInput& input, const Variable& variable, const BlockView& view, int c,
                                   const CellChoice& choice, F&& f) {
  const auto of_level = [&f](std::int32_t level) {
    return [&f, level](const auto* values, Index n, Index stride) { f(level, values, n, stride); };
  };
  const Mesh& mesh = input.metadata.mesh_of(variable);
  if (mesh.kind() != MeshKind::octree)
    return for_each_chosen_run(input, variable, view, c, choice, of_level(view.block.level));
  const auto tree = OwnedLeaves::of(input, mesh, view.block);
  if (!tree) return;
  const std::vector<Box> counted = chosen_view(input, variable, view, choice).counted();
  const std::vector<Index>& starts = tree->index().level_starts();
  BlockView part = view;
  part.covered.clear();
  for (std::size_t level = 0; level + 1 < starts.size(); ++level) {
    part.owned.clear();
    for (Box box : counted) {
      box.lo[0] = std::max(box.lo[0], starts[level]);
      box.hi[0] = std::min(box.hi[0], starts[level + 1]);
      if (box.lo[0] < box.hi[0]) part.owned.push_back(box);
    }
    for_each_owned_run(part, c, of_level(static_cast<std::int32_t>(level)));
  }
}

}  // namespace sidestream
