#include "server/redistribution/allocated_boxes.hpp"

#include <set>
#include <utility>

#include "base/mpi/agree.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

/// Boxes that differ from the known ones.
std::vector<AllocatedBoxes::Change> AllocatedBoxes::changes(std::span<const Arrival> arrivals,
                                                            const std::vector<bool>& variables) const {
  std::vector<Change> result;
  for (const Arrival& arrival : arrivals) {
    const BlockRecord& record = arrival.record;
    if (!variables[static_cast<std::size_t>(record.variable)] || record.block.is_list()) continue;
    const Key key{record.variable, record.block.client, record.block.id};
    const auto known = boxes_.find(key);
    const bool same = known == boxes_.end() ? record.box == record.points() : record.box == known->second;
    if (!same) result.push_back({key, record.box});
  }
  return result;
}

bool AllocatedBoxes::update(std::span<const Arrival> arrivals, std::span<const Arrival> persistent,
                            const std::vector<bool>& variables, Communicator& servers) {
  std::vector<Change> mine = changes(arrivals, variables);
  const std::vector<Change> more = changes(persistent, variables);
  mine.insert(mine.end(), more.begin(), more.end());
  std::int64_t any = mine.empty() ? 0 : 1;
  if (servers.size() > 1) servers.maximum(std::span(&any, 1));
  if (any == 0) return false;
  Boxes fresh;  // all servers take it, or none
  const std::vector<Bytes> all = servers.all_gather(std::as_bytes(std::span(mine)));
  run_collectively(servers, [&] {
    fresh = boxes_;
    for (const Bytes& bytes : all) {
      for (const Change& change : records_of<Change>(bytes)) fresh[change.key] = change.box;
    }
  });
  boxes_.swap(fresh);
  return true;
}

Box AllocatedBoxes::of(const Variable& variable, const Block& block) const {
  const Box points = variable.points(block);
  const auto known = boxes_.find({variable.id, block.client, block.id});
  // The block may have changed since its arrays were published.
  return known != boxes_.end() && known->second.contains(points) ? known->second : points;
}

void AllocatedBoxes::keep(const BlockTable& table) {
  if (boxes_.empty()) return;
  std::set<std::pair<std::int32_t, std::int64_t>> there;
  for (const Block& block : table.blocks()) there.emplace(block.client, block.id);
  std::erase_if(boxes_, [&](const auto& entry) { return !there.contains({entry.first.client, entry.first.block}); });
}

}  // namespace sidestream
