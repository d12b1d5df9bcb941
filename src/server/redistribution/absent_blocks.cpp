// Missing blocks: declared by a client, but without values of a variable in this iteration.
//
// Each server compares its clients' declarations with their publications. If all blocks of a variable are missing, one
// entry stands for all of them. Servers exchange their lists only after changes. Variables that are missing on the same
// blocks share a set: a copy of the block table without these blocks, which then own and cover nothing.
#include "server/redistribution/absent_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/derivation.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

bool has_points(const Variable& variable, const Block& block) {
  return block.mesh == variable.mesh && !variable.points(block).empty();
}

/// Calls f(arrival) for every array that exists in the iteration, except those of empty blocks.
template <class F>
void for_each_arrival(const ServerState& state, F&& f) {
  const std::vector<Arrival>* const lists[] = {&state.inbox.blocks, &state.tables.persistent};
  for (const std::vector<Arrival>* all : lists) {
    for (const Arrival& arrival : *all) {
      if (!arrival.record.points().empty()) f(arrival);
    }
  }
}

/// Adds the missing blocks of a variable that did not arrive for all blocks.
void add_absent(const ServerState& state, const Variable& variable, std::int64_t declared,
                std::vector<AbsentBlock>& absent) {
  std::set<std::int64_t> there;
  for_each_arrival(state, [&](const Arrival& arrival) {
    if (arrival.record.variable == variable.id) there.insert(arrival.record.block.id);
  });
  if (there.empty()) {
    absent.push_back({variable.id, static_cast<std::int32_t>(declared), 0});
    return;
  }
  for (const Block& block : state.tables.blocks) {
    if (has_points(variable, block) && !there.contains(block.id)) absent.push_back({variable.id, 0, block.id});
  }
}

}  // namespace

std::vector<AbsentBlock> find_absent(const ServerState& state, const Metadata& metadata) {
  std::vector<std::int64_t> declared(metadata.variables.size(), 0), arrived(metadata.variables.size(), 0);
  std::vector<std::int64_t> boxes(metadata.meshes.size(), 0);
  for (const Block& block : state.tables.blocks) {
    if (!block.is_list()) {
      boxes[static_cast<std::size_t>(block.mesh)] += !block.empty();
      continue;
    }
    for (const Variable& variable : metadata.variables) {  // a list may have points and no cells
      declared[static_cast<std::size_t>(variable.id)] += has_points(variable, block);
    }
  }
  for (const Variable& variable : metadata.variables) {
    std::int64_t& count = declared[static_cast<std::size_t>(variable.id)];
    count = variable.derived() ? 0 : count + boxes[static_cast<std::size_t>(variable.mesh)];
  }
  for_each_arrival(state,
                   [&](const Arrival& arrival) { ++arrived[static_cast<std::size_t>(arrival.record.variable)]; });
  std::vector<AbsentBlock> absent;
  for (const Variable& variable : metadata.variables) {
    const auto v = static_cast<std::size_t>(variable.id);
    if (declared[v] > arrived[v]) add_absent(state, variable, declared[v], absent);
  }
  return absent;
}

void AbsentBlocks::gather(const std::vector<AbsentBlock>& mine, Communicator& servers) {
  std::vector<Found> found;
  const std::vector<Bytes> all = servers.all_gather(std::as_bytes(std::span(mine)));
  for (std::size_t server = 0; server < all.size(); ++server) {
    for (const AbsentBlock& what : records_of<AbsentBlock>(all[server])) {
      found.push_back({what, static_cast<std::int32_t>(server)});
    }
  }
  found_ = std::move(found);
}

/// True if `variable` counts as missing where `other` is missing: a derived variable needs all its inputs on the same
/// mesh.
bool AbsentBlocks::needs(const Variable& variable, std::int32_t other) const {
  if (!variable.derived()) return variable.id == other;
  const std::vector<std::int32_t> inputs = variable.derivation->inputs();
  return metadata_.variables[static_cast<std::size_t>(other)].mesh == variable.mesh &&
         std::find(inputs.begin(), inputs.end(), other) != inputs.end();
}

std::vector<std::int64_t> AbsentBlocks::positions_of(const Variable& variable, const BlockTable& table) const {
  std::set<std::int64_t> ids;
  std::set<std::int32_t> servers;
  for (const Found& one : found_) {
    if (!needs(variable, one.what.variable)) continue;
    if (one.what.all != 0) {
      servers.insert(one.server);
    } else {
      ids.insert(one.what.block);
    }
  }
  std::vector<std::int64_t> positions;
  if (ids.empty() && servers.empty()) return positions;
  for (std::size_t b = 0; b < table.blocks().size(); ++b) {
    const Block& block = table.blocks()[b];
    if (!has_points(variable, block)) continue;
    const auto position = static_cast<std::int64_t>(b);
    if (ids.contains(block.id) || servers.contains(table.server(position))) positions.push_back(position);
  }
  return positions;
}

