#include "cosmology/halos/finder/track_record.hpp"

#include "sidestream/kit/analysis/chart.hpp"

namespace sidestream::halos {

std::vector<TrackStep> TrackRecord::follow(const std::vector<SeenHalo>& now, const std::vector<SharedCells>& shared) {
  return tracks_.follow(now, shared);
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
