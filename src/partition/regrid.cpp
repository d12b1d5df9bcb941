// Partitioner `regrid`: a new decomposition into slabs, pencils or bricks. Blocks are split by box.
//
// Both directions are arithmetic: the server of a cell, and the cells of a server. So computing a server's part visits
// each block once, whatever the number of servers. Splittings are found by searching all factorisations of the number
// of servers (see parts_of). Lists are never split.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "partition/kinds.hpp"
#include "partition/splitting.hpp"

namespace sidestream {

namespace {

constexpr const char* axis_names = "xyz";

/// Servers of lists, which stay whole: the server whose part of the lists' bounds contains their centre. Lists without
/// bounds are dealt out in turn.
class Lists {
 public:
  Lists(const PlanInput& input, Shape shape, int axis) {
    for (const PlannedBlock& planned : input.blocks) {
      const Block& block = planned.block;
      if (!block.is_list() || !block.bounds.known()) continue;
      Bounds& all = all_[block.mesh];
      for (std::size_t a = 0; a < 3; ++a) {
        all.low[a] = std::min(all.low[a], block.bounds.low[a]);
        all.high[a] = std::max(all.high[a], block.bounds.high[a]);
      }
    }
    const Box steps{{0, 0, 0}, {grid, grid, grid}};
    splitting_.emplace(steps, parts_of(shape, axis, input.servers, steps), Index3{1, 1, 1});
    servers_ = input.servers;
  }
  [[nodiscard]] std::int32_t server_of(const Block& block, std::size_t number) const {
    if (!block.bounds.known()) return static_cast<std::int32_t>(number % static_cast<std::size_t>(servers_));
    const Bounds& all = all_.at(block.mesh);
    Box place;
    for (std::size_t a = 0; a < 3; ++a) {
      const double width = all.high[a] - all.low[a];
      const double middle = 0.5 * block.bounds.low[a] + 0.5 * block.bounds.high[a];
      const double part = width > 0 && std::isfinite(width) ? (middle - all.low[a]) / width : 0;
      place.lo[a] = std::clamp<Index>(static_cast<Index>(part * static_cast<double>(grid)), 0, grid - 1);
      place.hi[a] = place.lo[a] + 1;
    }
    std::int32_t server = 0;
    splitting_->overlapping(place, [&](std::int64_t n, const Box&) { server = static_cast<std::int32_t>(n); });
    return server;
  }

 private:
  static constexpr Index grid = 1 << 20;
  std::map<std::int32_t, Bounds> all_;
  std::optional<Splitting> splitting_;
  int servers_ = 1;
};

/// Splittings of all meshes and levels, created on first use.
class Splittings {
 public:
  Splittings(const PlanInput& input, const Settings& settings) : input_(input), settings_(settings) {
    const std::string& shape = settings.text("shape");
    shape_ = shape == "slabs" ? Shape::slabs : shape == "pencils" ? Shape::pencils : Shape::bricks;
    if (shape_ == Shape::bricks && settings.given("axis")) {
      settings.fail("axis", "found 'axis' for bricks, expected it with slabs and pencils only; remove it");
    }
    axis_ = shape_ == Shape::slabs ? 2 : 0;
    if (settings.has("axis")) axis_ = settings.text("axis")[0] - axis_names[0];
  }

  const Lists& lists() {
    if (!lists_) lists_.emplace(input_, shape_, axis_);
    return *lists_;
  }

  const Splitting& of(const Block& block) {
    if (last_ && block.mesh == mesh_ && block.level == level_) return *last_;
    const auto key = std::pair(block.mesh, block.level);
    auto found = all_.find(key);
    if (found == all_.end()) found = all_.emplace(key, make(block)).first;
    last_ = &found->second;
    mesh_ = block.mesh;
    level_ = block.level;
    return *last_;
  }

 private:
  Splitting make(const Block& block) const {
    const Mesh& mesh = input_.metadata.meshes.at(static_cast<std::size_t>(block.mesh));
    if (block.level > static_cast<std::int32_t>(mesh.refinement.size())) {
      settings_.fail("shape", fmt::format("found block {} on level {} of the mesh '{}', which declares the refinement "
                                          "of {} levels, expected as many; add 'refinement' to the mesh",
                                          block.id, block.level, mesh.name, mesh.refinement.size()));
    }
    return {mesh.cells, parts_of(shape_, axis_, input_.servers, mesh.cells), mesh.ratio_to(block.level)};
  }

  const PlanInput& input_;
  const Settings& settings_;
  Shape shape_ = Shape::slabs;
  int axis_ = 0;
  std::map<std::pair<std::int32_t, std::int32_t>, Splitting> all_;
  std::optional<Lists> lists_;
  const Splitting* last_ = nullptr;
  std::int32_t mesh_ = 0, level_ = 0;
};

void add_part_of(const PlanInput& input, Splittings& splittings, Plan& plan) {
  const Splitting* splitting = nullptr;
  Box target;
  for (std::size_t b = 0; b < input.blocks.size(); ++b) {
    const Block& block = input.blocks[b].block;
    if (block.is_list()) {
      if (splittings.lists().server_of(block, b) == input.server) {
        plan.pieces.push_back(whole_block(input, static_cast<std::int64_t>(b), input.server));
      }
      continue;
    }
    if (const Splitting* here = &splittings.of(block); here != splitting) {
      splitting = here;
      target = here->box(input.server);
    }
    const Box cells = intersection(block.cells, target);
    if (!cells.empty()) plan.pieces.push_back({static_cast<std::int64_t>(b), input.server, 0, cells});
  }
}

Plan plan_regrid(const PlanInput& input, const Settings& settings) {
  Splittings splittings(input, settings);
  Plan plan;
  if (input.server >= 0) {
    add_part_of(input, splittings, plan);
    return plan;
  }
  plan.pieces.reserve(input.blocks.size());
  for (std::size_t b = 0; b < input.blocks.size(); ++b) {
    const Block& block = input.blocks[b].block;
    const Box& cells = block.cells;
    if (block.is_list()) {
      plan.pieces.push_back(whole_block(input, static_cast<std::int64_t>(b), splittings.lists().server_of(block, b)));
      continue;
    }
    splittings.of(input.blocks[b].block).overlapping(cells, [&](std::int64_t server, const Box& box) {
      plan.pieces.push_back(
          {static_cast<std::int64_t>(b), static_cast<std::int32_t>(server), 0, intersection(cells, box)});
    });
  }
  return plan;
}

}  // namespace

PartitionerKind regrid_partitioner() {
  PartitionerKind kind;
  kind.name = "regrid";
  kind.text =
      "Cuts each mesh into one box for each server and splits the blocks by these boxes, for analyses that need "
      "another decomposition than that of the simulation, such as Fourier transforms. Each server computes only its "
      "own part. Blocks on finer levels are cut where the coarsest level is. Lists stay whole and go to the server "
      "whose part of their bounds contains their centre.";
  kind.options = {{.name = "shape",
                   .type = OptionType::choice,
                   .default_value = "slabs",
                   .text = "`slabs`: one axis is cut. `pencils`: two axes are cut. `bricks`: all three.",
                   .choices = {"slabs", "pencils", "bricks"}},
                  {.name = "axis",
                   .type = OptionType::choice,
                   .text = "For slabs: the axis that is cut, z if not given. For pencils: the axis that they run "
                           "along, x if not given.",
                   .choices = {"x", "y", "z"}}};
  kind.plan = plan_regrid;
  return kind;
}

}  // namespace sidestream
