#include "cosmology/halos/merge_tree/tree.hpp"

#include <algorithm>

#include "sidestream/kit/reduce/union_find.hpp"

namespace sidestream::halos {

std::vector<Triplet> spanning(std::vector<TreeEdge> edges) {
  std::sort(edges.begin(), edges.end(), [](const TreeEdge& a, const TreeEdge& b) {
    if (!(a.saddle == b.saddle)) return b.saddle.below(a.saddle);
    return a.a.id != b.a.id ? a.a.id < b.a.id : a.b.id < b.b.id;
  });
  std::unordered_map<Index, std::uint32_t> numbers;
  std::vector<ValuedCell> eldest;
  const auto number_of = [&](const ValuedCell& cell) {
    const auto [at, is_new] = numbers.emplace(cell.id, static_cast<std::uint32_t>(eldest.size()));
    if (is_new) eldest.push_back(cell);
    return at->second;
  };
  std::vector<std::array<std::uint32_t, 2>> ends;
  ends.reserve(edges.size());
  for (const TreeEdge& edge : edges) ends.push_back({number_of(edge.a), number_of(edge.b)});
  UnionFind<std::uint32_t> joined(eldest.size());
  std::vector<Triplet> triplets;
  for (std::size_t n = 0; n < edges.size(); ++n) {
    const std::uint32_t a = joined.find(ends[n][0]), b = joined.find(ends[n][1]);
    if (a == b) continue;
    const ValuedCell first = eldest[a], second = eldest[b];
    const bool first_dies = first.below(second);
    triplets.push_back({first_dies ? first : second, edges[n].saddle, first_dies ? second : first});
    joined.join(a, b);
    eldest[joined.find(a)] = first_dies ? second : first;
  }
  return triplets;
}

TripletMap::TripletMap(const std::vector<Triplet>& triplets) { add(triplets); }

void TripletMap::add(const std::vector<Triplet>& triplets) {
  triplets_.reserve(triplets_.size() + triplets.size());
  for (const Triplet& triplet : triplets) triplets_[triplet.top.id] = triplet;
}

const Triplet* TripletMap::find(Index top) const noexcept {
  const auto at = triplets_.find(top);
  return at == triplets_.end() ? nullptr : &at->second;
}

ValuedCell TripletMap::follow(ValuedCell top, const ValuedCell& level) const noexcept {
  for (const Triplet* next = find(top.id); next && !next->saddle.below(level); next = find(top.id)) top = next->into;
  return top;
}

}  // namespace sidestream::halos
