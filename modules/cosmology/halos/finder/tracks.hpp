// Halos over time: matching of the halos of one iteration with those of the previous one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream::halos {

/// A halo of an iteration. `peak` is unique in the iteration and ascends in the order of peaks.
struct SeenHalo {
  Index peak = -1, cells = 0;
  double mass = 0;
};

/// Cells or particles that a halo of the previous iteration shares with one of this iteration, and their weight.
/// Ordered by weight, then by number.
struct SharedCells {
  Index before = -1, now = -1, cells = 0;
  double weight = 0;
};

enum class TrackEvent {
  first,    ///< exists in the first iteration; the time of its birth is unknown
  birth,    ///< shares no cell with any halo of the previous iteration
  goes_on,  ///< one halo of the previous iteration has become this one
  merger,   ///< several have
  split,    ///< only shares cells with halos that have become others
  death,    ///< shares no cell with any halo of this iteration
  merged,   ///< has become a halo whose main branch is another track
};
[[nodiscard]] const char* name_of(TrackEvent event) noexcept;

/// State of a track in an iteration.
struct TrackStep {
  std::int64_t track = 0;
  TrackEvent event = TrackEvent::first;
  std::int64_t halo = -1;  ///< number of the halo in the iteration; -1: the track has ended
  SeenHalo seen{};
  std::int64_t progenitors = 0;
  std::int64_t other = -1;  ///< the track that it split from or merged into
  SharedCells shared{};     ///< with its main progenitor, or with the halo that it split from or has become part of
};

/// The tracks of a run. A halo's descendant is the halo of the next iteration that has the most of its cells (then the
/// greatest mass, then the larger peak index). The progenitor with the greatest mass (then the larger peak index) is
/// the main one, whose track continues. Tracks are numbered in the order of their first appearance.
class Tracks {
 public:
  /// Returns one step for each of `now`, which must ascend by peak, then one for each track that has ended.
  [[nodiscard]] std::vector<TrackStep> follow(const std::vector<SeenHalo>& now, const std::vector<SharedCells>& shared);

 private:
  struct Known {
    SeenHalo seen;
    std::int64_t track = 0;
  };
  [[nodiscard]] std::map<Index, SharedCells> descendants(const std::map<Index, const SeenHalo*>& now,
                                                         const std::vector<SharedCells>& shared) const;
  [[nodiscard]] std::map<Index, SharedCells> origins(const std::vector<SharedCells>& shared) const;
  /// True if b is preferred to a among halos of the previous iteration.
  [[nodiscard]] bool heavier(Index a, Index b) const;

  std::map<Index, Known> before_;  ///< by peak
  std::int64_t next_ = 0;
  bool any_ = false;
};

}  // namespace sidestream::halos
