// Local connected components: whole halos, and parts that may continue on other servers or in other domains.
//
// 1. A graph lists the pieces above the threshold of each of its domains, joins those that touch by union-find, and
//    names the boundary pieces, next to which other domains may continue (Graph::for_each_domain).
// 2. One visit of all cells finds the peak and the number of cells of each component (measure).
// 3. Closed components that pass the halo rule get their sums at once, by a second visit of their cells. Open
//    components, with a piece at the boundary, become parts with sums by plane (run_sums.hpp).
#pragma once

#include <span>
#include <vector>

#include "cosmology/halos/finder/cell_graph.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::halos {

/// Parts and whole halos are numbered from 0.
template <CellGraph Graph>
struct LocalComponents {
  using Id = typename Graph::Id;

  std::vector<Halo<Id>> whole;                              ///< halos that lie in one domain
  std::vector<Part<Id>> parts;                              ///< all parts that may continue elsewhere, of any size
  std::vector<Bytes> planes;                                ///< output of Graph::PartSums for each part
  std::vector<typename Graph::BoundaryPiece> boundary;      ///< of parts; ~n instead of n: a place that part n seeks
  std::vector<NumberedPiece<typename Graph::Piece>> owned;  ///< of whole halo n or, as ~n, part n, if requested
  std::vector<typename Graph::Source> sources;              ///< of each of `owned`; not sent between servers

  void write(ByteWriter& out) const {
    out.put(whole);
    out.put(parts);
    out.put(boundary);
    out.put(owned);
    for (const Bytes& bytes : planes) out.put(bytes);
  }
  [[nodiscard]] static LocalComponents read(ByteReader& in) {
    LocalComponents found;
    in.get(found.whole);
    in.get(found.parts);
    in.get(found.boundary);
    in.get(found.owned);
    found.planes.resize(found.parts.size());
    for (Bytes& one : found.planes) in.get(one);
    return found;
  }
  /// Appends the contents of another object, whose parts and whole halos are renumbered after these.
  void append(LocalComponents&& other) {
    const auto first = static_cast<std::int64_t>(parts.size()), halos = static_cast<std::int64_t>(whole.size());
    whole.insert(whole.end(), other.whole.begin(), other.whole.end());
    parts.insert(parts.end(), other.parts.begin(), other.parts.end());
    for (Bytes& bytes : other.planes) planes.push_back(std::move(bytes));
    for (auto one : other.boundary) {
      one.part = renumbered(one.part, first);
      boundary.push_back(one);
    }
    for (auto one : other.owned) {
      one.halo = one.halo < 0 ? renumbered(one.halo, first) : one.halo + halos;
      owned.push_back(one);
    }
  }
};

/// Sums over the components of one domain.
template <CellGraph Graph>
class DomainSums {
 public:
  using Domain = typename Graph::Domain;

  DomainSums(const Graph& graph, const Domain& domain) : graph_(graph), domain_(domain), sets_(domain.set_count()) {}

  void add_to(LocalComponents<Graph>& to, const HaloRule& halo, bool keep) {
    measure();
    for (const auto& one : domain_.boundary()) sets_[set_of(one.part)].open = true;
    for (Set& set : sets_) set.kept = set.open || halo.takes(set.peak, set.cells);
    group();
    std::vector<std::int64_t> parts(sets_.size());
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      if (!sets_[s].kept) continue;
      parts[s] = static_cast<std::int64_t>(to.parts.size());
      const std::int64_t owner = sets_[s].open ? ~parts[s] : static_cast<std::int64_t>(to.whole.size());
      if (sets_[s].open) {
        add_part(s, to);
      } else {
        add_halo(s, to);
      }
      if (!keep) continue;
      for (const std::uint32_t n : members(s)) {
        to.owned.push_back({domain_.pieces()[n], owner});
        to.sources.push_back(domain_.source(n));
      }
    }
    for (auto one : domain_.boundary()) {
      const std::int64_t part = parts[set_of(one.part)];
      one.part = one.part < 0 ? ~part : part;
      to.boundary.push_back(one);
    }
  }

 private:
  struct Set {
    Peak<typename Graph::Id> peak;
    Index cells = 0;
    bool open = false, kept = false;
  };
  [[nodiscard]] static std::size_t set_of(std::int64_t part) noexcept {
    return static_cast<std::size_t>(part < 0 ? ~part : part);
  }

  void measure() {
    for (std::uint32_t n = 0; n < domain_.pieces().size(); ++n) {
      Set& set = sets_[domain_.sets()[n]];
      set.cells += domain_.pieces()[n].cells();
      domain_.for_each_cell(n, [&](const auto& cell, double value) { set.peak.raise(value, graph_.id_of(cell)); });
    }
  }
  /// Sorts the pieces of kept sets by set.
  void group() {
    const std::vector<std::uint32_t>& sets = domain_.sets();
    begins_.assign(sets_.size() + 1, 0);
    for (const std::uint32_t s : sets) begins_[s + 1] += sets_[s].kept ? 1 : 0;
    for (std::size_t s = 0; s < sets_.size(); ++s) begins_[s + 1] += begins_[s];
    grouped_.resize(begins_.back());
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    for (std::uint32_t n = 0; n < sets.size(); ++n) {
      if (sets_[sets[n]].kept) grouped_[next[sets[n]]++] = n;
    }
  }
  [[nodiscard]] std::span<const std::uint32_t> members(std::size_t set) const {
    return std::span(grouped_).subspan(begins_[set], begins_[set + 1] - begins_[set]);
  }

  template <class Sums>
  void add_cells(std::size_t set, Sums& sums) const {
    for (const std::uint32_t n : members(set)) {
      domain_.for_each_cell(n, [&](const auto& cell, double value) { sums.add(cell, value); });
    }
  }
  void add_halo(std::size_t set, LocalComponents<Graph>& to) const {
    typename Graph::HaloSums sums(graph_, sets_[set].peak);
    add_cells(set, sums);
    to.whole.push_back(sums.finish());
  }
  void add_part(std::size_t set, LocalComponents<Graph>& to) const {
    typename Graph::PartSums sums(graph_, domain_.pieces(), members(set));
    add_cells(set, sums);
    ByteWriter out;
    sums.write(out);
    const auto first = graph_.id_of(domain_.first_cell(members(set).front()));
    to.parts.push_back({sets_[set].peak, sets_[set].cells, first});
    to.planes.push_back(out.take());
  }

  const Graph& graph_;
  const Domain& domain_;
  std::vector<Set> sets_;
  std::vector<std::size_t> begins_;     ///< of each set in `grouped_`
  std::vector<std::uint32_t> grouped_;  ///< pieces of kept sets
};

/// Searches this server's cells. Does not communicate. `keep`: also returns `owned` and `sources`.
template <CellGraph Graph>
[[nodiscard]] LocalComponents<Graph> find_components(const Graph& graph, const LocalInput& input, double threshold,
                                                     const HaloRule& halo, bool keep) {
  LocalComponents<Graph> found;
  graph.for_each_domain(input, threshold, keep, [&](const typename Graph::Domain& domain) {
    DomainSums<Graph>(graph, domain).add_to(found, halo, keep);
  });
  return found;
}

}  // namespace sidestream::halos
