#include "config/sections.hpp"

#include "config/config.hpp"
#include "config/expressions/derived_section.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

Section output_section() {
  Option output{.name = "output", .type = OptionType::map, .default_value = "{}"};
  output.text = "Where results go.";
  output.options = output_options().declarations();
  return {
      "output", SectionForm::option, "Where results go.", "output: {directory: results, existing: resume}", {output}};
}

Section parameters_section() {
  return {"parameters",
          SectionForm::option,
          "Values of $names in the file, for those the program does not set; a value that the program sets wins. "
          "Numbers in the file may be expressions of $names with + - * / and parentheses.",
          "parameters: {nx: 128, h: 0.01}",
          {}};
}

std::vector<Section> all_sections() {
  const Option plugins{.name = "plugins",
                       .type = OptionType::text,
                       .list = true,
                       .text = "Paths of the libraries.",
                       .range_text = path_range};
  const Option events{.name = "events",
                      .type = OptionType::text,
                      .list = true,
                      .text =
                          "Names that the program may signal, besides those that tasks mention with `on`. At most 64 "
                          "in all."};
  const Option encoding{.name = "encoding",
                        .type = OptionType::choice,
                        .default_value = "utf-8",
                        .text =
                            "Encoding of units, labels, groups and attributes in the program's calls. `latin-1`: "
                            "those that are not UTF-8 are ISO 8859-1, and are converted. Names of meshes, variables "
                            "and parameters are always UTF-8, as this file is.",
                        .choices = {"utf-8", "latin-1"}};
  return {
      placement_section(),
      parameters_section(),
      meshes_section(),
      variables_section(),
      derived_section(),
      {"analyses",
       SectionForm::tasks,
       "The analyses of published variables, in this order.",
       "analyses:\n  - histogram: {variable: temperature, bins: 64, every: 5}",
       {}},
      {"outputs",
       SectionForm::tasks,
       "The outputs of published variables, after the analyses, in this order.",
       "outputs:\n  - hdf5: {variables: [temperature], every: 10}",
       {}},
      output_section(),
      {"plugins",
       SectionForm::option,
       "Shared libraries with analyses, outputs and formats of your own.",
       "plugins: [./libmine.so]",
       {plugins}},
      {"events", SectionForm::option, "Named signals of the program.", "events: [checkpoint]", {events}},
      steering_section(),
      {"steering_ahead", SectionForm::option, "The delay of changes of parameters.", "steering_ahead: 10",
       steering_ahead_options().declarations()},
      live_section(),
      {"encoding",
       SectionForm::option,
       "The encoding of texts in the program's calls.",
       "encoding: latin-1",
       {encoding}},
      {"on_error", SectionForm::option, "The reaction to a failed analysis or output.", "on_error: stop",
       on_error_options().declarations()},
      ending_section(),
      {"drain_limit", SectionForm::option, "The time limit for closing.", "drain_limit: 120",
       drain_limit_options().declarations()},
  };
}