/// Returns the number of a set; variables that are missing on the same blocks share one.
std::size_t AbsentBlocks::set_for(std::int32_t mesh, std::vector<std::int64_t> positions, const BlockTable& table) {
  if (positions.empty()) return 0;
  for (std::size_t s = 0; s < tables_.size(); ++s) {
    if (tables_[s].mesh == mesh && tables_[s].positions == positions) return s + 1;
  }
  Set set;
  set.mesh = mesh;
  std::vector<PlacedBlock> rest;
  std::size_t next = 0;
  for (std::size_t b = 0; b < table.blocks().size(); ++b) {
    const auto position = static_cast<std::int64_t>(b);
    if (next < positions.size() && positions[next] == position) {
      set.ids.push_back(table.blocks()[b].id);
      ++next;
    } else {
      rest.push_back({table.blocks()[b], table.server(position)});
    }
  }
  set.rest = BlockTable(std::move(rest));
  static_cast<void>(set.rest.covered_in_part(metadata_));  // called here, where it may fail
  set.positions = std::move(positions);
  tables_.push_back(std::move(set));
  return tables_.size();
}

bool AbsentBlocks::settle(const BlockTable& table, const Has& has) {
  std::vector<Set> before = std::exchange(tables_, {});
  const std::vector<std::size_t> sets_before = std::exchange(sets_, {});
  if (!found_.empty()) {
    std::vector<std::size_t> sets(metadata_.variables.size(), 0);
    for (const Variable& variable : metadata_.variables) {
      if (!has(variable.id)) continue;
      sets[static_cast<std::size_t>(variable.id)] = set_for(variable.mesh, positions_of(variable, table), table);
    }
    if (!tables_.empty()) sets_ = std::move(sets);
  }
  const auto same = [](const Set& a, const Set& b) {
    return a.mesh == b.mesh && a.positions == b.positions && a.ids == b.ids;
  };
  return sets_ != sets_before || !std::equal(tables_.begin(), tables_.end(), before.begin(), before.end(), same);
}

std::set<std::pair<std::int32_t, std::int64_t>> AbsentBlocks::blocks() const {
  std::set<std::pair<std::int32_t, std::int64_t>> all;
  for (const Set& set : tables_) {
    for (const std::int64_t id : set.ids) all.emplace(set.mesh, id);
  }
  return all;
}

void AbsentBlocks::clear_covered(std::size_t set, std::vector<bool>& covered) const {
  const Set& absent = tables_[set - 1];
  const std::vector<bool>& still = absent.rest.wholly_covered(metadata_);  // the same blocks in the same order
  auto next = absent.positions.begin();
  std::size_t r = 0;
  for (std::size_t b = 0; b < covered.size(); ++b) {
    if (next != absent.positions.end() && *next == static_cast<std::int64_t>(b)) {
      ++next;
      continue;
    }
    covered[b] = covered[b] && r < still.size() && still[r];
    ++r;
  }
}

std::string AbsentBlocks::text() const {
  constexpr std::size_t most = 5;  // most ids that are listed
  std::string all;
  for (std::size_t s = 0; s < tables_.size(); ++s) {
    std::string names, ids;
    std::size_t count = 0;
    for (const Variable& variable : metadata_.variables) {
      if (variable.derived() || set_of(variable.id) != s + 1) continue;
      names += (names.empty() ? "'" : ", '") + variable.name + "'";
      ++count;
    }
    if (count == 0) continue;
    std::vector<std::int64_t> sorted = tables_[s].ids;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t n = 0; n < std::min(most, sorted.size()); ++n) {
      ids += (n == 0 ? "" : ", ") + std::to_string(sorted[n]);
    }
    if (sorted.size() > most) ids += fmt::format(" and {} more", sorted.size() - most);
    all += fmt::format("{}{} {} missing on block{} {} of the mesh '{}'", all.empty() ? "" : "; ", names,
                       count == 1 ? "is" : "are", sorted.size() == 1 ? "" : "s", ids,
                       metadata_.meshes[static_cast<std::size_t>(tables_[s].mesh)].name);
  }
  return all;
}

namespace {

/// Finds another block, on the level of `block` or a coarser one, that overlaps it; null if there is none.
const Block* find_overlap(const Mesh& mesh, const Block& block, const BlockTable& table) {
  if (block.is_list() || block.cells.empty()) return nullptr;
  Box cells = block.cells;
  for (std::int32_t level = block.level; level >= 0; --level) {
    for (const std::int64_t position : table.near(mesh.id, level, cells)) {
      const Block& other = table.blocks()[static_cast<std::size_t>(position)];
      if (other.id != block.id && !intersection(other.cells, cells).empty()) return &other;
    }
    if (level == 0) break;
    const Index3& ratio = mesh.refinement[static_cast<std::size_t>(level) - 1];
    for (std::size_t a = 0; a < 3; ++a) {  // indices of blocks are not negative
      cells.lo[a] /= ratio[a];
      cells.hi[a] = (cells.hi[a] + ratio[a] - 1) / ratio[a];
    }
  }
  return nullptr;
}

}  // namespace

std::string AbsentBlocks::overlap(const BlockTable& table) const {
  for (const Set& set : tables_) {
    const Mesh& mesh = metadata_.meshes[static_cast<std::size_t>(set.mesh)];
    for (const std::int64_t position : set.positions) {
      const Block& block = table.blocks()[static_cast<std::size_t>(position)];
      const Block* const other = find_overlap(mesh, block, table);
      if (other == nullptr) continue;
      const char* const how = other->level == block.level ? "has cells in common with" : "lies over";
      return fmt::format("block {} of level {} {} block {} of level {}", block.id, block.level, how, other->id,
                         other->level);
    }
  }
  return {};
}

}  // namespace sidestream
