// Halos over time: which of one iteration is which of the one before.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream::halos {

/// A halo of an iteration, by its peak: a number that ascends with the order of peaks, and is no other's in it.
struct SeenHalo {
  Index peak = -1, cells = 0;
  double mass = 0;
};

/// What a halo of the iteration before and one of this have both: cells, or particles, and the weight of these. More
/// weight is more; of equal weights more of them.
struct SharedCells {
  Index before = -1, now = -1, cells = 0;
  double weight = 0;
};

enum class TrackEvent {
  first,    ///< there in the first iteration: nobody knows since when
  birth,    ///< shares no cell with any halo of the iteration before
  goes_on,  ///< one halo of the iteration before has become this one
  merger,   ///< several have
  split,    ///< only shares cells with halos that have become others
  death,    ///< shares no cell with any halo of this iteration
  merged,   ///< has become one of which another track is the main branch
};
[[nodiscard]] const char* name_of(TrackEvent event) noexcept;

/// What became of a track in an iteration.
struct TrackStep {
  std::int64_t track = 0;
  TrackEvent event = TrackEvent::first;
  std::int64_t halo = -1;  ///< its number in the iteration; -1: it has ended
  SeenHalo seen{};
  std::int64_t progenitors = 0;
  std::int64_t other = -1;  ///< the track that it split from or merged into
  SharedCells shared{};     ///< with its main progenitor, or the halo that it split from or has become part of
};

/// The tracks of a run. A halo's descendant is the halo of the next iteration that has the most of its cells (then the
/// greatest mass, then the larger peak index); of a halo's progenitors that of the greatest mass (then the larger peak
/// index) is on the main branch, whose track goes on. Tracks are numbered in the order of their first appearance.
class Tracks {
 public:
  /// One step for each of `now`, which ascends by peak, then one for each track that has ended.
  [[nodiscard]] std::vector<TrackStep> follow(const std::vector<SeenHalo>& now, const std::vector<SharedCells>& shared);

 private:
  struct Known {
    SeenHalo seen;
    std::int64_t track = 0;
  };
  [[nodiscard]] std::map<Index, SharedCells> descendants(const std::map<Index, const SeenHalo*>& now,
                                                         const std::vector<SharedCells>& shared) const;
  [[nodiscard]] std::map<Index, SharedCells> origins(const std::vector<SharedCells>& shared) const;
  /// Whether b is to be preferred among halos of the iteration before.
  [[nodiscard]] bool heavier(Index a, Index b) const;

  std::map<Index, Known> before_;  ///< by peak
  std::int64_t next_ = 0;
  bool any_ = false;
};

}  // namespace sidestream::halos
