// Halo histories in situ: tracks of halos, matched with the halos of the previous iteration.
//
// Halos match by the cells or the particles that they share:
//
// 1. Pieces of halos go to the servers that keep their places, always the same ones (Graph::Owners). So the pieces of
//    two iterations are compared where both are (Graph::overlaps).
// 2. With particles, the pieces only give the halo of each particle (Graph::HaloLookup); members of halos are
//    distributed by their numbers and compared.
// 3. The first server has all pairs of halos that share something, names halos by their numbers, and follows the
//    tracks (Tracks).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cosmology/halos/finder/gathering.hpp"
#include "cosmology/halos/finder/mass_function.hpp"
#include "cosmology/halos/finder/particles.hpp"
#include "sidestream/data/box.hpp"

namespace sidestream::halos {

/// A halo of an iteration. `peak` is unique in the iteration and ascends in the order of peaks.
struct SeenHalo {
  Index peak = -1, cells = 0;
  double mass = 0;
};

/// By peaks as in SeenHalo; ordered by weight, then by number.
using SharedCells = SharedPair<Index>;

enum class TrackEvent {
  first,    ///< exists in the first iteration; the time of its birth is unknown
  birth,    ///< shares no cell with any halo of the previous iteration
  goes_on,  ///< one halo of the previous iteration has become this one
  merger,   ///< several halos of the previous iteration have become this one
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
  SharedCells shared{};     ///< shared with its main progenitor, or with the halo that it split from or became part of
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

struct HistoryQuery {
  std::string file;
  std::optional<ChartFile> chart;
  int drawn = 24;                          ///< most tracks in the chart
  std::optional<ParticleQuery> particles;  ///< particles for matching halos; none: by cells
};

/// The options of `history`. Reading throws Error(configuration).
/// `density`: the variable in which halos are found.
[[nodiscard]] OptionTable<HistoryQuery> history_options(const Variable& density);

/// Tracks of halos over the iterations of a run: their table and their chart. Kept on the first server only.
class TrackRecord {
 public:
  /// `name`: of the field, for the chart.
  TrackRecord(HistoryQuery how, std::string name) : how_(std::move(how)), name_(std::move(name)) {}
  /// Updates the tracks (see Tracks::follow).
  [[nodiscard]] std::vector<TrackStep> follow(const std::vector<SeenHalo>& now,
                                              const std::vector<SharedCells>& shared) {
    return tracks_.follow(now, shared);
  }
  /// Writes the table of an iteration, and requests the chart of all iterations. `peaks`: columns with the positions of
  /// the halos of steps; `shared`: the column of that name.
  void write(const std::vector<TrackStep>& steps, std::vector<Column> peaks, Column shared, const CombineInput& input);

 private:
  HistoryQuery how_;
  std::string name_;
  std::int64_t last_ = -1;  ///< index of the remembered iteration
  Tracks tracks_;
};

/// Number of cells of a level that two halos share, including parts that are cells only in the other iteration.
template <class Id>
struct Overlap {
  Id before = no_cell<Id>, now = no_cell<Id>;
  std::int32_t level = 0;
  Index cells = 0;
};

/// Keeps the last analysed iteration: each server the pieces of halos or the particles that it is the keeper of, the
/// first server the peaks of halos and the tracks. The mesh may have been refined or coarsened in between: where a cell
/// was split, each of its parts counts with its own volume. An iteration that is refused, skipped or fails changes
/// nothing.
template <CellGraph Graph>
class HaloHistory {
 public:
  using Id = typename Graph::Id;
  using Pieces = std::vector<HaloPiece<typename Graph::Piece, Id>>;
  using Particles = std::vector<PlacedParticle<typename Graph::Location>>;

  HaloHistory(const HistoryQuery& how, const Graph& graph)
      : particles_(how.particles), graph_(graph), record_(how, graph.name()) {}

  /// Follows the halos of an iteration. Collective. `pieces`, `particles`: this server's, in halos; `halos`: this
  /// server's share, sorted over all.
  void follow(const Pieces& pieces, const std::vector<Halo<Id>>& halos, const Particles& particles,
              const CombineInput& input) {
    Communicator& servers = input.communicator;
    const typename Graph::Owners owners(graph_, servers.size());
    Pieces now = kept(pieces, owners, servers);
    std::vector<HaloMember<Id>> members;
    std::vector<SharedPair<Id>> shared;
    if (particles_) {
      members = members_of(particles, now, owners, servers);
      shared = shared_members(members_, members, servers);
      now.clear();
    } else {
      shared = shared_cells(gathered(graph_.overlaps(before_, now, owners, servers.rank()), servers));
    }
    std::vector<SeenPeak> seen;
    for (const Halo<Id>& halo : halos) {
      seen.push_back({halo.peak.id, {-1, halo.cells, halo.mass * graph_.unit_volume()}});
    }
    seen = gathered(seen, servers);
    before_ = std::move(now);
    members_ = std::move(members);
    if (servers.rank() == 0) write(std::move(seen), shared, input);
  }

