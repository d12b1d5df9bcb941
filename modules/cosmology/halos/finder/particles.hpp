// Particles in the cells of halos, which match halos of two iterations.
//
// 1. Each server finds the cells of its particles. If a cell is known on the server and in no component, the particle
//    is dropped (place_particles).
// 2. The others go to the servers that keep their cells, which look up the halo (history.hpp).
// 3. Members are distributed to servers by a hash of the particle's number, the same in every iteration. So the members
//    of two iterations are compared on one server by merging two sorted lists (shared_members).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "cosmology/halos/finder/halo.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/mesh/point_values.hpp"
#include "sidestream/kit/reduce/gathered_records.hpp"

namespace sidestream::halos {

/// Numbered particles of a mesh of points.
struct ParticleQuery {
  std::int32_t coordinates = -1, ids = -1;
  std::int32_t weight = -1;  ///< -1: each counts as one
  int component = 0;         ///< component of the weight
};

/// The options `particles` and `weight`, and their values, if given. Throws Error(configuration).
[[nodiscard]] std::vector<Option> particle_options();
[[nodiscard]] std::optional<ParticleQuery> read_particle_query(const Settings& settings, const Metadata& metadata,
                                                               const Variable& density);

/// A particle and the cell that contains it, as a graph sends it. Trivially copyable; sent between servers.
template <class Location>
struct PlacedParticle {
  std::int64_t id = 0;
  Location cell{};
  double weight = 1;
};

/// A particle and the peak of its halo. Trivially copyable; sent between servers.
template <class Id>
struct HaloMember {
  std::int64_t id = 0;
  Id halo = no_cell<Id>;
  double weight = 1;
  bool operator<(const HaloMember& other) const noexcept { return id != other.id ? id < other.id : halo < other.halo; }
};

/// A halo of the previous iteration and one of this iteration, by peaks, and their overlap: the number of common cells
/// or particles, and their weight.
template <class Id>
struct SharedPair {
  Id before = no_cell<Id>, now = no_cell<Id>;
  Index count = 0;
  double weight = 0;
};

/// Sums over the particles of pairs of halos.
template <class Id>
using MemberSums = std::map<std::pair<Id, Id>, CountedSum>;

/// The server that has all particles with a number.
[[nodiscard]] int keeper_of(std::int64_t id, int servers) noexcept;

/// A number of a list as an integer.
[[nodiscard]] inline std::int64_t whole_at(const BlockView& view, Index i) {
  return with_type(view.array.type,
                   [&](auto zero) { return static_cast<std::int64_t>(*view.array.at<decltype(zero)>(i, 0, 0, 0)); });
}

/// Places this server's particles, without those in cells that are on this server and in no component. Particles
/// outside the mesh are dropped; periodic axes wrap. `filter.location_of(x)`: the cell, or none.
template <class Filter>
[[nodiscard]] auto place_particles(const ParticleQuery& query, int dimensions, Filter& filter,
                                   const LocalInput& input) {
  std::vector<PlacedParticle<typename Filter::Location>> placed;
  for (const BlockView& view : input.of(query.coordinates)) {
    const BlockView* ids = input.find(query.ids, view.block.id);
    const BlockView* weights = query.weight >= 0 ? input.find(query.weight, view.block.id) : nullptr;
    if (ids == nullptr || (query.weight >= 0 && weights == nullptr)) continue;  // not delivered
    for_each_counted(view, [&](Index i) {
      std::array<double, 3> x{};
      for (int a = 0; a < dimensions; ++a) x[static_cast<std::size_t>(a)] = real_at(view, i, a);
      const auto location = filter.location_of(x);
      if (!location) return;
      const double weight = weights ? real_at(*weights, i, query.component) : 1;
      placed.push_back({whole_at(*ids, i), *location, std::isfinite(weight) ? weight : 0});
    });
  }
  return placed;
}

/// Distributes particles by their numbers, so that each server has the same numbers every time; ascending. Collective.
template <class Id>
[[nodiscard]] std::vector<HaloMember<Id>> dealt_by_number(const std::vector<HaloMember<Id>>& mine,
                                                          Communicator& servers) {
  std::map<int, std::vector<HaloMember<Id>>> to;
  for (const HaloMember<Id>& member : mine) to[keeper_of(member.id, servers.size())].push_back(member);
  std::vector<HaloMember<Id>> members = exchanged(to, servers);
  std::sort(members.begin(), members.end());
  return members;
}

/// Sums for all pairs of halos; both lists must ascend by number.
template <class Id>
[[nodiscard]] MemberSums<Id> sums_of(const std::vector<HaloMember<Id>>& before,
                                     const std::vector<HaloMember<Id>>& now) {
  MemberSums<Id> sums;
  auto first = before.begin();
  for (const HaloMember<Id>& member : now) {
    while (first != before.end() && first->id < member.id) ++first;
    for (auto other = first; other != before.end() && other->id == member.id; ++other) {
      CountedSum& shared = sums[{other->halo, member.halo}];
      ++shared.count;
      shared.sum.add(member.weight);
    }
  }
  return sums;
}

/// Sums, for each pair of a previous and a present halo, the number of particles in both and their present weight,
/// exactly. Collective. The result is on the first server, empty on others.
template <class Id>
[[nodiscard]] std::vector<SharedPair<Id>> shared_members(const std::vector<HaloMember<Id>>& before,
                                                         const std::vector<HaloMember<Id>>& now,
                                                         Communicator& servers) {
  ByteWriter out;
  std::vector<std::uint32_t> words;
  for (const auto& [pair, sum] : sums_of(before, now)) {
    out.put(pair.first);
    out.put(pair.second);
    sum.write(out, words);
  }
  MemberSums<Id> all;
  for (const Bytes& bytes : servers.gather(out.bytes(), 0)) {
    ByteReader in(bytes);
    while (!in.at_end()) {
      const auto one = in.get<Id>();
      all[{one, in.get<Id>()}].read(in, words);
    }
  }
  std::vector<SharedPair<Id>> shared;
  for (const auto& [pair, sum] : all) shared.push_back({pair.first, pair.second, sum.count, sum.sum.value()});
  return shared;
}

}  // namespace sidestream::halos
