#include "transport/staging/step_ranges.hpp"

#include <algorithm>
#include <set>

#include "transport/staging/step_handover.hpp"

namespace sidestream::staging {

/// Keeps what is known if blocks are the same as before.
void StepRanges::note(const std::vector<Held>& held, std::span<const Block> blocks) {
  std::set<std::pair<std::int32_t, std::int64_t>> mine;
  for (const Held& one : held) mine.emplace(one.view.block.mesh, one.view.block.id);
  std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> own;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::pair name(blocks[b].mesh, blocks[b].id);
    if (mine.contains(name)) own.emplace(name, static_cast<std::int64_t>(b));
  }
  const bool same = own == own_ && std::equal(blocks.begin(), blocks.end(), blocks_.begin(), blocks_.end());
  if (same) return;
  parts_.clear();
  blocks_.assign(blocks.begin(), blocks.end());
  index_ = BlockIndex(blocks_);
  own_ = std::move(own);
}

const CountedParts& StepRanges::parts_of(const Mesh& mesh, bool in_cells) {
  const auto [at, is_new] = parts_.try_emplace({mesh.id, in_cells});
  if (!is_new) return at->second;
  std::vector<std::int64_t> positions;
  for (const auto& [name, position] : own_) positions.push_back(position);
  std::sort(positions.begin(), positions.end());
  return at->second = counted_parts(mesh, blocks_, index_, positions, in_cells);
}

void StepRanges::measure_parts(const Held& one, std::int32_t component, StepIndex& step) {
  const Variable& variable = metadata_.variables[static_cast<std::size_t>(one.variable)];
  const CountedParts& parts = parts_of(metadata_.mesh_of(variable), variable.centering == Centering::cell);
  const auto own = own_.find({variable.mesh, one.view.block.id});
  if (own == own_.end()) return;
  for (const std::vector<CountedPart>* const some : {&parts.own, &parts.rims}) {
    auto part = std::lower_bound(some->begin(), some->end(), own->second,
                                 [](const CountedPart& a, std::int64_t position) { return a.position < position; });
    for (; part != some->end() && part->position == own->second; ++part) {
      const std::int64_t beside = blocks_[static_cast<std::size_t>(part->beside)].id;
      CountedRange& counted =
          step.counted.emplace_back(CountedRange{one.view.block.id, beside, one.variable, component, {}});
      for (const Box& cells : part->cells) {
        BlockRange measured;
        measure_range(one.view.array, intersection(variable.points(cells), one.view.points), component, measured);
        counted.range.add(measured.all);
      }
    }
  }
}

void StepRanges::measure(const std::vector<Held>& held, std::span<const Block> blocks, StepIndex& step) {
  note(held, blocks);
  for (const Held& one : held) {
    const Mesh& mesh = metadata_.mesh_of(metadata_.variables[static_cast<std::size_t>(one.variable)]);
    for (std::int32_t component = 0; component < one.view.array.components; ++component) {
      BlockRange& range = step.ranges.emplace_back();
      range.block = one.view.block.id;
      range.variable = one.variable;
      range.component = component;
      measure_range(one.view.array, one.view.points, component, range);
      const bool tree = mesh.kind() == MeshKind::octree && one.view.ghosts.data != nullptr;
      if (tree) {
        const std::span flags(one.view.ghosts.at<std::uint8_t>(one.view.ghosts.box.lo[0], 0, 0),
                              static_cast<std::size_t>(one.view.ghosts.box.extent(0)));
        step.counted.push_back(
            {range.block, range.block, one.variable, component, measure_counted(one.view.array, component, flags)});
      } else if (!mesh.is_list() && !mesh.refinement.empty()) {
        measure_parts(one, component, step);
      }
    }
  }
}

}  // namespace sidestream::staging