 private:
  /// A halo, named by its peak. Trivially copyable; sent between servers.
  struct SeenPeak {
    Id id = no_cell<Id>;
    SeenHalo seen;
  };

  /// The pieces that this server keeps, in order.
  [[nodiscard]] Pieces kept(const Pieces& pieces, const typename Graph::Owners& owners, Communicator& servers) const {
    std::map<int, Pieces> to;
    for (const auto& one : pieces) {
      for (const int server : owners.keepers_of(one.piece)) to[server].push_back(one);
    }
    Pieces kept = exchanged(to, servers);
    std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.piece.before(b.piece); });
    return kept;
  }
  [[nodiscard]] std::vector<HaloMember<Id>> members_of(const Particles& particles, const Pieces& now,
                                                       const typename Graph::Owners& owners,
                                                       Communicator& servers) const {
    std::map<int, Particles> to;
    for (const auto& one : particles) to[owners.home_of(one.cell)].push_back(one);
    const typename Graph::HaloLookup lookup(graph_, now);
    std::vector<HaloMember<Id>> members;
    for (const auto& one : exchanged(to, servers)) {
      const Id halo = lookup.halo_at(one.cell);
      if (no_cell<Id> < halo) members.push_back({one.id, halo, one.weight});
    }
    return dealt_by_number(members, servers);
  }
  /// Adds up the cells of each pair and their volumes, exactly.
  [[nodiscard]] std::vector<SharedPair<Id>> shared_cells(std::vector<Overlap<Id>> overlaps) const {
    const auto pair = [](const Overlap<Id>& one) { return std::pair(one.before, one.now); };
    std::sort(overlaps.begin(), overlaps.end(), [&](const auto& a, const auto& b) { return pair(a) < pair(b); });
    std::vector<SharedPair<Id>> shared;
    for (std::size_t n = 0; n < overlaps.size();) {
      SharedPair<Id> one{overlaps[n].before, overlaps[n].now};
      ExactSum volume;
      for (; n < overlaps.size() && !(std::pair(one.before, one.now) < pair(overlaps[n])); ++n) {
        one.count += overlaps[n].cells;
        volume.add_product(static_cast<double>(overlaps[n].cells), graph_.volume(overlaps[n].level));
      }
      one.weight = volume.value();
      shared.push_back(one);
    }
    return shared;
  }
  /// Cells are weighed by volume unless they are all equal, and particles if they have a weight.
  [[nodiscard]] bool weighted() const { return particles_ ? particles_->weight >= 0 : !Graph::equal_cells; }
  [[nodiscard]] static Index number_of(const Id& id, const std::vector<SeenPeak>& halos) {
    return std::partition_point(halos.begin(), halos.end(), [&](const SeenPeak& one) { return one.id < id; }) -
           halos.begin();
  }

  void write(std::vector<SeenPeak> halos, const std::vector<SharedPair<Id>>& pairs, const CombineInput& input) {
    std::vector<SeenHalo> now;
    for (const SeenPeak& one : halos) now.push_back({static_cast<Index>(now.size()), one.seen.cells, one.seen.mass});
    std::vector<SharedCells> shared;
    const bool counted = particles_ || Graph::equal_cells;
    for (const SharedPair<Id>& one : pairs) {
      shared.push_back({number_of(one.before, halos_), number_of(one.now, halos), counted ? one.count : 0,
                        weighted() ? one.weight : 0});
    }
    const std::vector<TrackStep> steps = record_.follow(now, shared);
    std::vector<Id> peaks;
    std::vector<std::int64_t> counts;
    std::vector<double> volumes;
    for (const TrackStep& step : steps) {
      peaks.push_back((step.halo >= 0 ? halos : halos_)[static_cast<std::size_t>(step.seen.peak)].id);
      counts.push_back(step.shared.count);
      volumes.push_back(step.shared.weight * graph_.unit_volume());
    }
    Column column = counted ? Column{"shared", counts} : Column{"shared", volumes};
    record_.write(steps, graph_.peak_columns(peaks), std::move(column), input);
    halos_ = std::move(halos);
  }

  std::optional<ParticleQuery> particles_;
  const Graph& graph_;
  Pieces before_;                        ///< pieces that this server keeps, in order
  std::vector<HaloMember<Id>> members_;  ///< or the particles that it keeps, ascending
  std::vector<SeenPeak> halos_;          ///< halos of the previous iteration, on the first server
  TrackRecord record_;                   ///< on the first server
};

}  // namespace sidestream::halos
