#include "transport/staging/step_builder.hpp"

#include <map>

#include "transport/staging/step_handover.hpp"

namespace sidestream::staging {

namespace {

/// A list of blocks without repetition, and the place of each.
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
  // Blocks that were not delivered are listed too: they may own points that they share with others.
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

}  // namespace sidestream::staging
