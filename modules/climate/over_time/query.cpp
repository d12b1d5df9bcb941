#include "climate/over_time/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sidestream/extend/option_table.hpp"

namespace sidestream::over_time {

namespace {

const std::vector<std::pair<std::string, Statistic>>& names_of_statistics() {
  static const std::vector<std::pair<std::string, Statistic>> names{
      {"mean", Statistic::mean},       {"minimum", Statistic::minimum},
      {"maximum", Statistic::maximum}, {"variance", Statistic::variance},
      {"sum", Statistic::sum},         {"standard_deviation", Statistic::standard_deviation},
      {"count", Statistic::count}};
  return names;
}

const OptionTable<Query>& options() {
  static const OptionTable<Query> table{
      option("variables", &Query::variables,
             "The variables, on one mesh. An iteration without one of them does not count.",
             {.required = true, .least_entries = 1}),
      option<OptionType::choice>(
          "statistics", &Query::statistics,
          "The statistics of each value: `mean`, `minimum`, `maximum`, `variance` and `standard_deviation` (of the whole "
          "population, divided by the sum of weights), `sum`, and `count`, the number of iterations that counted. "
          "Default: `mean`, unless there are `quantiles`.",
          {.choices = names_of_statistics()}),
      option("quantiles", &Query::quantiles,
             "Quantiles of each value, from 0 to 1, interpolated between the two nearest of the window, which the "
             "servers hold. Their names are `q50`, `q99_9`.",
             {.minimum = 0, .maximum = 1}),
      option("window", &Query::window,
             "The length of a window, in the words of `every`: `10` iterations, `10 cycles`, or `0.5 time`.",
             {.required = true}),
      option<OptionType::choice>(
          "weight", &Query::by_time,
          "The weight of an iteration: the same for all (`count`), or the time since the one before (`time`).",
          {.standard = "count", .choices = {{"count", false}, {"time", true}}}),
      option<OptionType::choice>(
          "nan", &Query::skip_nan,
          "Values that are NaN: the result is NaN, too (`propagate`), or they do not count (`skip`).",
          {.standard = "propagate", .choices = {{"propagate", false}, {"skip", true}}}),
      option<OptionType::choice>("partial", &Query::write_partial,
                                 "The window that the end of the run leaves incomplete: `write` or `drop`.",
                                 {.standard = "drop", .choices = {{"drop", false}, {"write", true}}}),
      option<OptionType::bytes>(
          "memory", &Query::memory,
          "The most that a server may keep. An iteration that needs more fails. Default: no limit."),
      option("states", &Query::states,
             "The number of states that are kept for runs that go on; 0: none, such runs then begin a new window.",
             {.standard = 2, .minimum = 0, .maximum = 1000})};
  return table;
}

/// `q50`, `q99_9`: percent, with a point that names may have.
std::string quantile_name(double quantile) {
  std::string name = fmt::format("q{:.10g}", 100 * quantile);
  std::ranges::replace(name, '.', '_');
  return name;
}

/// The window, aligned with `start` if that counts in the same unit.
WindowRule read_rule(const Settings& settings, const Query& query) {
  const std::optional<WindowRule> parsed = WindowRule::parsed(query.window);
  if (!parsed) {
    options().fail(settings, &Query::window,
                   fmt::format("found '{}' for 'window', expected a number of iterations, cycles or time; write '10', "
                               "'10 cycles' or '0.5 time'",
                               query.window));
  }
  WindowRule rule = *parsed;
  rule.by_time = query.by_time;
  const std::optional<WindowRule> every =
      settings.has("every") ? WindowRule::parsed(settings.text("every")) : std::nullopt;
  if (!every || every->unit != rule.unit) return rule;
  rule.step = rule.unit == WindowRule::Unit::time ? 0 : every->length;
  if (settings.has("start")) rule.start = settings.real("start");
  if (every->length <= rule.length) return rule;
  options().fail(
      settings, &Query::window,
      fmt::format("found the window '{}' with 'every: {}', expected one that is at least as long; lengthen the "
                  "window or lower 'every'",
                  query.window, settings.text("every")));
}

std::vector<Output> outputs_of(const Query& query) {
  std::vector<Output> outputs;
  for (const auto& [name, statistic] : names_of_statistics()) {
    const bool standard = statistic == Statistic::mean && query.statistics.empty() && query.quantiles.empty();
    if (standard || std::ranges::count(query.statistics, statistic) > 0) outputs.push_back({statistic, 0, name});
  }
  for (const double quantile : query.quantiles) {
    outputs.push_back({Statistic::quantile, quantile, quantile_name(quantile)});
  }
  return outputs;
}

void check_quantiles(const Settings& settings, const Query& query) {
  std::map<std::string, double> known;
  for (const double quantile : query.quantiles) {
    const auto [first, is_new] = known.emplace(quantile_name(quantile), quantile);
    if (is_new) continue;
    options().fail(settings, &Query::quantiles,
                   fmt::format("found the quantiles {} and {}, which both are called '{}', expected different ones; "
                               "remove one",
                               first->second, quantile, first->first));
  }
}

void check_variables(const Settings& settings, const Query& query, const Metadata& metadata) {
  for (auto variable = query.variables.begin(); variable != query.variables.end(); ++variable) {
    const bool twice =
        std::any_of(query.variables.begin(), variable, [&](const Variable& other) { return other.id == variable->id; });
    const bool elsewhere = variable->mesh != query.variables.front().mesh;
    if (!twice && !elsewhere && variable->role == Role::none) continue;
    options().fail(
        settings, &Query::variables,
        fmt::format("found '{}', which {}, expected variables on the mesh '{}', each once; correct the list, or "
                    "use two analyses",
                    variable->name,
                    twice       ? "is named twice"
                    : elsewhere ? "lies on another mesh"
                                : "describes its mesh",
                    metadata.mesh_of(query.variables.front()).name));
  }
}

/// The words of the CF conventions, where they have one.
std::vector<Attribute> attributes_of(const Output& output) {
  if (output.statistic == Statistic::count) return {};
  if (output.statistic != Statistic::quantile) return {{"cell_methods", "time: " + output.name}};
  std::vector<Attribute> attributes{{"quantile", output.quantile}};
  if (output.quantile == 0.5) attributes.push_back({"cell_methods", std::string("time: median")});
  return attributes;
}

std::string unit_of(const Variable& variable, const Output& output) {
  if (output.statistic == Statistic::count) return "1";
  return output.statistic == Statistic::variance && !variable.unit.empty() ? "(" + variable.unit + ")2" : variable.unit;
}

Variable described(const Variable& variable, const Output& output) {
  Variable made;
  made.name = Query::array_name(variable, output);
  made.type = output.statistic == Statistic::count ? Type::int64 : Type::float64;
  made.centering = variable.centering;
  made.components = variable.components;
  made.order = variable.order;
  made.unit = unit_of(variable, output);
  made.label = variable.title() + ", " + output.name;
  made.group = variable.group;
  made.attributes = attributes_of(output);
  return made;
}

}  // namespace

Needed Query::needs() const {
  Needed needs;
  for (const Output& output : outputs) {
    needs.mean |= output.statistic == Statistic::mean;
    needs.spread |= output.statistic == Statistic::variance || output.statistic == Statistic::standard_deviation;
    needs.low |= output.statistic == Statistic::minimum;
    needs.high |= output.statistic == Statistic::maximum;
    needs.sum |= output.statistic == Statistic::sum;
    needs.held |= output.statistic == Statistic::quantile;
  }
  needs.skip_nan = skip_nan;
  needs.weighted = by_time;
  return needs;
}

std::string Query::fingerprint() const {
  std::string text = fmt::format("2 {} {} {} {} {}", window, rule.start, rule.step, by_time, skip_nan);
  for (const Variable& variable : variables) {
    text += fmt::format(" {}:{}:{}:{}", variable.name, static_cast<int>(variable.centering), variable.components,
                        static_cast<int>(variable.order));
  }
  for (const Output& output : outputs) text += " " + output.name;
  return text;
}

std::vector<Option> query_options() { return options().declarations(); }

Query read_query(const Settings& settings, const Metadata& metadata) {
  Query query = options().read(settings, metadata);
  check_variables(settings, query, metadata);
  check_quantiles(settings, query);
  if (query.by_time && !query.quantiles.empty()) {
    options().fail(
        settings, &Query::quantiles,
        "found 'quantiles' with 'weight: time', expected 'weight: count', since they have no weights; use two "
        "analyses");
  }
  if (!settings.given("makes")) {
    options().fail(settings, &Query::window,
                   "found 'time_statistics' without 'makes', expected the name of the mesh that has its results, for "
                   "outputs and other analyses; add 'makes: NAME'");
  }
  query.makes = settings.text("makes");
  query.rule = read_rule(settings, query);
  query.outputs = outputs_of(query);
  return query;
}

ResultMesh result_mesh(const Settings& settings, const Metadata& metadata) {
  const Query query = read_query(settings, metadata);
  if (metadata.find_mesh(query.makes) != nullptr) {
    settings.fail("makes",
                  fmt::format("found 'makes: {}', the name of a declared mesh, expected another one: the result "
                              "lies on a copy of the variables' mesh; choose another name",
                              query.makes));
  }
  const Mesh& mesh = metadata.mesh_of(query.variables.front());
  ResultMesh made{mesh, {}};
  made.mesh.fixed = false;
  made.mesh.arrays.fill(-1);
  for (const std::int32_t id : mesh.arrays) {
    if (id < 0) continue;
    const Variable& array = metadata.variables.at(static_cast<std::size_t>(id));
    Variable& copy = made.variables.emplace_back();
    copy.role = array.role;
    copy.type = array.type;
    copy.components = array.components;
    copy.order = array.order;
    copy.centering = array.centering;
  }
  for (const Variable& variable : query.variables) {
    for (const Output& output : query.outputs) made.variables.push_back(described(variable, output));
  }
  return made;
}

}  // namespace sidestream::over_time
