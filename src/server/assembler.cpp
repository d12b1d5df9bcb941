#include "server/assembler.hpp"

#include <algorithm>
#include <cstring>

#include "server/halo.hpp"

namespace sidestream {

void Assembler::gather_table(const ServerTransport& transport) {
  const std::vector<Block>& mine = transport.blocks();
  const std::vector<Bytes> all = servers_.all_gather(std::as_bytes(std::span(mine)));
  std::vector<PlacedBlock> placed;
  for (std::size_t server = 0; server < all.size(); ++server) {
    std::vector<Block> blocks(all[server].size() / sizeof(Block));
    if (!blocks.empty()) std::memcpy(blocks.data(), all[server].data(), all[server].size());
    for (const Block& block : blocks) placed.push_back({block, static_cast<std::int32_t>(server)});
  }
  table_ = BlockTable(std::move(placed));
  owned_.clear();
}

const std::vector<Box>& Assembler::owned(const Variable& variable, const Block& block) {
  const std::pair key(variable.mesh * 2 + static_cast<std::int32_t>(variable.centering), block.id);
  const auto found = owned_.find(key);
  if (found != owned_.end()) return found->second;
  return owned_.emplace(key, table_.owned(variable, block)).first->second;
}

namespace {

BlockView make_view(const Variable& variable, const Arrival& arrival) {
  const BlockRecord& record = arrival.record;
  BlockView view;
  view.block = record.block;
  view.points = variable.points(record.block.cells);
  view.array.data = arrival.data;
  view.array.type = record.type;
  view.array.box = record.box;
  view.array.components = record.components;
  view.array.strides = packed_strides(record.box, record.components, record.order);
  return view;
}

}  // namespace

Assembled Assembler::assemble(ServerTransport& transport, std::int64_t index, const std::vector<Selected>& selection,
                              bool changed) {
  if (changed) gather_table(transport);
  Assembled result;
  result.blocks.resize(metadata_.variables.size());
  std::vector<bool> wanted(metadata_.variables.size(), false);
  for (const Selected& s : selection) wanted[s.variable] = true;
  const auto add = [&](const Arrival& arrival) {
    const std::int32_t id = arrival.record.variable;
    if (!wanted[id]) return;
    const Variable& variable = metadata_.variables[id];
    BlockView view = make_view(variable, arrival);
    view.owned = owned(variable, view.block);
    result.blocks[id].push_back(std::move(view));
  };
  for (const Arrival& arrival : transport.inbox(index).blocks) add(arrival);
  for (const Arrival& arrival : transport.persistent()) add(arrival);
  for (auto& views : result.blocks) {
    std::sort(views.begin(), views.end(), [](const auto& a, const auto& b) { return a.block.id < b.block.id; });
  }
  std::vector<HaloRequest> requests;
  for (const Selected& s : selection) {
    if (s.halo > 0) requests.push_back({&metadata_.variables[s.variable], s.halo, &result.blocks[s.variable]});
  }
  if (!requests.empty()) result.halo_memory = exchange_halos(table_, requests, servers_);
  return result;
}

}  // namespace sidestream
