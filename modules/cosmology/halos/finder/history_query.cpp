#include "cosmology/halos/finder/history_query.hpp"

#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream::halos {

Option history_option() {
  Option option{.name = "history",
                .type = OptionType::map,
                .text =
                    "Halos over time: each is matched with halos of the last analysed iteration by the cells, or the "
                    "particles, that they share."};
  option.options = {
      file_option(
          "halo-history.csv",
          "The table: a row for each halo, with the `track` that it is on, and one for each track that has ended. "
          "`event` is `first`, `birth`, `goes-on`, `merger`, `split`, `death` or `merged`; `other_track` the "
          "one that it split from or merged into; `shared` how many cells, or particles, it has "
          "in common with its main progenitor, or with the halo that it split from or merged into (on "
          "levels of cells the volume); "
          "`previous_iteration` the one that was compared with."),
      {.name = "tracks",
       .type = OptionType::integer,
       .default_value = "24",
       .text = "Number of tracks in the chart; the heaviest ones are shown.",
       .minimum = 1,
       .maximum = 1000},
      chart_option(
          "image",
          "A chart of all iterations so far, with a line for each track, which ends at the track that it merged into.",
          "{label}: halos over time    time {time:#.5g}    cycle {cycle}")};
  for (Option& one : particle_options()) option.options.push_back(std::move(one));
  return option;
}

std::optional<HistoryQuery> read_history(const Settings& all, const Metadata& metadata, const Variable& density) {
  if (!all.has("history")) return std::nullopt;
  const Settings settings = all.map("history");
  if (settings.given("tracks") && !settings.has("image")) {
    settings.fail("tracks",
                  "found 'tracks' without `image`, the chart that shows them, expected both; add it or remove "
                  "this");
  }
  return HistoryQuery{settings.text("file"), read_chart(settings), settings.integer<int>("tracks"),
                      read_particle_query(settings, metadata, density)};
}

}  // namespace sidestream::halos
