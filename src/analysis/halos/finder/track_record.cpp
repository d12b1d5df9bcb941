#include "analysis/halos/finder/track_record.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/common/chart.hpp"
#include "graphics/annotations.hpp"

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
  remember(steps, input.iteration.time);
  draw(input);
}

void TrackRecord::remember(const std::vector<TrackStep>& steps, double time) {
  for (const TrackStep& step : steps) {
    Life& life = lives_[step.track];
    life.end = time;
    if (step.halo < 0) {
      life.ended = true;
      life.other = step.other;
      continue;
    }
    if (step.event == TrackEvent::split) life.other = -1;
    life.seen.push_back({time, step.seen.mass});
    life.most = std::max(life.most, step.seen.mass);
  }
}

/// The tracks that are drawn, from the bottom: the heaviest ones, each below those that merged into it.
std::vector<std::int64_t> TrackRecord::lanes() const {
  std::vector<std::int64_t> heaviest;
  for (const auto& [track, life] : lives_) heaviest.push_back(track);
  std::sort(heaviest.begin(), heaviest.end(), [&](std::int64_t a, std::int64_t b) {
    const double first = lives_.at(a).most, second = lives_.at(b).most;
    return first != second ? first > second : a < b;
  });
  heaviest.resize(std::min(heaviest.size(), static_cast<std::size_t>(how_.drawn)));
  std::vector<std::int64_t> lanes, stack;
  const auto is_drawn = [&](std::int64_t track) {
    return std::find(heaviest.begin(), heaviest.end(), track) != heaviest.end();
  };
  for (auto root = heaviest.rbegin(); root != heaviest.rend(); ++root) {
    const Life& life = lives_.at(*root);
    if (life.other >= 0 && is_drawn(life.other)) continue;
    stack.push_back(*root);
  }
  while (!stack.empty()) {
    const std::int64_t track = stack.back();
    stack.pop_back();
    lanes.push_back(track);
    for (auto one = heaviest.rbegin(); one != heaviest.rend(); ++one) {
      if (lives_.at(*one).other == track && *one != track) stack.push_back(*one);
    }
  }
  return lanes;
}

void TrackRecord::draw(const CombineInput& input) const {
  const std::vector<std::int64_t> tracks = lanes();
  double first = std::numeric_limits<double>::infinity(), last = -first, most = 0;
  std::map<std::int64_t, double> lane;
  for (const std::int64_t track : tracks) {
    const Life& life = lives_.at(track);
    lane[track] = static_cast<double>(lane.size()) + 0.5;
    first = std::min(first, life.seen.front()[0]);
    last = std::max(last, life.end);
    most = std::max(most, life.most);
  }
  ChartFrame frame;
  frame.width = how_.chart->width;
  frame.height = how_.chart->height;
  if (!how_.chart->caption.empty())
    frame.caption = rendering::expand_caption(how_.chart->caption, name_, input.iteration);
  frame.titles = {"time", "halos; dots grow with mass"};
  frame.ranges = {rendering::usable_range(first, last),
                  rendering::ColourRange{0, std::max(1.0, static_cast<double>(tracks.size()))}};
  frame.numbers_up = false;
  Chart chart(frame);
  const double room = std::min(26.0, 0.9 * chart.high() / std::max<double>(1, static_cast<double>(tracks.size())));
  constexpr rendering::Colour line{120, 128, 140}, joins{204, 102, 119}, dot{68, 119, 170};
  for (const std::int64_t track : tracks) {
    const Life& life = lives_.at(track);
    const double y = lane.at(track);
    chart.line(life.seen.front()[0], y, life.seen.back()[0], y, 2, line);
    if (!life.ended) continue;
    const auto into = lane.find(life.other);
    if (into != lane.end()) chart.line(life.seen.back()[0], y, life.end, into->second, 2, joins);
  }
  for (const std::int64_t track : tracks) {
    for (const auto& [time, mass] : lives_.at(track).seen) {
      const double part = most > 0 && mass > 0 ? std::cbrt(mass / most) : 0;
      chart.dot(time, lane.at(track), 2 + (room - 2) * part, dot);
    }
  }
  input.results.add(how_.chart->file, chart.take());
}

}  // namespace sidestream::halos
