#include "analyse/bracketing.hpp"

#include <algorithm>

#include "data/levels.hpp"
#include "server/redistribution/range_decisions.hpp"
#include "sidestream/data/catalogue.hpp"

namespace sidestream::analysing {

namespace {

/// Ranges of all blocks with cells on the variable's mesh; nothing if one is unknown. The range that a neighbour sees
/// is unknown, so it is that of the whole block.
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

}  // namespace

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

}  // namespace sidestream::analysing
