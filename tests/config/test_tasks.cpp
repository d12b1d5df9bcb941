// Analyses and outputs in a configuration: kinds, schedules, names, files, events.
#include "config/support.hpp"
#include "config/tasks/tasks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const std::string declarations = "meshes: {grid: {size: 4}}\nvariables: {t: {mesh: grid}}\n";

Config tasks(const std::string& analyses) { return read(declarations + analyses); }

BadCase bad(const std::string& text, const std::string& place, const std::string& problem, const std::string& remedy) {
  return {declarations + text, place, problem, remedy};
}

}  // namespace

TEST_CASE("analyses come before outputs, each in the file's order") {
  const Config config = tasks("outputs:\n  - hdf5: {every: 10}\nanalyses:\n  - volume\n  - histogram: {variable: t}\n");
  REQUIRE(config.tasks.size() == 3);
  CHECK(config.tasks[0].kind == "volume");
  CHECK(!config.tasks[0].writer);
  CHECK(config.tasks[1].kind == "histogram");
  CHECK(config.tasks[2].kind == "hdf5");
  CHECK(config.tasks[2].writer);
  CHECK(config.tasks[2].schedule.every == 10);
  CHECK(config.tasks[1].settings.text("variable") == "t");
  CHECK(config.tasks[1].settings.where().text() == "run.yaml:7:5");
}

TEST_CASE("the event with the times of levels is one that a program may signal") {
  const Config config = tasks("outputs:\n  - hdf5: {level_times: clocks}\n");
  CHECK(config.events == std::vector<std::string>{"clocks"});
}

TEST_CASE("names are given, or made to differ") {
  const Config config = tasks("analyses: [volume, volume: {name: volume-2}, volume, volume: {name: mine}, volume]");
  std::vector<std::string> names;
  for (const TaskConfig& task : config.tasks) names.push_back(task.name);
  CHECK(names == std::vector<std::string>{"volume", "volume-2", "volume-3", "mine", "volume-4"});
}

TEST_CASE("what a file says of tasks before their kinds are known is what they are called") {
  const std::string text =
      declarations +
      "outputs:\n  - hdf5\n  - hdf5: {file: \"b-{index}.h5\", group: b}\n"
      "analyses: [volume, volume: {name: volume-2}, volume, volume: {name: mine, group: a}, volume]\n";
  const Config config = read(text);
  const std::vector<WrittenTask> written = written_tasks(*parse_document(text, "run.yaml"));
  REQUIRE(written.size() == 7);
  for (std::size_t n = 0; n < written.size(); ++n) {
    CHECK(written[n].kind == config.tasks[n].kind);
    CHECK(written[n].name == config.tasks[n].name);
    CHECK(written[n].group == (n == 3 ? "a" : n == 6 ? "b" : ""));
  }
  CHECK(written[6].where.text() == "run.yaml:5:5");
  CHECK(written_tasks(*parse_document("analyses: 3\noutputs: [{}, [1]]\n", "run.yaml")).empty());
}

TEST_CASE("schedules with bounds and events") {
  const Config config = tasks(
      "analyses:\n"
      "  - volume: {every: 5, start: 10, end: 20}\n"
      "  - volume: {every: 0.5 time, start: -1.5, end: $h}\n"
      "  - volume: {every: auto, on: dump}\n"
      "  - volume: {on: restart}\n"
      "  - volume: {every: 2 cycles, start: -10, end: -10}\n"
      "events: [checkpoint, dump]\n");
  const auto& all = config.tasks;
  CHECK(all[0].schedule.unit == Schedule::Unit::iterations);
  CHECK(all[0].schedule.start == 10);
  CHECK(all[0].schedule.end == 20);
  CHECK(all[1].schedule.unit == Schedule::Unit::time);
  CHECK(all[1].schedule.start == -1.5);
  CHECK(all[1].schedule.end == 0.5);
  CHECK(all[2].schedule.unit == Schedule::Unit::automatic);
  CHECK(all[2].schedule.event == "dump");
  CHECK(all[3].schedule.every == 1);
  CHECK(!all[3].schedule.start);
  CHECK(all[4].schedule.end == -10);
  CHECK(config.events == std::vector<std::string>{"checkpoint", "dump", "restart"});
}

