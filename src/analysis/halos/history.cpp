#include "analysis/halos/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/common_options.hpp"
#include "analysis/halos/chart.hpp"
#include "analysis/rendering/scene.hpp"

namespace sidestream::halos {
namespace {

/// What all servers have of records, in the order of ranks; on the first one alone.
template <class Record>
std::vector<Record> gathered(const std::vector<Record>& mine, Communicator& servers) {
  std::vector<Record> all;
  for (const Bytes& bytes : servers.gather(std::as_bytes(std::span(mine)), 0)) {
    const auto some = records_of<Record>(bytes);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// Pairs that occur several times become one.
std::vector<SharedCells> added_up(const std::vector<SharedCells>& parts) {
  std::map<std::array<Index, 2>, Index> sums;
  for (const SharedCells& part : parts) sums[{part.before, part.now}] += part.cells;
  std::vector<SharedCells> all;
  for (const auto& [pair, cells] : sums) all.push_back({pair[0], pair[1], cells});
  return all;
}

}  // namespace

void HaloHistory::follow(const std::vector<OwnedRun>& runs, const std::vector<Halo>& halos,
                         const std::vector<PlacedParticle>& particles, const CombineInput& input) {
  Communicator& servers = input.communicator;
  std::vector<OwnedRun> now = kept_rows(runs, servers);
  std::vector<HaloMember> members;
  std::vector<SharedCells> shared;
  if (how_.particles) {
    members = members_of(particles, now, lattice_, servers);
    shared = shared_members(members_, members, how_.particles->weight >= 0, servers);
    now.clear();
  } else {
    shared = added_up(gathered(shared_with(now), servers));
  }
  std::vector<SeenHalo> seen;
  for (const Halo& halo : halos) seen.push_back({halo.peak.id, halo.cells, halo.mass * volume_});
  seen = gathered(seen, servers);
  before_ = std::move(now);
  members_ = std::move(members);
  if (servers.rank() == 0) {
    const std::vector<TrackStep> steps = tracks_.follow(seen, shared);
    const Table table = table_of(steps);
    last_ = input.iteration.index;
    input.results.add(how_.file, table);
    if (!how_.chart) return;
    remember(steps, input.iteration.time);
    draw(input);
  }
}

std::vector<OwnedRun> HaloHistory::kept_rows(const std::vector<OwnedRun>& runs, Communicator& servers) const {
  std::map<int, std::vector<OwnedRun>> to;
  for (const OwnedRun& one : runs) to[lattice_.keeper(one.run.row, servers.size())].push_back(one);
  std::vector<MemberMessage> messages;
  for (const auto& [server, some] : to) messages.push_back({server, bytes_of(some)});
  std::vector<OwnedRun> kept;
  for (const MemberMessage& message : servers.exchange(std::move(messages))) {
    const auto some = records_of<OwnedRun>(message.bytes);
    kept.insert(kept.end(), some.begin(), some.end());
  }
  std::sort(kept.begin(), kept.end(), [](const OwnedRun& a, const OwnedRun& b) {
    return a.run.row != b.run.row ? a.run.row < b.run.row : a.run.first < b.run.first;
  });
  return kept;
}

std::vector<SharedCells> HaloHistory::shared_with(const std::vector<OwnedRun>& now) const {
  std::vector<SharedCells> shared;
  std::size_t b = 0;
  for (const OwnedRun& one : now) {
    const auto earlier = [&](const OwnedRun& other) {
      return other.run.row != one.run.row ? other.run.row < one.run.row : other.run.last < one.run.first;
    };
    while (b < before_.size() && earlier(before_[b])) ++b;
    for (std::size_t n = b; n < before_.size() && before_[n].run.row == one.run.row; ++n) {
      const Run& other = before_[n].run;
      if (other.first > one.run.last) break;
      const Index cells = std::min(other.last, one.run.last) - std::max(other.first, one.run.first) + 1;
      shared.push_back({before_[n].owner, one.owner, cells});
    }
  }
  return added_up(shared);
}

Table HaloHistory::table_of(const std::vector<TrackStep>& steps) const {
  std::vector<std::int64_t> tracks, halos, peaks, cells, progenitors, others, shared;
  std::vector<std::string> events;
  std::vector<double> masses;
  for (const TrackStep& step : steps) {
    tracks.push_back(step.track);
    events.emplace_back(name_of(step.event));
    halos.push_back(step.halo);
    peaks.push_back(step.seen.peak);
    cells.push_back(step.seen.cells);
    masses.push_back(step.seen.mass);
    progenitors.push_back(step.progenitors);
    others.push_back(step.other);
    shared.push_back(step.shared.cells);
  }
  return Table({{"track", tracks},
                {"event", events},
                {"halo", halos},
                {"peak_index", peaks},
                {"cells", cells},
                {"mass", masses},
                {"progenitors", progenitors},
                {"other_track", others},
                {"shared", shared},
                {"previous_iteration", std::vector<std::int64_t>(steps.size(), last_)}});
}

void HaloHistory::remember(const std::vector<TrackStep>& steps, double time) {
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
std::vector<std::int64_t> HaloHistory::lanes() const {
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

void HaloHistory::draw(const CombineInput& input) const {
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

Option history_option() {
  Option option{
      .name = "history",
      .type = OptionType::map,
      .text =
          "Halos over time: each is matched with those of the last iteration that was analysed, by the cells, "
          "or the particles, that they share."};
  option.options = {
      file_option(
          "halo-history.csv",
          "The table: a row for each halo, with the `track` that it is on, and one for each track that has ended. "
          "`event` is `first`, `birth`, `goes-on`, `merger`, `split`, `death` or `merged`; `other_track` the "
          "one that it split from or merged into; `shared` how many cells, or particles, it has "
          "in common with its main progenitor, or with the halo that it split from or merged into; "
          "`previous_iteration` the one that was compared with."),
      {.name = "tracks",
       .type = OptionType::integer,
       .default_value = "24",
       .text = "How many tracks the chart shows, the heaviest ones.",
       .minimum = 1,
       .maximum = 1000},
      chart_option(
          "A chart of all iterations so far: a line for each track, which ends at the one that it merged into.",
          "{label}: halos over time    time {time:#.5g}    cycle {cycle}")};
  for (Option& one : particle_options()) option.options.push_back(std::move(one));
  return option;
}

std::optional<HistoryQuery> read_history(const Settings& all, const Metadata& metadata, const Field& field) {
  if (!all.has("history")) return std::nullopt;
  const Settings settings = all.map("history");
  return HistoryQuery{settings.text("file"), read_chart(settings), settings.integer<int>("tracks"),
                      read_particle_query(settings, metadata, field)};
}

}  // namespace sidestream::halos
