#include "cosmology/halos/finder/tracks.hpp"

#include <tuple>

namespace sidestream::halos {

const char* name_of(TrackEvent event) noexcept {
  constexpr const char* names[] = {"first", "birth", "goes-on", "merger", "split", "death", "merged"};
  return names[static_cast<int>(event)];
}

bool Tracks::heavier(Index a, Index b) const {
  return std::make_tuple(before_.at(b).seen.mass, b) > std::make_tuple(before_.at(a).seen.mass, a);
}

/// The descendant of each halo of the previous iteration, by peak.
std::map<Index, SharedCells> Tracks::descendants(const std::map<Index, const SeenHalo*>& now,
                                                 const std::vector<SharedCells>& shared) const {
  std::map<Index, SharedCells> chosen;
  const auto weight = [&](const SharedCells& one) {
    return std::make_tuple(one.weight, one.cells, now.at(one.now)->mass, one.now);
  };
  for (const SharedCells& one : shared) {
    const auto [at, is_new] = chosen.emplace(one.before, one);
    if (!is_new && weight(one) > weight(at->second)) at->second = one;
  }
  return chosen;
}

/// For each halo, by peak, the previous halo with which it shares the most.
std::map<Index, SharedCells> Tracks::origins(const std::vector<SharedCells>& shared) const {
  std::map<Index, SharedCells> chosen;
  for (const SharedCells& one : shared) {
    const auto [at, is_new] = chosen.emplace(one.now, one);
    if (is_new) continue;
    SharedCells& best = at->second;
    const auto had = std::make_tuple(best.weight, best.cells), has = std::make_tuple(one.weight, one.cells);
    if (has > had || (has == had && heavier(best.before, one.before))) best = one;
  }
  return chosen;
}

std::vector<TrackStep> Tracks::follow(const std::vector<SeenHalo>& now, const std::vector<SharedCells>& shared) {
  std::map<Index, const SeenHalo*> by_peak;
  for (const SeenHalo& seen : now) by_peak[seen.peak] = &seen;
  const auto chosen = descendants(by_peak, shared), from = origins(shared);
  std::map<Index, std::vector<Index>> progenitors;  // of each halo; the main one first
  for (const auto& [before, one] : chosen) {
    std::vector<Index>& all = progenitors[one.now];
    all.push_back(before);
    if (heavier(all.front(), before)) std::swap(all.front(), all.back());
  }
  std::vector<TrackStep> steps;
  std::map<Index, Known> known;
  for (const SeenHalo& seen : now) {
    TrackStep step{next_, any_ ? TrackEvent::birth : TrackEvent::first, static_cast<std::int64_t>(steps.size()), seen};
    if (const auto at = progenitors.find(seen.peak); at != progenitors.end()) {
      step.track = before_.at(at->second.front()).track;
      step.shared = chosen.at(at->second.front());
      step.progenitors = static_cast<std::int64_t>(at->second.size());
      step.event = step.progenitors > 1 ? TrackEvent::merger : TrackEvent::goes_on;
    } else {
      ++next_;
      if (const auto origin = from.find(seen.peak); origin != from.end()) {
        step.event = TrackEvent::split;
        step.other = before_.at(origin->second.before).track;
        step.shared = origin->second;
      }
    }
    known[seen.peak] = {seen, step.track};
    steps.push_back(step);
  }
  std::map<std::int64_t, TrackStep> ended;
  for (const auto& [peak, one] : before_) {
    const auto became = chosen.find(peak);
    TrackStep step{one.track, TrackEvent::death, -1, one.seen};
    if (became != chosen.end()) {
      step.other = known.at(became->second.now).track;
      if (step.other == one.track) continue;
      step.event = TrackEvent::merged;
      step.shared = became->second;
    }
    ended[one.track] = step;
  }
  for (const auto& [track, step] : ended) steps.push_back(step);
  before_ = std::move(known);
  any_ = true;
  return steps;
}

}  // namespace sidestream::halos