const OptionTable<StripeRule>& striping_options() {
  static const OptionTable<StripeRule> table{
      option(
          "files", &StripeRule::files,
          "The files that it is for: a pattern with `*`, `?` and `[...]` for their names in the output directory, or "
          "for absolute ones. `*` also stands for '/'.",
          {.standard = "*"}),
      option("count", &StripeRule::count,
             "Number of storage targets over which a file is spread; -1: all. 0: the default of its folder.",
             {.standard = 0, .minimum = -1, .maximum = 65535}),
      option<OptionType::bytes>("size", &StripeRule::size,
                                "Bytes that go to one target before the next one. 0: the default of the folder.",
                                {.standard = "0", .minimum = 0, .maximum = 4'294'901'760.0})
          .then([](const Settings& settings, const std::string& name, const Metadata&, const StripeRule& rule) {
            if (rule.size % (1u << 16) == 0) return;
            settings.fail(
                name, fmt::format("found {} bytes, expected a multiple of 64 KiB; Lustre has no others", rule.size));
          })};
  return table;
}

const OptionTable<FileRules>& file_rules_options() {
  static const OptionTable<FileRules> table{
      option(
          "writers", &FileRules::writers,
          "The number of servers (with groups: of each group) that write their files or their pieces of a result at a "
          "time, for file systems that are slower with many writers: `hdf5`, `vtk`, `database`, and results in "
          "pieces. The others wait, and receive from their clients meanwhile. 0: all.",
          {.standard = 0, .minimum = 0}),
      option(
          "striping", &FileRules::striping,
          "The stripes of files on Lustre, set before they are written. With several entries the first one whose "
          "`files` matches counts. Without the library liblustreapi, and on other file systems, files are written as "
          "without this option, with one message.",
          {.options = striping_options()})};
  return table;
}

}  // namespace

const OptionTable<OpeningConfig>& output_options() {
  static const OptionTable<OpeningConfig> table{
      option("directory", &OpeningConfig::directory, "Folder for everything this run writes; created if missing.",
             {.standard = ".", .range_text = path_range})
          .then([](const Settings& settings, const std::string& name, const Metadata&, const OpeningConfig& config) {
            if (!config.directory.empty()) return;
            settings.fail(name, "found an empty 'directory', expected a folder; write '.' for the working directory");
          }),
      option("existing", &OpeningConfig::existing,
             "The reaction to an earlier run in the folder. `refuse`: stop with an error. `replace`: remove its files "
             "whose names this run uses, with all iterations and pieces, and overwrite the others; databases keep "
             "their content. `resume`: continue its tables and series from this run's first cycle.",
             {.standard = "refuse",
              .choices = {{"refuse", Existing::refuse}, {"replace", Existing::replace}, {"resume", Existing::resume}}}),
      option("timings", &OpeningConfig::timings, "Write `timings.csv`: the times of each rank in each iteration.",
             {.standard = true}),
      option("messages", &OpeningConfig::messages,
             "Lowest level of the messages that are also written to `messages.txt`. See "
             "[formats](formats.md#messages).",
             {.standard = "note",
              .choices = {{"note", LogLevel::note},
                          {"warning", LogLevel::warning},
                          {"error", LogLevel::error},
                          {"none", LogLevel::none}}}),
      option("fsync", &OpeningConfig::fsync,
             "Wait for the disk before a file of results gets its name. `true`: a file with its name is complete after "
             "a crash of the program and of the machine, as far as the disk keeps its promises. `false`: it is "
             "complete after a crash of the program; a crash of the machine may truncate files that were written "
             "shortly before. See [formats](formats.md#what-is-promised).",
             {.standard = true}),
      options_of(&OpeningConfig::files, file_rules_options())};
  return table;
}

const OptionTable<OpeningConfig>& on_error_options() {
  static const OptionTable<OpeningConfig> table{option<OptionType::choice>(
      "on_error", &OpeningConfig::stop_on_error,
      "`report`: a failed analysis or output is reported and the run continues. `stop`: the simulation's next end of "
      "iteration returns the error.",
      {.standard = "report", .choices = {{"report", false}, {"stop", true}}})};
  return table;
}

const OptionTable<OpeningConfig>& drain_limit_options() {
  static const OptionTable<OpeningConfig> table{
      option("drain_limit", &OpeningConfig::drain_limit,
             "Seconds that closing the session may wait for servers to finish.", {.standard = 60, .minimum = 0})};
  return table;
}

const OptionTable<Config>& steering_ahead_options() {
  static const OptionTable<Config> table{option(
      "steering_ahead", &Config::steering_ahead,
      "Number of iterations between the one in which the servers accept a change of a parameter and the one at whose "
      "end it takes effect. A client that is this far ahead of its servers waits. If left out: 0 with `inline`, "
      "otherwise `max_in_flight`; with `when_full: skip` at least 64.",
      {.minimum = 1, .maximum = 1 << 20})};
  return table;
}

const std::vector<Section>& sections() {
  static const std::vector<Section> all = all_sections();
  return all;
}

const Section& section(std::string_view name) {
  for (const Section& candidate : sections()) {
    if (candidate.name == name) return candidate;
  }
  fail(Code::internal, "there is no section '{}'", name);
}

const std::vector<Option>& task_options() {
  static const std::vector<Option> options{
      {.name = "name",
       .type = OptionType::text,
       .text = "Name in messages and timings; if left out the kind, numbered from the second on."},
      {.name = "every",
       .type = OptionType::schedule,
       .default_value = "1",
       .text =
           "Interval between runs in iterations (`5`), cycles (`10 cycles`), units of simulated time (`0.5 "
           "time`) or seconds (`30 s`). Iterations and cycles are those whose distance from `start` (0) is a "
           "multiple; for times it is the first iteration of a run in each interval. `auto`: every iteration while the "
           "servers keep up, otherwise fewer."},
      {.name = "start",
       .type = OptionType::real,
       .text = "The first iteration, cycle, simulated time or second since the start, from which intervals are "
               "counted; the unit is that of `every`."},
      {.name = "first",
       .type = OptionType::boolean,
       .default_value = "false",
       .text = "Also runs in the first iteration within `start` and `end`, even if it is not a multiple."},
      {.name = "end",
       .type = OptionType::real,
       .text = "The last iteration, cycle, time or second; the unit is that of `every`."},
      {.name = "on",
       .type = OptionType::text,
       .text = "Name of an event: it only runs in iterations in which the program signalled it."},
      {.name = "from",
       .type = OptionType::choice,
       .text =
           "With `on`: which clients must have raised the event. `one`: any of them; it runs on the blocks of the "
           "server of each client that did. `node`: all clients of a node, once more each time; it runs on the blocks "
           "of that node's servers. `all`: all clients; it runs on all blocks. If left out, one client is enough, at "
           "a barrier all, and it runs on all blocks. See [events](events.md#handlers).",
       .choices = {"one", "node", "all"},
       .with = "on"},
      {.name = "when",
       .type = OptionType::text,
       .text = "A condition: it only runs in iterations in which this holds. Comparisons of numbers, statistics of a "
               "variable such as `min`, `max`, `mean`, `sum` and `nan`, `iteration`, `cycle`, `time`, and `previous`, "
               "`change` and `rate` of these, joined with `and`, `or` and `not`. See [conditions](triggers.md)."},
      {.name = "keep_back",
       .type = OptionType::integer,
       .text =
           "With `when`, for outputs: servers keep this many of the iterations in which it was due, and write them, "
           "too, when the condition holds. See [the iterations before](triggers.md#the-iterations-before).",
       .minimum = 1,
       .maximum = 1000},
      {.name = "keep_back_memory",
       .type = OptionType::bytes,
       .default_value = "1 GiB",
       .text = "With `keep_back`: memory that the kept iterations may take on a server.",
       .minimum = 1 << 12},
      {.name = "then",
       .type = OptionType::text,
       .text =
           "With `when` or `on`: what happens after it has run. `end`: the run is told to end in order, as by a signal (see "
           "[ending](ending.md)). `NAME = VALUE`: the parameter of that name under `steering:` is set."},
      {.name = "makes",
       .type = OptionType::text,
       .text = "Name of a mesh: the result of this analysis becomes a mesh, with variables that later analyses and "
               "outputs may name. Files of the result are only written if their options are given. See "
               "[pipelines](pipelines.md)."},
      {.name = "group",
       .type = OptionType::text,
       .text = "The group in `placement.groups` whose servers run it; the first if left out. Without groups all "
               "servers run everything. See [groups of servers](groups.md)."},
      {.name = "isolate",
       .type = OptionType::choice,
       .default_value = "none",
       .text = "`process`: the part that reads the values runs in a process of its own, so that a crash, an endless "
               "loop or a leak there only costs this analysis its iteration. Only for analyses that come with "
               "Sidestream or from a plug-in. See [containment](containment.md).",
       .choices = {"none", "process"}},
      {.name = "limit",
       .type = OptionType::text,
       .text = "Time limit in an iteration: `10 s`, `500 ms`, `2 min`, `1 h`. If it is isolated, its process is ended "
               "then and the iteration of this analysis is lost; otherwise there is a warning and it continues."},
      {.name = "memory_limit",
       .type = OptionType::bytes,
       .text = "With `isolate: process`: memory that its process may allocate, including the language's runtime. "
               "More fails as on a machine without memory, and the process is replaced.",
       .minimum = 16 << 20},
  };
  return options;
}

}  // namespace sidestream
