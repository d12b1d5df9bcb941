// Planning of the movement of blocks for one demand; every server computes the same plan and keeps its own part.
//
// 1. Selections become a halo width per variable and block (-1: not needed). Parts that depend on values use the
//    decisions made by ranges; blocks that finer ones cover completely are left out.
// 2. The partitioner assigns the needed blocks, or pieces of them, to servers (src/partition).
// 3. Its pieces are checked. A piece of a split block gets the unique negative id -1 - (id * servers + server).

#include "server/redistribution/block_assignment.hpp"

#include <algorithm>

#include "data/levels.hpp"
#include "data/owned_points.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

void add_request(std::vector<RangeRequest>& requests, const RangeRequest& request) {
  if (std::find(requests.begin(), requests.end(), request) == requests.end()) requests.push_back(request);
}

}  // namespace

bool Planner::is_ranged(const Selected& selected) const {
  return !rules_.move_all && selected.decomposition.is_published() && range_of(selected).variable >= 0;
}

std::vector<Selected> Planner::ranged_parts(const std::vector<Selected>& selection) const {
  std::vector<Selected> parts;
  for (const Selected& selected : selection) {
    if (is_ranged(selected)) parts.push_back(selected);
  }
  if (rules_.partitioner->restrict_to) {
    const Selected restriction = rules_.partitioner->restrict_to(rules_.settings, metadata_);
    if (range_of(restriction).variable >= 0) parts.push_back(restriction);
  }
  return parts;
}

std::vector<RangeRequest> Planner::ranges_for(const std::vector<Selected>& selection) const {
  std::vector<RangeRequest> requests;
  for (const Selected& part : ranged_parts(selection)) add_request(requests, range_of(part));
  return requests;
}

bool same_pieces(const Selected& a, const Selected& b) noexcept {
  return a.variable == b.variable && a.decomposition == b.decomposition && a.halo == b.halo && a.wrap == b.wrap;
}

std::shared_ptr<BlockAssignment> Planner::empty_assignment() const {
  auto assignment = std::make_shared<BlockAssignment>();
  assignment->halo.resize(metadata_.variables.size());
  assignment->wrap.resize(metadata_.variables.size(), 0);
  assignment->ghosts.resize(metadata_.variables.size());
  assignment->completed.resize(metadata_.variables.size(), false);
  return assignment;
}

void Planner::note_demand(const BlockTable& table, const Selected& selected, const std::vector<bool>& needed,
                          const Allowed& allowed, BlockAssignment& assignment) const {
  if (!selected.decomposition.is_published()) {
    const auto same = [&](const Selected& known) { return same_pieces(known, selected); };
    const bool known = std::any_of(assignment.decomposed.begin(), assignment.decomposed.end(), same);
    if (!known) assignment.decomposed.push_back(selected);
    return;
  }
  const auto v = static_cast<std::size_t>(selected.variable);
  auto& widths = assignment.halo[v];
  widths.resize(table.blocks().size(), -1);
  const Variable& variable = metadata_.variables[v];
  if (selected.completed && lacks_nodes(metadata_.mesh_of(variable), variable)) assignment.completed[v] = true;
  if (selected.wrap) assignment.wrap[v] = std::max(assignment.wrap[v], selected.halo);
  std::vector<bool>& ghosts = assignment.ghosts[v];
  if (selected.ghosts) ghosts.resize(table.blocks().size(), false);
  for (std::size_t b = 0; b < needed.size(); ++b) {
    if (!needed[b] || (table.blocks()[b].mesh == allowed.mesh && !allowed.blocks[b])) continue;
    widths[b] = std::max(widths[b], selected.halo);
    if (selected.ghosts) ghosts[b] = true;
  }
}

std::shared_ptr<const BlockAssignment> Planner::keep(const BlockTable& table, const std::vector<Selected>& selection,
                                                     int server) const {
  auto assignment = empty_assignment();
  const Needs needs(metadata_, table.blocks(), {});
  for (const Selected& selected : selection) {
    const bool by_ranges = selected.part.kind == Part::Kind::values || selected.part.kind == Part::Kind::predicate;
    note_demand(table, selected, needs.of(by_ranges ? Selected(selected.variable) : selected), {}, *assignment);
  }
  for (std::size_t b = 0; b < table.blocks().size(); ++b) {
    if (table.server(static_cast<std::int64_t>(b)) != server) continue;
    const Block& block = table.blocks()[b];
    assignment->pieces.push_back({static_cast<std::int64_t>(b), block.cells, false, block.id});
    for (auto& widths : assignment->halo) {
      if (!widths.empty()) widths[b] = std::max(widths[b], 0);
    }
  }
  std::sort(assignment->pieces.begin(), assignment->pieces.end(),
            [](const auto& a, const auto& b) { return std::pair(a.id, a.block) < std::pair(b.id, b.block); });
  return assignment;
}

