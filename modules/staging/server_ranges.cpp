// Ranges of the blocks of a step: as measured by writers, or else computed here.
#include <map>
#include <set>
#include <tuple>

#include "staging/server.hpp"

namespace sidestream::staging {

/// The range that the writers sent; if they did not, it is computed here.
BlockRange Server::range_of(const Arrival& arrival, std::int32_t component, const BlockRange* known) {
  BlockRange range = known ? *known : BlockRange{};
  range.block = arrival.record.block.id;
  range.variable = arrival.record.variable;
  if (known) return range;
  std::byte* to = memory(arrival.record.bytes);
  const Piece piece{records_.at({range.variable, range.block}), arrival.record.box, to};
  read({&piece, 1});
  measure_range(arrival.record.view(to), arrival.record.points(), component, range);
  return range;
}

/// Variables on levels that arrived on all blocks of their meshes. A missing block covers nothing, but writers assume
/// that it does when they measure cells that count.
std::set<std::int32_t> Server::complete_variables() const {
  std::map<std::int32_t, std::size_t> blocks, records;
  for (const Block& block : step_.blocks) blocks[block.mesh] += block.empty() ? 0 : 1;
  for (const StepRecord& record : step_.records) {
    records[record.variable] += step_.blocks[static_cast<std::size_t>(record.block)].empty() ? 0 : 1;
  }
  std::set<std::int32_t> complete;
  for (const auto& [id, count] : records) {
    const std::int32_t mesh = there_.variables[static_cast<std::size_t>(id)].mesh;
    if (count == blocks[mesh]) complete.insert(id);
  }
  return complete;
}

MeasuredRanges Server::ranges(std::int64_t index, std::span<const RangeRequest> requests,
                              std::span<const RangeRegion> regions) {
  MeasuredRanges result;
  result.regions.resize(regions.size());
  if (index != current_) return result;
  using Name = std::tuple<std::int32_t, std::int32_t, std::int64_t>;  // variable here, component, block
  std::map<Name, const BlockRange*> known;
  for (const BlockRange& range : step_.ranges) {
    known[{variables_[static_cast<std::size_t>(range.variable)], range.component, range.block}] = &range;
  }
  std::map<Name, Range> whole;
  for (const Arrival& arrival : inbox_.blocks) {
    const std::int32_t variable = arrival.record.variable;
    for (const RangeRequest& request : requests) {
      if (request.variable != variable) continue;
      const Name name(variable, request.component, arrival.record.block.id);
      const auto found = known.find(name);
      const BlockRange range = range_of(arrival, request.component, found == known.end() ? nullptr : found->second);
      result.blocks.push_back(range);
      whole[name] = range.all;
    }
  }
  if (regions.empty()) return result;
  const std::set<std::int32_t> complete = complete_variables();
  std::map<std::tuple<Name, std::int64_t>, Range> counted;
  for (const CountedRange& range : step_.counted) {
    if (!complete.contains(range.variable)) continue;
    const Name name(variables_[static_cast<std::size_t>(range.variable)], range.component, range.block);
    counted[{name, range.beside}] = range.range;
  }
  for (std::size_t n = 0; n < regions.size(); ++n) {
    const Name name(regions[n].variable, regions[n].component, regions[n].block);
    const auto part = counted.find({name, regions[n].beside});
    const auto all = whole.find(name);
    if (part != counted.end()) {
      result.regions[n] = part->second;
    } else if (all != whole.end()) {
      result.regions[n] = all->second;
    }
  }
  return result;
}

}  // namespace sidestream::staging
