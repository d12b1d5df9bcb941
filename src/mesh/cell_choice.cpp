#include "sidestream/kit/mesh/cell_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sidestream {
namespace {

void read_levels(const Settings& settings, const Mesh& mesh, CellChoice& choice) {
  const auto levels = settings.integers<std::int32_t>("levels");
  if (levels.empty()) return;
  const bool tree = mesh.kind() == MeshKind::octree;
  if (!tree && mesh.refinement.empty()) {
    settings.fail("levels",
                  fmt::format("mesh '{}' has no refinement levels to choose from; leave this out", mesh.name));
  }
  choice.coarsest = levels.front();
  choice.finest = levels.back();
  const auto last = static_cast<std::int32_t>(mesh.refinement.size());
  if (choice.coarsest > choice.finest || (!tree && choice.coarsest > last)) {
    settings.fail("levels", fmt::format("found the levels {} to {}, expected the coarser one first{}", choice.coarsest,
                                        choice.finest, tree ? "" : fmt::format(", and none beyond {}", last)));
  }
}

void read_box(const Settings& settings, const Mesh& mesh, CellChoice& choice) {
  const std::vector<double> ends = settings.reals("box");
  if (ends.empty()) return;
  const bool known = mesh.axes() != nullptr && (mesh.kind() == MeshKind::uniform || mesh.refinement.empty());
  if (!known && mesh.kind() != MeshKind::octree) {
    settings.fail("box", fmt::format("mesh '{}' is {}{}; what is in a box is known of octrees, and of uniform and "
                                     "rectilinear meshes",
                                     mesh.name, mesh.geometry ? mesh.geometry->kind() : "none",
                                     mesh.refinement.empty() ? "" : " with refinement levels"));
  }
  const auto axes = static_cast<std::size_t>(mesh.dimensions);
  if (ends.size() != 2 * axes) {
    settings.fail("box", fmt::format("found {} numbers, expected {}: the lower corner, then the upper one, with a "
                                     "number for each dimension of mesh '{}'",
                                     ends.size(), 2 * axes, mesh.name));
  }
  choice.boxed = true;
  for (std::size_t a = 0; a < axes; ++a) {
    choice.box[a] = {ends[a], ends[axes + a]};
    if (ends[a] < ends[axes + a]) continue;
    settings.fail("box", fmt::format("the box reaches from {} to {} along {}; write the lower corner first", ends[a],
                                     ends[axes + a], "xyz"[a]));
  }
  for (std::size_t a = axes; a < 3; ++a) choice.box[a] = {-Bounds::infinity, Bounds::infinity};
}

}  // namespace

bool CellChoice::may_have(std::size_t axis, double one_end, double other_end) const noexcept {
  const auto [low, high] = std::minmax(one_end, other_end);
  return !boxed || (low < box[axis][1] && high >= box[axis][0]);
}

std::vector<Option> choice_options() {
  return {
      {.name = "levels",
       .type = OptionType::integer,
       .list = true,
       .text = "For octrees and refinement levels: takes only cells that count on this level, or on the levels from "
               "the first to the second of two. Finer ones are not replaced by coarser ones.",
       .minimum = 0,
       .least_entries = 1,
       .most_entries = 2},
      {.name = "box",
       .type = OptionType::real,
       .list = true,
       .text = "For octrees, uniform and rectilinear meshes: takes only cells or points whose middle lies in this box, "
               "given as the lower corner and then the upper one in one list. The upper end is outside.",
       .least_entries = 2,
       .most_entries = 6}};
}

CellChoice read_choice_of_levels(const Settings& settings, const Mesh& mesh) {
  CellChoice choice;
  read_levels(settings, mesh, choice);
  return choice;
}

CellChoice read_choice(const Settings& settings, const Mesh& mesh) {
  CellChoice choice = read_choice_of_levels(settings, mesh);
  read_box(settings, mesh, choice);
  return choice;
}

Part part_of(const CellChoice& choice) {
  if (choice.all()) return AllBlocks{};
  BlockPredicate predicate;
  predicate.needed = [choice](const BlockSummary& summary) { return may_have_some(choice, summary); };
  return predicate;
}

bool may_have_some(const CellChoice& choice, const BlockSummary& block) noexcept {
  // A block of a tree has all its levels.
  if (!block.block.is_list() && !choice.has_level(block.block.level)) return false;
  bool meets = true;
  for (std::size_t a = 0; a < 3; ++a) meets = meets && choice.may_have(a, block.low[a], block.high[a]);
  return meets;
}

Box chosen_in(const CellChoice& choice, const LevelAxes& axes, Centering centering, const Box& box, int dimensions) {
  Box chosen = box;
  for (std::size_t a = 0; choice.boxed && a < static_cast<std::size_t>(dimensions); ++a) {
    const auto in = [&](Index i) { return choice.has_place(a, axes.position(centering, static_cast<int>(a), i)); };
    // Positions are monotonic, so the chosen cells are contiguous.
    while (chosen.lo[a] < chosen.hi[a] && !in(chosen.lo[a])) ++chosen.lo[a];
    while (chosen.lo[a] < chosen.hi[a] && !in(chosen.hi[a] - 1)) --chosen.hi[a];
  }
  return chosen;
}

std::vector<Box> cells_between_chosen(const CellChoice& choice, const Mesh& mesh, Centering centering,
                                      std::vector<Box> cells) {
  if (!choice.boxed) return cells;
  const LevelAxes axes(mesh, 0);
  std::vector<Box> chosen;
  for (const Box& box : cells) {
    Box points = box;
    for (int a = 0; a < mesh.dimensions; ++a) ++points.hi[static_cast<std::size_t>(a)];
    points = chosen_in(choice, axes, centering, points, mesh.dimensions);
    for (int a = 0; a < mesh.dimensions; ++a) --points.hi[static_cast<std::size_t>(a)];
    bool some = true;
    for (int a = 0; a < 3; ++a) some = some && points.extent(a) > 0;
    if (some) chosen.push_back(points);
  }
  return chosen;
}

}  // namespace sidestream