std::shared_ptr<const BlockAssignment> Planner::plan(const BlockTable& table, const std::vector<Selected>& selection,
                                                     const Decisions& decided, const std::vector<bool>& covered,
                                                     const BlockCosts& costs, int servers, int server) const {
  auto assignment = empty_assignment();
  const Needs needs(metadata_, table.blocks(), {});
  Allowed allowed;
  if (rules_.partitioner->restrict_to) {
    const Selected restriction = rules_.partitioner->restrict_to(rules_.settings, metadata_);
    const bool ranged = range_of(restriction).variable >= 0;
    allowed = {metadata_.variables.at(static_cast<std::size_t>(restriction.variable)).mesh,
               ranged ? decided.back() : needs.of(restriction)};
  }
  std::size_t next = 0;
  for (const Selected& selected : selection) {
    const bool ranged = is_ranged(selected);
    std::vector<bool> needed =
        ranged ? decided.at(next++) : needs.of(rules_.move_all ? Selected(selected.variable) : selected);
    if (!rules_.move_all && !selected.covered) leave_out_covered(selected, covered, needed);
    note_demand(table, selected, needed, allowed, *assignment);
  }
  std::vector<PlannedBlock> planned;
  std::vector<std::int64_t> positions;
  for (std::size_t b = 0; b < table.blocks().size(); ++b) {
    PlannedBlock one;
    bool needed = false;
    for (const Variable& variable : metadata_.variables) {
      const auto& widths = assignment->halo[static_cast<std::size_t>(variable.id)];
      if (widths.empty() || widths[b] < 0) continue;
      needed = true;
      one.bytes += bytes_of(variable, table.blocks()[b]);
    }
    if (!needed) continue;
    one.block = table.blocks()[b];
    const auto cost = costs.find({one.block.mesh, one.block.id});
    if (cost != costs.end()) one.cost = cost->second;
    one.near = table.server(static_cast<std::int64_t>(b));
    planned.push_back(one);
    positions.push_back(static_cast<std::int64_t>(b));
  }
  const Plan plan = rules_.partitioner->plan({metadata_, planned, servers, server}, rules_.settings);
  for (const PlanPiece& piece : plan.pieces) {
    check_piece(piece, planned, servers, rules_.partitioner->name);
    const Block& block = planned[static_cast<std::size_t>(piece.block)].block;
    if (piece.server != server || is_nothing(piece, planned)) continue;
    const bool whole = piece.cells == block.cells;
    if (!whole && (block.id < 0 || block.id > (INT64_MAX - servers) / servers - 1)) {
      fail(
          Code::analysis,
          "block {} cannot be split, which the partitioner '{}' wants: pieces get numbers of their own, for which ids of "
          "blocks must lie from 0 to {}",
          block.id, rules_.partitioner->name, INT64_MAX / servers - 2);
    }
    assignment->pieces.push_back({positions[static_cast<std::size_t>(piece.block)], piece.cells, piece.copy != 0,
                                  whole ? block.id : -1 - (block.id * servers + server)});
  }
  std::sort(assignment->pieces.begin(), assignment->pieces.end(),
            [](const auto& a, const auto& b) { return std::pair(a.id, a.block) < std::pair(b.id, b.block); });
  const auto twice = std::adjacent_find(assignment->pieces.begin(), assignment->pieces.end(),
                                        [](const auto& a, const auto& b) { return a.block == b.block; });
  if (twice != assignment->pieces.end()) {
    fail_doubled(rules_.partitioner->name, server, table.blocks()[static_cast<std::size_t>(twice->block)].id);
  }
  return assignment;
}

void check_partitioner(const AssignmentRules& rules, const Metadata& metadata, int servers) {
  static_cast<void>(rules.partitioner->plan({metadata, {}, servers}, rules.settings));
  if (rules.partitioner->restrict_to) static_cast<void>(rules.partitioner->restrict_to(rules.settings, metadata));
}

std::vector<Box> owned_by_piece(const Variable& variable, const Block& block, const Box& piece,
                                const std::vector<Box>& owned_by_block) {
  if (piece == block.cells) return owned_by_block;
  Box points = variable.points(piece);
  for (int a = 0; a < 3; ++a) {
    if (piece.hi[a] < block.cells.hi[a]) points.hi[a] = piece.hi[a];
  }
  std::vector<Box> owned;
  for (const Box& box : owned_by_block) {
    const Box mine = intersection(box, points);
    if (!mine.empty()) owned.push_back(mine);
  }
  return owned;
}

void check_piece(const PlanPiece& piece, std::span<const PlannedBlock> blocks, int servers, const std::string& name) {
  const bool known = piece.block >= 0 && piece.block < static_cast<std::int64_t>(blocks.size()) && piece.server >= 0 &&
                     piece.server < servers;
  const Block* block = known ? &blocks[static_cast<std::size_t>(piece.block)].block : nullptr;
  if (block && (block->is_list() ? block->cells == piece.cells : block->cells.contains(piece.cells))) return;
  if (block && block->is_list()) {
    fail(Code::analysis,
         "the partitioner '{}' split block {}, which is a list; lists go whole: correct the partitioner", name,
         block->id);
  }
  fail(
      Code::analysis,
      "the partitioner '{}' gave a part of block number {} of {} to server {} of {}, or cells outside the block; correct "
      "the partitioner",
      name, piece.block, blocks.size(), piece.server, servers);
}

bool is_nothing(const PlanPiece& piece, std::span<const PlannedBlock> blocks) {
  return piece.cells.empty() && !blocks[static_cast<std::size_t>(piece.block)].block.is_list();
}

void fail_doubled(const std::string& partitioner, int server, std::int64_t block) {
  fail(Code::analysis, "the partitioner '{}' gave server {} two pieces of block {}; give a server one piece of a block",
       partitioner, server, block);
}

}  // namespace sidestream
