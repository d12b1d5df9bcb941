// Merging of the servers' parts of halos, in cells of several levels, into the halos of the whole mesh.
#include <algorithm>
#include <map>

#include "cosmology/halos/amr/level_parts.hpp"
#include "cosmology/halos/finder/merge_components.hpp"
#include "sidestream/kit/reduce/gathered_records.hpp"

namespace sidestream::halos {
namespace {

/// Finds the pairs of parts that touch. Collective. Every cell is assigned to a server by its hash; taken and sought
/// cells meet there.
std::vector<PartPair> meetings(const LevelParts& found, const PartNumbers& numbers, Communicator& servers) {
  const auto count = static_cast<std::size_t>(servers.size());
  std::array<std::vector<std::vector<PartCell>>, 2> to{std::vector<std::vector<PartCell>>(count),
                                                       std::vector<std::vector<PartCell>>(count)};
  const std::array<const std::vector<PartCell>*, 2> all{&found.taken, &found.sought};
  for (std::size_t k = 0; k < 2; ++k) {
    for (const PartCell& one : *all[k])
      to[k][one.cell.hash() % count].push_back({one.cell, one.part + numbers.first()});
  }
  std::vector<MemberMessage> messages;
  for (std::size_t r = 0; r < count; ++r) {
    if (to[0][r].empty() && to[1][r].empty()) continue;
    ByteWriter out;
    out.put(to[0][r]);
    out.put(to[1][r]);
    messages.push_back({static_cast<int>(r), out.take()});
  }
  std::vector<PartCell> taken, sought;
  for (const MemberMessage& message : servers.exchange(std::move(messages))) {
    ByteReader in(message.bytes);
    for (std::vector<PartCell>* came : {&taken, &sought}) {
      std::vector<PartCell> some;
      in.get(some);
      came->insert(came->end(), some.begin(), some.end());
    }
  }
  const auto before = [](const PartCell& a, const PartCell& b) { return a.cell.before(b.cell); };
  std::sort(taken.begin(), taken.end(), before);
  std::vector<PartPair> pairs;
  for (const PartCell& one : sought) {
    const auto [first, last] = std::equal_range(taken.begin(), taken.end(), one, before);
    for (auto at = first; at != last; ++at) {
      if (at->part != one.part) pairs.push_back({at->part, one.part});
    }
  }
  return pairs;
}

struct LevelComponent {
  LevelPeak peak;
  Index cells = 0;
  LevelPlanes planes;
  [[nodiscard]] bool is_taken_by(const HaloRule& halo) const noexcept {
    return peak.value >= halo.least_peak && cells >= halo.least_cells;
  }
};

/// A part that belongs to a halo. Trivially copyable; sent between servers.
struct LevelAnswer {
  std::int64_t part = 0;
  Index3 peak{};
};

struct Components {
  std::map<std::int64_t, LevelComponent> all;                         ///< components by their first parts
  std::vector<std::pair<int, std::array<std::int64_t, 2>>> askers{};  ///< member that has a part; the part, and the
                                                                      ///< first part of its component

  /// Answers to the servers that sent parts of halos.
  [[nodiscard]] std::vector<MemberMessage> answers(const HaloRule& halo) const {
    std::map<int, std::vector<LevelAnswer>> to;
    for (const auto& [member, part] : askers) {
      const LevelComponent& component = all.at(part[1]);
      if (component.is_taken_by(halo)) to[member].push_back({part[0], component.peak.rank});
    }
    std::vector<MemberMessage> messages;
    for (const auto& [member, some] : to) messages.push_back({member, bytes_of(some)});
    return messages;
  }
};

/// Collective: sends parts to the server of their component's first part, which adds them up.
Components components_of(const LevelParts& found, const std::vector<std::int64_t>& roots, const PartNumbers& numbers,
                         Communicator& servers) {
  std::map<int, ByteWriter> to;
  for (std::size_t n = 0; n < roots.size(); ++n) {
    ByteWriter& out = to[numbers.server_of(roots[n])];
    out.put(roots[n]);
    out.put(numbers.first() + static_cast<std::int64_t>(n));
    out.put(found.parts[n]);
    out.put(found.planes[n]);
  }
  std::vector<MemberMessage> messages;
  for (auto& [server, out] : to) messages.push_back({server, out.take()});
  Components components;
  for (const MemberMessage& message : servers.exchange(std::move(messages))) {
    ByteReader in(message.bytes);
    while (!in.at_end()) {
      const auto root = in.get<std::int64_t>();
      components.askers.push_back({message.member, {in.get<std::int64_t>(), root}});
      LevelComponent& component = components.all[root];
      const auto part = in.get<LevelPart>();
      component.peak.raise(part.peak);
      component.cells += part.cells;
      Bytes planes;
      in.get(planes);
      ByteReader inner(planes);
      component.planes.read(inner);
    }
  }
  return components;
}

}  // namespace

GatheredLevels gather_level_halos(LevelParts found, const AmrGrid& levels, const HaloRule& halo,
                                  Communicator& servers) {
  const PartNumbers numbers(found.parts.size(), servers);
  const std::vector<std::int64_t> roots =
      join_parts(meetings(found, numbers, servers), found.parts.size(), numbers, servers);
  GatheredLevels gathered{std::move(found.whole), {}};
  const Components components = components_of(found, roots, numbers, servers);
  for (const auto& [root, component] : components.all) {
    if (!component.is_taken_by(halo)) continue;
    gathered.halos.push_back(component.planes.finish(levels, component.peak, component.cells));
  }
  for (const MemberMessage& message : servers.exchange(components.answers(halo))) {
    for (const LevelAnswer& answer : records_of<LevelAnswer>(message.bytes)) {
      gathered.parts.push_back(
          {found.parts[static_cast<std::size_t>(answer.part - numbers.first())].first_cell, answer.peak});
    }
  }
  gathered.halos = sorted_records(
      gathered.halos, [](const LevelHalo& one) { return one.peak.rank; }, servers);
  return gathered;
}

}  // namespace sidestream::halos
