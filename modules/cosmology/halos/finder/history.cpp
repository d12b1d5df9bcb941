#include "cosmology/halos/finder/history.hpp"

#include <tuple>

#include "sidestream/kit/analysis/chart.hpp"
#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream::halos {

OptionTable<HistoryQuery> history_options(const Variable& density) {
  const auto read = [density](const Settings& settings, const Metadata& metadata, const HistoryQuery&) {
    return read_particle_query(settings, metadata, density);
  };
  return OptionTable<HistoryQuery>{
      file_option(
          &HistoryQuery::file, "halo-history.csv",
          "The table: a row for each halo, with the `track` that it is on, and one for each track that has ended. "
          "`event` is `first`, `birth`, `goes-on`, `merger`, `split`, `death` or `merged`; `other_track` the "
          "one that it split from or merged into; `shared` how many cells, or particles, it has "
          "in common with its main progenitor, or with the halo that it split from or merged into (on "
          "levels of cells the volume); "
          "`previous_iteration` the one that was compared with."),
      option("tracks", &HistoryQuery::drawn, "Number of tracks in the chart; the heaviest ones are shown.",
             {.standard = 24, .minimum = 1, .maximum = 1000}),
      option(
          "image", &HistoryQuery::chart,
          "A chart of all iterations so far, with a line for each track, which ends at the track that it merged into.",
          {.options = chart_options("{label}: halos over time    time {time:#.5g}    cycle {cycle}")}),
      options_read_by(read, particle_options(), &HistoryQuery::particles)}
      .then([](const OptionTable<HistoryQuery>& options, const Settings& settings, const Metadata&,
               HistoryQuery& history) {
        if (history.chart || !options.given(settings, &HistoryQuery::drawn)) return;
        options.fail(settings, &HistoryQuery::drawn,
                     "found 'tracks' without `image`, the chart that shows them, expected both; add it or remove "
                     "this");
      });
}

void TrackRecord::write(const std::vector<TrackStep>& steps, std::vector<Column> peaks, Column shared,
                        const CombineInput& input) {
  std::vector<std::int64_t> tracks, halos, cells, progenitors, others;
  std::vector<std::string> events;
  std::vector<double> masses;
  for (const TrackStep& step : steps) {
    tracks.push_back(step.track);
    events.emplace_back(name_of(step.event));
    halos.push_back(step.halo);
    cells.push_back(step.seen.cells);
    masses.push_back(step.seen.mass);
    progenitors.push_back(step.progenitors);
    others.push_back(step.other);
  }
  std::vector<Column> columns{{"track", tracks}, {"event", events}, {"halo", halos}};
  for (Column& column : peaks) columns.push_back(std::move(column));
  columns.push_back({"cells", cells});
  columns.push_back({"mass", masses});
  columns.push_back({"progenitors", progenitors});
  columns.push_back({"other_track", others});
  columns.push_back(std::move(shared));
  columns.push_back({"previous_iteration", std::vector<std::int64_t>(steps.size(), last_)});
  last_ = input.iteration.index;
  input.results.add(how_.file, Table(std::move(columns)));
  if (!how_.chart) return;
  const std::vector<std::string> about{"--title=variable:" + name_, "--tracks=" + std::to_string(how_.drawn)};
  draw_chart(*how_.chart, how_.file, name_, about, input, true);
}

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
    return std::make_tuple(one.weight, one.count, now.at(one.now)->mass, one.now);
  };
  for (const SharedCells& one : shared) {
    const auto [at, is_new] = chosen.emplace(one.before, one);
    if (!is_new && weight(one) > weight(at->second)) at->second = one;
  }
  return chosen;
}

/// For each halo, by peak, the previous halo that shares most with it.
std::map<Index, SharedCells> Tracks::origins(const std::vector<SharedCells>& shared) const {
  std::map<Index, SharedCells> chosen;
  for (const SharedCells& one : shared) {
    const auto [at, is_new] = chosen.emplace(one.now, one);
    if (is_new) continue;
    SharedCells& best = at->second;
    const auto had = std::make_tuple(best.weight, best.count), has = std::make_tuple(one.weight, one.count);
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
