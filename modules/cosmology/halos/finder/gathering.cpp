#include "cosmology/halos/finder/gathering.hpp"

#include <map>

#include "sidestream/kit/reduce/gathered_records.hpp"

namespace sidestream::halos {
namespace {

/// A component whose parts are added up on this server.
struct Component {
  Peak peak;
  Index cells = 0;
  MergedPlanes planes;
};

/// The halo that a part belongs to; peak -1: none.
struct Answer {
  std::int64_t part = 0, peak = -1;
};

/// Sends this server's parts to the servers that add them up.
std::vector<MemberMessage> send_parts(const LocalComponents& found, const std::vector<std::int64_t>& roots,
                                      const PartNumbers& numbers, Communicator& servers) {
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
  return servers.exchange(std::move(messages));
}

class Adding {
 public:
  Adding(const Lattice& lattice, const HaloRule& rule) : lattice_(lattice), rule_(rule) {}

  void read(const MemberMessage& message) {
    ByteReader in(message.bytes);
    while (!in.at_end()) {
      const auto root = in.get<std::int64_t>();
      askers_.push_back({message.member, {in.get<std::int64_t>(), root}});
      Component& component = components_[root];
      const auto part = in.get<Part>();
      component.peak.raise(part.peak.value, part.peak.id);
      component.cells += part.cells;
      Bytes planes;
      in.get(planes);
      ByteReader inner(planes);
      component.planes.read(inner);
    }
  }
  void finish(std::vector<Halo>& halos) const {
    for (const auto& [root, component] : components_) {
      if (!rule_.takes(component.peak, component.cells)) continue;
      HaloSums sums(lattice_, component.peak);
      component.planes.add_to(sums);
      halos.push_back(sums.finish());
    }
  }
  /// Answers to the servers that sent parts.
  [[nodiscard]] std::vector<MemberMessage> answers() const {
    std::map<int, std::vector<Answer>> to;
    for (const auto& [member, part] : askers_) {
      const Component& component = components_.at(part[1]);
      const bool taken = rule_.takes(component.peak, component.cells);
      to[member].push_back({part[0], taken ? component.peak.id : -1});
    }
    std::vector<MemberMessage> messages;
    for (const auto& [member, answers] : to) messages.push_back({member, bytes_of(answers)});
    return messages;
  }

 private:
  const Lattice& lattice_;
  const HaloRule& rule_;
  std::map<std::int64_t, Component> components_;
  std::vector<std::pair<int, std::array<std::int64_t, 2>>> askers_;
};

/// Replaces parts as owners of `runs` by their halos, and drops runs without one.
std::vector<OwnedRun> owned_by_halos(std::vector<OwnedRun> runs, const std::vector<std::int64_t>& peaks) {
  std::vector<OwnedRun> kept;
  for (OwnedRun& one : runs) {
    if (one.owner < 0) one.owner = peaks[static_cast<std::size_t>(~one.owner)];
    if (one.owner >= 0) kept.push_back(one);
  }
  return kept;
}

}  // namespace

Gathered gather_halos(LocalComponents found, const Lattice& lattice, const Rule& rule, const HaloRule& halo,
                      Communicator& servers) {
  const PartNumbers numbers(found.parts.size(), servers);
  const std::vector<std::int64_t> roots =
      stitch(found.border, found.parts.size(), numbers, lattice, rule.steps, servers);
  Adding adding(lattice, halo);
  for (const MemberMessage& message : send_parts(found, roots, numbers, servers)) adding.read(message);
  Gathered gathered{std::move(found.whole), {}, {}};
  adding.finish(gathered.halos);
  std::vector<std::int64_t> peaks(found.parts.size(), -1);
  for (const MemberMessage& message : servers.exchange(adding.answers())) {
    for (const Answer& answer : records_of<Answer>(message.bytes)) {
      peaks[static_cast<std::size_t>(answer.part - numbers.first())] = answer.peak;
    }
  }
  for (std::size_t n = 0; n < peaks.size(); ++n) {
    if (peaks[n] >= 0) gathered.parts.push_back({found.parts[n].first_cell, peaks[n]});
  }
  gathered.runs = owned_by_halos(std::move(found.owned), peaks);
  return gathered;
}

std::vector<Halo> sorted_halos(const std::vector<Halo>& mine, Communicator& servers) {
  return sorted_records(
      mine, [](const Halo& halo) { return halo.peak.id; }, servers);
}

}  // namespace sidestream::halos
