// What opening a session needs: placement, output, plug-ins, errors.
#include "config/split.hpp"
#include "config/support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

OpeningConfig open(const std::string& text) { return read_opening(*parse_document(text, "run.yaml")); }

/// What check_split says of 4 ranks on 2 nodes.
std::string split_error(const std::string& placement, int ranks, int smallest_node) {
  try {
    check_split(open("placement: " + placement).placement, ranks, smallest_node);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("without sections everything has its default") {
  const OpeningConfig config = open("events: [a]");
  CHECK(config.placement.mode == PlacementMode::inline_);
  CHECK(config.placement.per_node == 1);
  CHECK(config.placement.servers == 1);
  CHECK(config.placement.buffer == 512ull << 20);
  CHECK(config.placement.when_full == WhenFull::wait);
  CHECK(config.placement.max_in_flight == 8);
  CHECK(config.placement.pretend_nodes == 0);
  CHECK(config.placement.partitioner == "block");
  CHECK(config.placement.where.text() == "run.yaml");
  CHECK(config.plugins.empty());
  CHECK(config.directory == ".");
  CHECK(config.existing == Existing::refuse);
  CHECK(!config.stop_on_error);
  CHECK(config.drain_limit == 60);
  CHECK(config.timings);
}

TEST_CASE("every option of opening arrives") {
  const OpeningConfig config = open(
      "placement: {mode: nodes, servers: 3, buffer: 1 GiB, when_full: skip, max_in_flight: 64, "
      "pretend_nodes: 2}\n"
      "output: {directory: out, existing: resume, timings: false}\n"
      "plugins:\n  - ./a.so\n  - b.so\n"
      "on_error: stop\ndrain_limit: 2.5\n");
  CHECK(config.placement.mode == PlacementMode::nodes);
  CHECK(config.placement.servers == 3);
  CHECK(config.placement.buffer == 1ull << 30);
  CHECK(config.placement.when_full == WhenFull::skip);
  CHECK(config.placement.max_in_flight == 64);
  CHECK(config.placement.pretend_nodes == 2);
  CHECK(config.placement.where.text() == "run.yaml:1:1");
  CHECK(config.directory == "out");
  CHECK(config.existing == Existing::resume);
  CHECK(!config.timings);
  REQUIRE(config.plugins.size() == 2);
  CHECK(config.plugins[1].first == "b.so");
  CHECK(config.plugins[1].second.text() == "run.yaml:5:5");
  CHECK(config.stop_on_error);
  CHECK(config.drain_limit == 2.5);
}

TEST_CASE("the mode alone stands for the placement") {
  CHECK(open("placement: off").placement.mode == PlacementMode::off);
  CHECK(open("placement: cores").placement.mode == PlacementMode::cores);
  CHECK(open("placement: inline").placement.mode == PlacementMode::inline_);
  CHECK(open("output: {existing: replace}\nplugins: one.so").existing == Existing::replace);
  CHECK(open("plugins: one.so").plugins.at(0).second.text() == "run.yaml:1:10");
}

TEST_CASE("off may be switched on and off by one word") {
  CHECK(open("placement: {mode: off, per_node: 2, servers: 4}").placement.mode == PlacementMode::off);
}

TEST_CASE("opening does not need parameters of the program, and may use those of the file") {
  CHECK(open("placement: {mode: cores, per_node: $p}\nparameters: {p: 2}").placement.per_node == 2);
  CHECK(open("meshes: {grid: {size: [$nx]}}").placement.per_node == 1);
  const std::string text = "placement: {mode: cores, per_node: $n}";
  CHECK(error_of(text) ==
        "run.yaml:1:36: found $n for 'per_node', which is needed before the program can set it (known "
        "here: none); write a number, or give n a value under 'parameters:'");
}

TEST_CASE("wrong sections, placements and outputs") {
  const std::vector<BadCase> cases{
      {"placment: off", "1:1", "found the unknown section 'placment'", "did you mean 'placement'?"},
      {"analysis: []", "1:1", "expected one of placement, parameters, meshes", "did you mean 'analyses'?"},
      {"everything: 1", "1:1", "found the unknown section 'everything'", "correct or remove it"},
      {"placement: core", "1:12", "found 'core' for 'mode', expected one of inline, cores, nodes, ",
       "did you mean 'cores'?"},
      {"placement: true", "1:12", "found 'true' for 'mode'", "write one of them"},
      {"placement: [cores]", "1:12", "found a list for 'placement', expected a map", "write 'name: value' pairs"},
      {"placement: {mod: cores}", "1:13", "found the unknown option 'mod' of 'placement'", "did you mean 'mode'?"},
      {"placement: {mode: [cores]}", "1:19", "found a list for 'mode'", "write a single value"},
      {"placement:\n  mode:\n", "2:3", "found nothing for 'mode'", "write one or remove the line"},
      {"placement: {mode: nodes, per_node: 2}", "1:36", "found 'per_node' with the mode 'nodes'", "write 'servers'"},
      {"placement: {mode: cores, servers: 2}", "1:35", "found 'servers' with the mode 'cores'", "write 'per_node'"},
      {"placement: {servers: 2}", "1:22", "found 'servers' with the mode 'inline'", "remove it"},
      {"placement: {mode: inline, per_node: 2}", "1:37", "found 'per_node' with the mode 'inline'", "remove it"},
      {"placement: {mode: cores, per_node: 0}", "1:36",
       "found '0' for 'per_node', expected a whole number from 1 to 1024", "change it"},
      {"placement: {mode: cores, per_node: 1.5}", "1:36", "found '1.5' for 'per_node'", "without fraction"},
      {"placement: {mode: cores, per_node: two}", "1:36", "where 'two' cannot be read", "expected a number"},
      {"placement: {mode: nodes, servers: -1}", "1:35", "found '-1' for 'servers'", "change it"},
      {"placement: {buffer: 512 MegaByte}", "1:21", "found '512 MegaByte' for 'buffer'", "such as '64 MiB'"},
      {"placement: {buffer: 1 KiB}", "1:21", "expected an amount of memory at least 64 KiB", "change it"},
      {"placement: {when_full: block}", "1:24", "found 'block' for 'when_full', expected one of wait, skip",
       "write one"},
      {"placement: {max_in_flight: 65}", "1:28", "expected a whole number from 1 to 64", "change it"},
      {"placement: {max_in_flight: 0}", "1:28", "expected a whole number from 1 to 64", "change it"},
      {"placement: {mode: nodes, partitioner: blok}", "1:39",
       "found the unknown partitioner 'blok', expected one of block", "did you mean 'block'?"},
      {"output: results", "1:9", "found 'results' for 'output', expected a map", "directory, existing, timings"},
      {"output: {directory: ''}", "1:21", "found an empty 'directory'", "write '.'"},
      {"output: {existing: overwrite}", "1:20", "expected one of refuse, replace, resume", "write one of them"},
      {"output: {timings: yes}", "1:19", "found 'yes' for 'timings', expected true or false", "write true or false"},
      {"on_error: abort", "1:11", "expected one of report, stop", "write one of them"},
      {"drain_limit: -1", "1:14", "found '-1' for 'drain_limit', expected a number at least 0", "change it"},
      {"drain_limit: 60 s", "1:17", "where 's' cannot be read", "expected a number"},
      {"drain_limit:", "1:1", "found nothing for 'drain_limit'", "write one or remove the line"},
      {"plugins: {a: b}", "1:10", "found a map for 'plugins'", "write a single value"},
      {"plugins: [[a]]", "1:11", "found a list for 'plugins'", "write a single value"},
      {"parameters: [1]", "1:13", "found a list for 'parameters'", "write 'parameters: {nx: 64}'"},
      {"parameters: {n: many}", "1:17", "found 'many' for the parameter 'n'", "expected a number"},
      {"parameters: {n: [1]}", "1:17", "found a list for the parameter 'n'", "write 'n: 64'"},
      {"parameters: {n-x: 1}", "1:14", "found '-' in the parameter name 'n-x'", "rename it"},
      {"parameters: {2n: 1}", "1:14", "found the parameter name '2n', expected a letter or _ first", "rename it"},
  };
  for (const BadCase& bad : cases) check_bad(bad);
}

TEST_CASE("a split that leaves no client") {
  CHECK(split_error("{mode: cores, per_node: 1}", 4, 2) == "no error");
  CHECK(
      split_error("{mode: cores, per_node: 2}", 4, 2).find("run.yaml:1:1: found per_node 2 and a node with 2 ranks") ==
      0);
  CHECK(split_error("{mode: nodes, servers: 3}", 4, 2) == "no error");
  CHECK(split_error("{mode: nodes, servers: 4}", 4, 2).find("run.yaml:1:1: found 4 servers and 4 ranks in all") == 0);
  CHECK(split_error("inline", 1, 1) == "no error");
  CHECK(split_error("off", 1, 1) == "no error");
}
