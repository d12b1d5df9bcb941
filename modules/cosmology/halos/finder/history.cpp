#include "cosmology/halos/finder/history.hpp"

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

}  // namespace sidestream::halos
