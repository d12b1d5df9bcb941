// Merging of the servers' parts into the halos of the whole mesh.
//
// 1. Boundary pieces meet on the servers that keep their places; parts that touch make pairs (Graph::meetings).
// 2. Every server builds the same union-find structure from spanning forests of all pairs (merge_components.cpp).
// 3. The parts of a component go to the server of its first part, which adds them up and applies the halo rule. It
//    answers with the peaks of those that are halos.
//
// KnownHalos has all halos of an iteration on every server, for the pass that visits the cells again.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "cosmology/halos/finder/local_components.hpp"
#include "cosmology/halos/finder/merge_components.hpp"
#include "sidestream/kit/reduce/gathered_records.hpp"

namespace sidestream::halos {

/// Halos after merging, and this server's parts of them.
template <CellGraph Graph>
struct Gathered {
  using Id = typename Graph::Id;
  std::vector<Halo<Id>> halos;      ///< this server's share of all, in ascending order of peaks over all servers
  std::vector<HaloPart<Id>> parts;  ///< of halos, found on this server
  std::vector<HaloPiece<typename Graph::Piece, Id>> pieces;  ///< of halos, on this server, if they were kept
};

/// Adds up components whose first parts are on this server.
template <CellGraph Graph>
class ComponentMerger {
 public:
  using Id = typename Graph::Id;
  /// A part that belongs to the halo with this peak. Trivially copyable; sent between servers.
  struct Answer {
    std::int64_t part = 0;
    Id peak = no_cell<Id>;
  };

  ComponentMerger(const Graph& graph, const HaloRule& rule) : graph_(graph), rule_(rule) {}

  /// Sends parts to the server of their component's first part. Collective. `roots`: the first part of each part's
  /// component.
  void exchange(const LocalComponents<Graph>& found, const std::vector<std::int64_t>& roots, const PartNumbers& numbers,
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
    for (const MemberMessage& message : servers.exchange(std::move(messages))) read(message);
  }
  void finish(std::vector<Halo<Id>>& halos) const {
    for (const auto& [root, one] : components_) {
      if (rule_.takes(one.peak, one.cells)) halos.push_back(one.sums.finish(graph_, one.peak, one.cells));
    }
  }
  /// Answers for each server that sent parts of halos.
  [[nodiscard]] std::map<int, std::vector<Answer>> answers() const {
    std::map<int, std::vector<Answer>> to;
    for (const auto& [member, part, root] : askers_) {
      const Component& component = components_.at(root);
      if (rule_.takes(component.peak, component.cells)) to[member].push_back({part, component.peak.id});
    }
    return to;
  }

 private:
  struct Component {
    Peak<Id> peak;
    Index cells = 0;
    typename Graph::MergedSums sums;
  };
  struct Asker {
    int member;
    std::int64_t part, root;
  };

  void read(const MemberMessage& message) {
    ByteReader in(message.bytes);
    while (!in.at_end()) {
      const auto root = in.get<std::int64_t>();
      askers_.push_back({message.member, in.get<std::int64_t>(), root});
      Component& component = components_[root];
      const auto part = in.get<Part<Id>>();
      component.peak.raise(part.peak.value, part.peak.id);
      component.cells += part.cells;
      Bytes planes;
      in.get(planes);
      ByteReader inner(planes);
      component.sums.read(inner);
    }
  }

  const Graph& graph_;
  const HaloRule& rule_;
  std::map<std::int64_t, Component> components_;
  std::vector<Asker> askers_;
};

/// Merges the servers' parts into halos. Collective.
template <CellGraph Graph>
[[nodiscard]] Gathered<Graph> gather_halos(LocalComponents<Graph> found, const Graph& graph, const HaloRule& halo,
                                           Communicator& servers) {
  using Id = typename Graph::Id;
  const PartNumbers numbers(found.parts.size(), servers);
  const std::vector<std::int64_t> roots =
      join_parts(graph.meetings(found.boundary, numbers, servers), found.parts.size(), numbers, servers);
  ComponentMerger<Graph> merger(graph, halo);
  merger.exchange(found, roots, numbers, servers);
  std::vector<Id> peaks(found.parts.size(), no_cell<Id>);
  for (const auto& answer : exchanged(merger.answers(), servers)) {
    peaks[static_cast<std::size_t>(answer.part - numbers.first())] = answer.peak;
  }
  Gathered<Graph> gathered;
  for (const auto& one : found.owned) {
    const auto n = static_cast<std::size_t>(one.halo < 0 ? ~one.halo : one.halo);
    const Id peak = one.halo < 0 ? peaks[n] : found.whole[n].peak.id;
    if (no_cell<Id> < peak) gathered.pieces.push_back({one.piece, peak});
  }
  for (std::size_t n = 0; n < peaks.size(); ++n) {
    if (no_cell<Id> < peaks[n]) gathered.parts.push_back({found.parts[n].first_cell, peaks[n]});
  }
  merger.finish(found.whole);
  gathered.halos = sorted_records(
      found.whole, [](const Halo<Id>& one) { return one.peak.id; }, servers);
  return gathered;
}

/// Centre of a halo's profile: an offset in the graph's units of length from the middle of the peak's cell. Trivially
/// copyable; sent between servers.
template <class Id>
struct HaloPlace {
  Id peak = no_cell<Id>;
  std::array<double, 3> offset{};
};

/// Halos in the order of their numbers, which is the order of their peaks.
template <class Id>
struct KnownHalos {
  std::vector<HaloPlace<Id>> places;
  std::vector<HaloPart<Id>> parts;  ///< that several servers may have, sorted by their first cells
  double mean = 0;                  ///< mean of the field, if it was measured

