#include "staging/step_builder.hpp"

#include <algorithm>
#include <set>

#include "staging/step_handover.hpp"

namespace sidestream::staging {

namespace {

/// A list of distinct blocks, and the index of each.
class Blocks {
 public:
  explicit Blocks(std::vector<Block>& list) : list_(list) {}
  std::int64_t place_of(const Block& block) {
    const auto [found, is_new] = places_.try_emplace({block.mesh, block.id}, list_.size());
    if (is_new) list_.push_back(block);
    return static_cast<std::int64_t>(found->second);
  }

 private:
  std::vector<Block>& list_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::size_t> places_;
};

}  // namespace

StepBuilder::StepBuilder(const Metadata& metadata, const std::vector<Held>& held, const StreamContext& context,
                         const StepIndex& head, int rank)
    : held_(&held), step_(head) {
  if (context.signalled) step_.events = context.signalled(head.iteration.index);
  step_.raised = context.raised;
  Blocks blocks(step_.blocks);
  // Undelivered blocks are listed too: they may own points that they share with others.
  if (context.blocks) {
    for (const Block& block : context.blocks(head.iteration.index)) static_cast<void>(blocks.place_of(block));
  }
  for (const Held& one : held) {
    const Variable& variable = metadata.variables[static_cast<std::size_t>(one.variable)];
    StepRecord& record = step_.records.emplace_back();
    record.block = blocks.place_of(one.view.block);
    record.variable = one.variable;
    record.components = variable.components;
    record.type = variable.type;
    record.writer = rank;
    record.points = one.box;
    record.bytes = packed_bytes(record.points, record.components, record.type);
    record.number = static_cast<std::int32_t>(step_.records.size()) - 1;
  }
  for (std::size_t n = 0; n < held.size(); ++n) outgoing_.push_back({&step_.records[n], held[n].view.array});
}

void StepBuilder::measure(StepRanges& ranges, std::span<const Block> blocks) { ranges.measure(*held_, blocks, step_); }

StepIndex merge_steps(const StepIndex& head, const std::vector<Bytes>& parts) {
  StepIndex whole = head;
  Blocks blocks(whole.blocks);
  for (const Bytes& part : parts) {
    const StepIndex step = decode_step(part, "a message of a writer");
    whole.events |= step.events;
    std::vector<std::int64_t> places;
    for (const Block& block : step.blocks) places.push_back(blocks.place_of(block));
    for (StepRecord record : step.records) {
      record.block = places[static_cast<std::size_t>(record.block)];
      whole.records.push_back(record);
    }
    whole.ranges.insert(whole.ranges.end(), step.ranges.begin(), step.ranges.end());
    whole.counted.insert(whole.counted.end(), step.counted.begin(), step.counted.end());
    for (const Event& event : step.raised) {  // each part has the events that all servers see
      if (event.scope != EventScope::all || &part == &parts.front()) whole.raised.push_back(event);
    }
  }
  return whole;
}

/// Keeps the known sets of cells if blocks are the same as before.
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
