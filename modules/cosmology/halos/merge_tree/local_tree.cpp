// Joins maxima with union-find, from the highest saddle down: Kruskal's algorithm for the maximum spanning forest.
//
// The lower maximum dies (elder rule). Its triplet is certain if its component has not reached the border above the
// saddle, and open otherwise.
#include "cosmology/halos/merge_tree/local_tree.hpp"

#include <algorithm>

#include "sidestream/kit/reduce/union_find.hpp"

namespace sidestream::halos {

void follow_ascents(std::vector<std::int32_t>& up) {
  for (std::size_t p = 0; p < up.size(); ++p) {
    if (up[p] < 0) continue;
    std::size_t end = p;
    while (up[end] >= 0) end = static_cast<std::size_t>(up[end]);
    const std::int32_t mark = up[end];
    for (std::size_t n = p; up[n] >= 0;) {
      const auto next = static_cast<std::size_t>(up[n]);
      up[n] = mark;
      n = next;
    }
  }
  for (std::int32_t& number : up) number = number == nowhere ? -1 : ~number;
}

void sweep_down(std::vector<SaddlePair> saddle_pairs, std::vector<ValuedCell> touched, LocalTree& tree) {
  std::sort(saddle_pairs.begin(), saddle_pairs.end(), [](const SaddlePair& x, const SaddlePair& y) {
    if (!(x.saddle == y.saddle)) return y.saddle.below(x.saddle);
    return x.a != y.a ? x.a < y.a : x.b < y.b;
  });
  const std::vector<ValuedCell>& tops = tree.maxima;
  std::vector<std::uint32_t> eldest(tops.size());
  for (std::uint32_t n = 0; n < eldest.size(); ++n) eldest[n] = n;
  UnionFind<std::uint32_t> joined(tops.size());
  for (const SaddlePair& meeting : saddle_pairs) {
    const std::uint32_t a = joined.find(meeting.a), b = joined.find(meeting.b);
    if (a == b) continue;
    const bool a_dies = tops[eldest[a]].below(tops[eldest[b]]);
    const std::uint32_t dies = a_dies ? a : b, lives = a_dies ? b : a, top = eldest[lives];
    const Triplet triplet{tops[eldest[dies]], meeting.saddle, tops[top]};
    const bool open = touched[dies].id >= 0 && meeting.saddle.below(touched[dies]);
    (open ? tree.open : tree.certain).push_back(triplet);
    const ValuedCell reached = touched[dies].below(touched[lives]) ? touched[lives] : touched[dies];
    joined.join(a, b);
    eldest[joined.find(a)] = top;
    touched[joined.find(a)] = reached;
  }
}

}  // namespace sidestream::halos