TEST_CASE("tables of single iterations may be data sets") {
  CHECK_NOTHROW(tasks("analyses: [histogram: {variable: t, file: 'h-{index}.dat'}]"));
}

TEST_CASE("sections without entries") {
  CHECK(read("analyses:\noutputs:\nmeshes:\nvariables:\nparameters:\n").tasks.empty());
  CHECK(read("analyses: []").tasks.empty());
}

TEST_CASE("what the program sets wins over the file's parameters") {
  const Config config = read("parameters: {n: 100, m: 3}\nmeshes: {grid: {size: [$n, $m]}}");
  CHECK(config.metadata.meshes.at(0).cells == Box{{0, 0, 0}, {8, 3, 1}});
}

TEST_CASE("tasks that are wrong in themselves") {
  const std::vector<BadCase> cases{
      bad("analyses: {volume: {}}", "3:11", "found a map for 'analyses', expected a list",
          "begin each entry with '- '"),
      bad("analyses: volume", "3:11", "found 'volume' for 'analyses'", "begin each entry"),
      bad("analyses:\n  -\n  - volume\n", "4:3", "found nothing as an entry of 'analyses'", "write '- KIND: {...}'"),
      bad("analyses: [[volume]]", "3:12", "found a list as an entry of 'analyses'", "write '- KIND"),
      bad("analyses:\n  - histogram:\n    variable: t\n", "5:5", "found 'variable' beside 'histogram' in one entry",
          "indent the options of 'histogram' below it"),
      bad("analyses:\n  - histgram: {variable: t}\n", "4:5",
          "found the unknown analysis 'histgram', expected one of histogram, probe, volume",
          "did you mean 'histogram'?"),
      bad("analyses: [movie]", "3:12", "found the unknown analysis 'movie'",
          "name the library that has it under 'plugins:'"),
      bad("analyses: [halos]", "3:12",
          "found 'halos', which the module sidestream_cosmology has, and that is not loaded",
          "or build Sidestream with SIDESTREAM_WITH_COSMOLOGY=ON"),
      bad("outputs: [hdf4: {}]", "3:11", "found the unknown output 'hdf4', expected one of hdf5",
          "did you mean 'hdf5'?"),
      bad("outputs: [volume]", "3:11", "found the analysis 'volume' under 'outputs:'", "move it to 'analyses:'"),
      bad("analyses: [hdf5: {}]", "3:12", "found the output 'hdf5' under 'analyses:'", "move it to 'outputs:'"),
      bad("analyses: [histogram: {}]", "3:12", "found no 'variable' for the analysis 'histogram'",
          "add 'variable: ...'"),
      bad("analyses: [histogram]", "3:12", "found no 'variable' for the analysis 'histogram'", "add 'variable: ...'"),
      bad("analyses: [histogram: 5]", "3:23", "found '5' for the analysis 'histogram', expected a map",
          "write 'name: value'"),
      bad("analyses: [volume: {every: 0}]", "3:28",
          "found '0' for 'every', expected a whole number of iterations, at least 1", "write one"),
      bad("analyses: [volume: {every: -5}]", "3:28", "expected a whole number of iterations", "write one"),
      bad("analyses: [volume: {every: 2.5}]", "3:28", "expected a whole number of iterations", "write one"),
      bad("analyses: [volume: {every: 0.5 cycles}]", "3:28", "expected a whole number of cycles", "write one"),
      bad("analyses: [volume: {every: 5 cycels}]", "3:28", "expected a schedule such as 5", "did you mean 'cycles'?"),
      bad("analyses: [volume: {every: [5]}]", "3:28", "found a list for 'every'", "write a single value"),
      bad("analyses: [volume: {start: 10, end: 5}]", "3:37", "found the end 5 before the start 10",
          "exchange or correct"),
      bad("analyses: [volume: {start: 0.5}]", "3:28",
          "found 0.5 for 'start', expected a whole number because 'every' counts "
          "iterations",
          "give 'every' in time or seconds"),
      bad("analyses: [volume: {every: 2 cycles, end: 0.5}]", "3:43", "because 'every' counts cycles", "write one"),
      bad("analyses: [volume: {end: -1}]", "3:26", "found -1 for 'end', expected at least 0", "correct or remove it"),
      bad("analyses: [volume: {start: soon}]", "3:28", "where 'soon' cannot be read", "expected a number"),
      bad("analyses: [volume: {on: ''}]", "3:25", "found an empty 'on'", "write one or remove it"),
      bad("analyses: [volume: {name: ''}]", "3:27", "found an empty 'name'", "write one or remove it"),
  };
  for (const BadCase& one : cases) check_bad(one);
}

