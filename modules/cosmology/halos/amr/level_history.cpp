#include "cosmology/halos/amr/level_history.hpp"

#include <map>
#include <tuple>

#include "sidestream/kit/reduce/gathered_records.hpp"

namespace sidestream::halos {
void LevelHistory::follow(const std::vector<KeptLevelCell>& cells, const LevelParticles& particles,
                          const std::vector<LevelHalo>& halos, const CombineInput& input) {
  Communicator& servers = input.communicator;
  const CellOwners keepers(levels_, servers.size());
  std::vector<KeptLevelCell> now = kept(cells, keepers, servers);
  std::vector<HaloMember> members;
  std::vector<SharedCells> shared;
  if (particles_) {
    members = members_of(particles, now, keepers, servers);
    shared = shared_members(members_, members, particles_->weight >= 0, servers);
    now.clear();
  } else {
    shared = shared_volumes(gathered(overlaps_with(now, keepers, servers.rank()), servers));
  }
  const std::vector<LevelHalo> all = gathered(halos, servers);
  before_ = std::move(now);
  members_ = std::move(members);
  if (servers.rank() == 0) write(all, shared, input);
}

std::vector<KeptLevelCell> LevelHistory::kept(const std::vector<KeptLevelCell>& cells, const CellOwners& keepers,
                                              Communicator& servers) const {
  std::map<int, std::vector<KeptLevelCell>> to;
  for (const KeptLevelCell& one : cells) {
    for (const int server : keepers.keepers_of(one.cell)) to[server].push_back(one);
  }
  return exchanged(to, servers);
}

/// Counts shared cells. If one of two cells contains the other, the finer one is counted, on its home server.
std::vector<LevelHistory::Overlap> LevelHistory::overlaps_with(const std::vector<KeptLevelCell>& now,
                                                               const CellOwners& keepers, int server) const {
  const std::vector<LevelCell> cells_before = cells_of(before_), cells_now = cells_of(now);
  const CellIndex index_before(cells_before), index_now(cells_now);
  std::map<std::tuple<std::int64_t, std::int64_t, std::int32_t>, Index> counts;
  for (const KeptLevelCell& one : now) {
    if (keepers.home_of(one.cell) != server) continue;
    const std::int64_t found = index_before.find_round(one.cell, levels_);
    if (found >= 0) ++counts[{before_[static_cast<std::size_t>(found)].halo, one.halo, one.cell.level}];
  }
  for (const KeptLevelCell& one : before_) {
    if (one.cell.level == 0 || keepers.home_of(one.cell) != server) continue;
    const std::int64_t found = index_now.find_round(levels_.parent_of(one.cell), levels_);
    if (found >= 0) ++counts[{one.halo, now[static_cast<std::size_t>(found)].halo, one.cell.level}];
  }
  std::vector<Overlap> overlaps;
  for (const auto& [key, cells] : counts) {
    overlaps.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), cells});
  }
  return overlaps;
}

std::vector<SharedCells> LevelHistory::shared_volumes(const std::vector<Overlap>& all) const {
  std::map<std::pair<std::int64_t, std::int64_t>, ExactSum> sums;
  for (const Overlap& one : all) {
    sums[{one.before, one.now}].add_product(static_cast<double>(one.cells), levels_.volume(one.level));
  }
  std::vector<SharedCells> shared;
  for (const auto& [pair, sum] : sums) shared.push_back({pair.first, pair.second, 0, sum.value()});
  return shared;
}

std::vector<HaloMember> LevelHistory::members_of(const LevelParticles& particles, const std::vector<KeptLevelCell>& now,
                                                 const CellOwners& keepers, Communicator& servers) const {
  std::map<int, std::vector<PlacedLevelParticle>> to;
  for (const PlacedLevelParticle& one : particles.others) to[keepers.home_of(one.cell)].push_back(one);
  const std::vector<LevelCell> cells = cells_of(now);
  const CellIndex index(cells);
  std::vector<HaloMember> members = particles.members;
  for (const PlacedLevelParticle& one : exchanged(to, servers)) {
    const std::int64_t found = index.find_round(one.cell, levels_);
    if (found >= 0) members.push_back({one.id, now[static_cast<std::size_t>(found)].halo, one.weight});
  }
  return dealt_by_number(members, servers);
}

void LevelHistory::write(const std::vector<LevelHalo>& halos, const std::vector<SharedCells>& shared,
                         const CombineInput& input) {
  std::vector<SeenHalo> seen;
  for (const LevelHalo& halo : halos) seen.push_back({static_cast<Index>(seen.size()), halo.cells, halo.mass});
  const std::vector<TrackStep> steps = record_.follow(seen, shared);
  std::vector<std::vector<double>> places(static_cast<std::size_t>(levels_.dimensions()));
  std::vector<std::int64_t> particles;
  std::vector<double> volumes;
  for (const TrackStep& step : steps) {
    const LevelHalo& halo = (step.halo >= 0 ? halos : halos_)[static_cast<std::size_t>(step.seen.peak)];
    for (std::size_t a = 0; a < places.size(); ++a) {
      places[a].push_back(levels_.position(a, halo.peak.cell, 0, true));
    }
    particles.push_back(step.shared.cells);
    volumes.push_back(step.shared.weight * levels_.unit_volume());
  }
  std::vector<Column> peaks;
  for (std::size_t a = 0; a < places.size(); ++a) {
    peaks.push_back({std::string("peak_") + "xyz"[a], std::move(places[a])});
  }
  record_.write(steps, std::move(peaks), particles_ ? Column{"shared", particles} : Column{"shared", volumes}, input);
  halos_ = halos;
}

namespace {

template <class Value>
DataSet::Array list(const std::string& name, Type type, const std::vector<Value>& values, Index first, Index all) {
  return {name, type, {"cell"}, {all}, {first}, {static_cast<Index>(values.size())}, {}, {}, bytes_of(values)};
}

}  // namespace

void write_level_labels(const LabelQuery& query, const AmrGrid& levels, const std::vector<KeptLevelCell>& cells,
                        const CombineInput& input) {
  Communicator& servers = input.communicator;
  const std::vector<KeptLevelCell> sorted = sorted_records(
      cells,
      [](const KeptLevelCell& one) {
        return std::array<Index, 4>{one.cell.level, one.cell.index[2], one.cell.index[1], one.cell.index[0]};
      },
      servers);
  std::vector<std::int32_t> on, halos;
  std::array<std::vector<std::int64_t>, 3> indices;
  for (const KeptLevelCell& one : sorted) {
    const TreeCell cell = levels.in_mesh(one.cell);
    on.push_back(cell.level);
    halos.push_back(static_cast<std::int32_t>(one.halo));
    for (std::size_t a = 0; a < 3; ++a) indices[a].push_back(cell.index[a]);
  }
  std::int64_t all = static_cast<std::int64_t>(sorted.size());
  const Index first = servers.exclusive_sum(all);
  servers.sum({&all, 1});
  DataSet data;
  data.arrays.push_back(list("halo", Type::int32, halos, first, all));
  data.arrays.push_back(list("level", Type::int32, on, first, all));
  for (std::size_t a = 0; a < static_cast<std::size_t>(levels.dimensions()); ++a) {
    data.arrays.push_back(list(std::string(1, "ijk"[a]), Type::int64, indices[a], first, all));
  }
  input.results.add_parts(query.file, data, servers, query.pieces);
}

}  // namespace sidestream::halos
