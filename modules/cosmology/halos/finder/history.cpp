#include "cosmology/halos/finder/history.hpp"

#include <algorithm>

#include "sidestream/kit/reduce/gathered_records.hpp"

namespace sidestream::halos {
namespace {

/// Merges pairs that occur several times.
std::vector<SharedCells> added_up(const std::vector<SharedCells>& parts) {
  std::map<std::array<Index, 2>, Index> sums;
  for (const SharedCells& part : parts) sums[{part.before, part.now}] += part.cells;
  std::vector<SharedCells> all;
  for (const auto& [pair, cells] : sums) all.push_back({pair[0], pair[1], cells});
  return all;
}

}  // namespace

void HaloHistory::follow(const std::vector<OwnedRun>& runs, const std::vector<Halo>& halos,
                         const std::vector<PlacedParticle>& particles, const CombineInput& input) {
  Communicator& servers = input.communicator;
  std::vector<OwnedRun> now = kept_rows(runs, servers);
  std::vector<HaloMember> members;
  std::vector<SharedCells> shared;
  if (particles_) {
    members = members_of(particles, now, lattice_, servers);
    shared = shared_members(members_, members, particles_->weight >= 0, servers);
    now.clear();
  } else {
    shared = added_up(gathered(shared_with(now), servers));
  }
  std::vector<SeenHalo> seen;
  for (const Halo& halo : halos) seen.push_back({halo.peak.id, halo.cells, halo.mass * volume_});
  seen = gathered(seen, servers);
  before_ = std::move(now);
  members_ = std::move(members);
  if (servers.rank() != 0) return;
  const std::vector<TrackStep> steps = record_.follow(seen, shared);
  std::vector<std::int64_t> peaks, common;
  for (const TrackStep& step : steps) {
    peaks.push_back(step.seen.peak);
    common.push_back(step.shared.cells);
  }
  record_.write(steps, {{"peak_index", peaks}}, {"shared", common}, input);
}

std::vector<OwnedRun> HaloHistory::kept_rows(const std::vector<OwnedRun>& runs, Communicator& servers) const {
  std::map<int, std::vector<OwnedRun>> to;
  for (const OwnedRun& one : runs) to[lattice_.keeper(one.run.row, servers.size())].push_back(one);
  std::vector<OwnedRun> kept = exchanged(to, servers);
  std::sort(kept.begin(), kept.end(), [](const OwnedRun& a, const OwnedRun& b) {
    return a.run.row != b.run.row ? a.run.row < b.run.row : a.run.first < b.run.first;
  });
  return kept;
}

std::vector<SharedCells> HaloHistory::shared_with(const std::vector<OwnedRun>& now) const {
  std::vector<SharedCells> shared;
  std::size_t b = 0;
  for (const OwnedRun& one : now) {
    const auto earlier = [&](const OwnedRun& other) {
      return other.run.row != one.run.row ? other.run.row < one.run.row : other.run.last < one.run.first;
    };
    while (b < before_.size() && earlier(before_[b])) ++b;
    for (std::size_t n = b; n < before_.size() && before_[n].run.row == one.run.row; ++n) {
      const Run& other = before_[n].run;
      if (other.first > one.run.last) break;
      const Index cells = std::min(other.last, one.run.last) - std::max(other.first, one.run.first) + 1;
      shared.push_back({before_[n].owner, one.owner, cells});
    }
  }
  return added_up(shared);
}

}  // namespace sidestream::halos