TEST_CASE("tasks that are wrong in each other's company") {
  const std::string first = "analyses:\n  - histogram: {variable: t, file: a.csv}\n";
  const std::vector<BadCase> cases{
      bad("analyses:\n  - volume: {name: x}\n  - volume: {name: x}\n", "5:20",
          "found the name 'x' a second time (first in line 4)", "rename one"),
      bad(first + "  - histogram: {variable: t, file: a.csv}\n", "5:36",
          "found the file name 'a.csv' of 'histogram-2', which 'histogram' in line 4 writes too", "another 'file'"),
      bad(first + "  - histogram: {variable: t, file: ./b/../a.csv}\n", "5:36",
          "which 'histogram' in line 4 writes too", "another 'file'"),
      bad("analyses:\n  - histogram: {variable: t}\n  - histogram: {variable: t}\n", "5:5",
          "found the file name 'histogram.csv' of 'histogram-2'", "another 'file'"),
      bad("analyses:\n  - histogram: {variable: t, file: timings-clients.csv}\n", "4:36",
          "found the file name 'timings-clients.csv', which Sidestream itself uses", "choose one"),
      bad("analyses:\n  - histogram: {variable: t, file: ./endpoint-iterations.csv}\n", "4:36",
          "which Sidestream itself uses", "choose one"),
      bad("outputs: [hdf5, hdf5: {name: more}]", "3:17", "found the file name 'fields-{index:06}.h5' of 'more'",
          "another 'file'"),
      bad("outputs: [hdf5, hdf5: {name: more, file: 'fields_{cycle}.h5'}]", "3:42",
          "would share the index 'fields.h5.series' with 'fields-{index:06}.h5' of 'hdf5'", "differ in more than the"),
      bad("analyses:\n  - probe: {file: 'a-{index}.vtp'}\n"
          "  - histogram: {variable: t, file: 'a-{index}.csv'}\n  - probe: {file: 'b/../a0.vtp'}\n"
          "  - probe: {file: 'a{cycle}.vtp'}\n",
          "7:19", "would share the index 'a.vtp.series' with 'a-{index}.vtp' of 'probe' in line 4", "another 'file'"),
      bad(first + "  - histogram: {variable: t, file: 'a{index}.csv'}\n  - histogram: {variable: t, file: a3.csv}\n",
          "6:36", "in iteration 3 is the file 'a3.csv', as is 'a{index}.csv'", "another 'file'"),
      bad("output: {existing: resume}\nanalyses:\n  - histogram: {variable: t, file: 'h-{index:04}.csv'}\n", "5:36",
          "found the file name 'h-{index:04}.csv' of 'histogram' with output.existing: resume",
          "use {cycle} as in 'h-{cycle:04}.csv'"),
  };
  for (const BadCase& one : cases) check_bad(one);
}

TEST_CASE("at most 64 events") {
  std::string events = "events: [e0";
  for (int n = 1; n < 64; ++n) events += ", e" + std::to_string(n);
  CHECK(read(events + ", e0, e63]").events.size() == 64);
  CHECK(error_of(events + ", one_more]").find("found the event 'one_more' after 64 others") != std::string::npos);
  CHECK(error_of(events + "]\nanalyses:\n  - volume: {on: late}\n").find("run.yaml:3:18: found the event 'late'") == 0);
  check_bad({"events: ['']", "1:10", "found an empty event name", "remove it"});
}