  /// Number of the halo with this peak; -1: none.
  [[nodiscard]] std::int64_t number_of(const Id& peak) const {
    const auto at = std::lower_bound(places.begin(), places.end(), peak,
                                     [](const HaloPlace<Id>& place, const Id& id) { return place.peak < id; });
    return at == places.end() || peak < at->peak ? -1 : at - places.begin();
  }
  /// Number of a part's halo; -1: none.
  [[nodiscard]] std::int64_t number_of(const Part<Id>& part) const {
    const auto at = std::lower_bound(parts.begin(), parts.end(), part.first_cell,
                                     [](const HaloPart<Id>& one, const Id& id) { return one.first_cell < id; });
    return at == parts.end() || part.first_cell < at->first_cell ? -1 : number_of(at->peak);
  }

  [[nodiscard]] Bytes to_bytes() const {
    ByteWriter out;
    out.put(places);
    out.put(parts);
    out.put(mean);
    return out.take();
  }
  [[nodiscard]] static KnownHalos from_bytes(BytesView bytes) {
    KnownHalos known;
    ByteReader in(bytes);
    in.get(known.places);
    in.get(known.parts);
    in.get(known.mean);
    return known;
  }

  /// Returns the places and parts of all servers, the same on all. Collective. Each server has its share of the halos,
  /// in order.
  [[nodiscard]] KnownHalos of_all(Communicator& servers) const {
    KnownHalos all{{}, {}, mean};
    for (const Bytes& bytes : servers.all_gather(to_bytes())) {
      const KnownHalos theirs = from_bytes(bytes);
      all.places.insert(all.places.end(), theirs.places.begin(), theirs.places.end());
      all.parts.insert(all.parts.end(), theirs.parts.begin(), theirs.parts.end());
    }
    std::sort(all.parts.begin(), all.parts.end(),
              [](const HaloPart<Id>& a, const HaloPart<Id>& b) { return a.first_cell < b.first_cell; });
    return all;
  }
};

/// A piece of a halo, with the halo's number and the source of its values on this server.
template <CellGraph Graph>
struct LocatedPiece {
  std::int64_t halo = -1;
  typename Graph::Piece piece;
  typename Graph::Source source;
};

/// Pieces of halos on this server, by halo. `found`: with `owned`, found by the same rules as the halos.
template <CellGraph Graph>
[[nodiscard]] std::vector<LocatedPiece<Graph>> located_pieces(const LocalComponents<Graph>& found,
                                                              const KnownHalos<typename Graph::Id>& known) {
  std::vector<std::int64_t> wholes, parts;
  for (const auto& halo : found.whole) wholes.push_back(known.number_of(halo.peak.id));
  for (const auto& part : found.parts) parts.push_back(known.number_of(part));
  std::vector<LocatedPiece<Graph>> pieces;
  for (std::size_t n = 0; n < found.owned.size(); ++n) {
    const auto& [piece, owner] = found.owned[n];
    const std::int64_t halo =
        owner < 0 ? parts[static_cast<std::size_t>(~owner)] : wholes[static_cast<std::size_t>(owner)];
    if (halo >= 0) pieces.push_back({halo, piece, found.sources[n]});
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const LocatedPiece<Graph>& a, const LocatedPiece<Graph>& b) { return a.halo < b.halo; });
  return pieces;
}

}  // namespace sidestream::halos
