// Regions whose ranges are measured. On patches: the cells of each own block that no finer block covers, and for each
// other block that touches some of these, on any level, the touching cells. On trees: the leaves, by the flags stored
// with the values.
#include "server/redistribution/range_regions.hpp"

namespace sidestream {

const CountedParts& RangeRegions::parts_of(const Mesh& mesh, std::size_t set, const BlockTable& table, bool in_cells) {
  const auto [at, is_new] = known_.try_emplace({mesh.id, set, in_cells});
  if (!is_new) return at->second;
  std::vector<std::int64_t> mine;
  for (std::size_t b = 0; b < table.blocks().size(); ++b) {
    const auto position = static_cast<std::int64_t>(b);
    if (table.server(position) == server_) mine.push_back(position);
  }
  return at->second = counted_parts(mesh, table.blocks(), table.index(), mine, in_cells);
}

void RangeRegions::add_leaves(const Mesh& mesh, const RangeRequest& request, const BlockTable& table,
                              std::vector<RangeRegion>& regions) const {
  for (std::size_t b = 0; b < table.blocks().size(); ++b) {
    const Block& block = table.blocks()[b];
    if (block.mesh != mesh.id || block.empty() || table.server(static_cast<std::int64_t>(b)) != server_) continue;
    regions.push_back({block.id, block.id, RangeRegion::Kind::leaves, block.client, request.variable, request.component,
                       mesh.array(Role::refined), mesh.array(Role::owned), block.cells});
  }
}

std::vector<RangeRegion> RangeRegions::of(std::span<const Request> requests, const TableOf& table_of) {
  std::vector<RangeRegion> regions;
  for (const auto& [request, rims] : requests) {
    const Variable& variable = metadata_.variables.at(static_cast<std::size_t>(request.variable));
    const Mesh& mesh = metadata_.mesh_of(variable);
    if (!meets_other_levels(mesh)) continue;
    const auto [set, of_set] = table_of(variable.id);
    const BlockTable& table = *of_set;
    if (mesh.kind() == MeshKind::octree) {
      add_leaves(mesh, request, table, regions);
      continue;
    }
    const CountedParts& parts = parts_of(mesh, set, table, variable.centering == Centering::cell);
    const auto add = [&](const CountedPart& part, RangeRegion::Kind kind) {
      const Block& block = table.blocks()[static_cast<std::size_t>(part.position)];
      const Block& beside = table.blocks()[static_cast<std::size_t>(part.beside)];
      RangeRegion region{block.id, beside.id, kind, block.client, variable.id, request.component, -1, -1, {}};
      if (part.cells.empty()) regions.push_back(region);  // all cells are covered
      for (const Box& cells : part.cells) {
        region.points = variable.points(cells);
        regions.push_back(region);
      }
    };
    for (const CountedPart& part : parts.own) add(part, RangeRegion::Kind::cells);
    for (std::size_t n = 0; rims && n < parts.rims.size(); ++n) add(parts.rims[n], RangeRegion::Kind::rim);
  }
  return regions;
}

std::vector<CountedRange> counted_ranges(std::span<const RangeRegion> regions, std::span<const Range> ranges) {
  std::vector<CountedRange> counted;
  for (std::size_t n = 0; n < regions.size(); ++n) {
    const RangeRegion& region = regions[n];
    const CountedRange* last = counted.empty() ? nullptr : &counted.back();
    const bool same = last && last->block == region.block && last->beside == region.beside &&
                      last->variable == region.variable && last->component == region.component;
    if (!same) counted.push_back({region.block, region.beside, region.variable, region.component, {}});
    counted.back().range.add(ranges[n]);
  }
  return counted;
}

}  // namespace sidestream
