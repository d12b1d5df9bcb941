// The parts of a configuration that are read when a session opens: placement, output, plug-ins; and their errors.
#include <signal.h>

#include "config/groups.hpp"
#include "config/support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

OpeningConfig open(const std::string& text) { return read_opening(*parse_document(text, "run.yaml")); }

/// The message of check_split for a job.
std::string split_error(const std::string& placement, int ranks, int nodes) {
  try {
    check_split(open("placement: " + placement).placement, ranks, nodes);
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
  CHECK(config.placement.poll == 0.001);
  CHECK(config.placement.pretend_nodes == 0);
  CHECK(config.placement.partitioner == "block");
  CHECK(config.placement.where.text() == "run.yaml");
  CHECK(config.plugins.empty());
  CHECK(config.directory == ".");
  CHECK(config.existing == Existing::refuse);
  CHECK(!config.stop_on_error);
  CHECK(config.drain_limit == 60);
  CHECK(config.timings);
  CHECK(config.fsync);
}

TEST_CASE("spilling has a place, a size, and iterations to fill it with") {
  const OpeningConfig spill = open("placement: {mode: cores, when_full: spill}\n");
  CHECK(spill.placement.when_full == WhenFull::spill);
  CHECK(spill.placement.spill.directory.empty());
  CHECK(spill.placement.spill.size == 4ull << 30);
  CHECK(spill.placement.max_in_flight == 64);
  const OpeningConfig given = open(
      "placement: {mode: sidecar, when_full: spill, max_in_flight: 3, spill: {directory: /scratch, size: 1 MiB}}\n");
  CHECK(given.placement.spill.directory == "/scratch");
  CHECK(given.placement.spill.size == 1ull << 20);
  CHECK(given.placement.max_in_flight == 3);
  CHECK_NOTHROW(static_cast<void>(open("placement: {mode: off, when_full: spill, spill: {size: 1 MiB}}\n")));
}

TEST_CASE("every option of opening arrives") {
  const OpeningConfig config = open(
      "placement: {mode: nodes, servers: 3, buffer: 1 GiB, when_full: skip, max_in_flight: 64, "
      "poll: 0.25, pretend_nodes: 2}\n"
      "output: {directory: out, existing: resume, timings: false, fsync: false}\n"
      "plugins:\n  - ./a.so\n  - b.so\n"
      "on_error: stop\ndrain_limit: 2.5\n");
  CHECK(config.placement.mode == PlacementMode::nodes);
  CHECK(config.placement.servers == 3);
  CHECK(config.placement.buffer == 1ull << 30);
  CHECK(config.placement.when_full == WhenFull::skip);
  CHECK(config.placement.max_in_flight == 64);
  CHECK(config.placement.poll == 0.25);
  CHECK(config.placement.pretend_nodes == 2);
  CHECK(config.placement.where.text() == "run.yaml:1:1");
  CHECK(config.directory == "out");
  CHECK(config.existing == Existing::resume);
  CHECK(!config.timings);
  CHECK(!config.fsync);
  REQUIRE(config.plugins.size() == 2);
  CHECK(config.plugins[1].first == "b.so");
  CHECK(config.plugins[1].second.text() == "run.yaml:5:5");
  CHECK(config.stop_on_error);
  CHECK(config.drain_limit == 2.5);
  CHECK(config.drain_given);
  CHECK(!config.ending.any());
}

TEST_CASE("the section ending has times with units, and signals by name") {
  const EndingConfig both = open("ending: {signals: [TERM, USR1], time_limit: 24 h, margin: 10 min}").ending;
  CHECK(both.any());
  CHECK(both.signals == std::vector<int>{SIGTERM, SIGUSR1});
  CHECK(both.limit == 24 * 3600);
  CHECK(!both.end_of_job);
  CHECK(both.margin == 600);
  const EndingConfig job = open("ending: {time_limit: job, margin: 500 ms}").ending;
  CHECK(job.signals.empty());
  CHECK(job.end_of_job);
  CHECK(job.limit == 0);
  CHECK(job.margin == 0.5);
  CHECK(!open("ending:").ending.any());
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
      {"placement: {when_full: block}", "1:24", "found 'block' for 'when_full', expected one of wait, skip, spill",
       "write one"},
      {"placement: {mode: nodes, when_full: spill}", "1:37", "found 'when_full: spill' with the mode 'nodes'",
       "write 'wait' or 'skip'"},
      {"placement: {mode: cores, spill: {size: 1 MiB}}", "1:33", "found 'spill' with 'when_full: wait'", "remove it"},
      {"placement: {mode: cores, when_full: spill, spill: {size: 1 KiB}}", "1:58", "at least 64 KiB", "change it"},
      {"placement: {max_in_flight: 65}", "1:28", "expected a whole number from 1 to 64", "change it"},
      {"placement: {poll: -1}", "1:19", "found '-1' for 'poll'", "change it"},
      {"placement: {max_in_flight: 0}", "1:28", "expected a whole number from 1 to 64", "change it"},
      {"placement: {mode: nodes, ranks: [4294967298]}", "1:34",
       "found '4294967298' for 'ranks', expected a whole number from 0 to 2147483647", "change it"},
      {"placement: {mode: cores, bind: [1, 2147483648]}", "1:36", "found '2147483648' for 'bind'", "change it"},
      {"placement: {mode: sidecar, session: ''}", "1:37", "found a session of 0 bytes, expected a name of 1 to 64",
       "rename it"},
      {"placement: {mode: sidecar, session: " + std::string(65, 'x') + "}", "1:37", "found a session of 65 bytes",
       "rename it"},
      {"placement: {mode: sidecar, session: \"a\\eb\"}", "1:37", "found a session of 3 bytes with a control character",
       "rename it"},
      {"placement: {mode: nodes, partitioner: blok}", "1:39",
       "found the unknown partitioner 'blok', expected one of block", "did you mean 'block'?"},
      {"placement: {mode: cores, session: a}", "1:35",
       "found 'session' with the mode 'cores', expected it with 'sidecar'", "remove it"},
      {"placement: {attach_limit: 1}", "1:27", "found 'attach_limit' with the mode 'inline'", "remove it"},
      {"placement: {mode: inline, bind: [0]}", "1:33", "found 'bind' with the mode 'inline'", "remove it"},
      {"placement: {mode: sidecar, bind: [0]}", "1:34", "found 'bind' with the mode 'sidecar'", "let the launcher"},
      {"placement: {mode: nodes, forward: partials, move: all}", "1:51",
       "found 'move' with the mode 'nodes' and 'forward: partials'", "remove it"},
      {"placement: {mode: nodes, forward: blocks, progress: calls}", "1:53",
       "found 'progress' with the mode 'nodes' and 'forward: blocks'", "remove it"},
      {"output: results", "1:9", "found 'results' for 'output', expected a map",
       "directory, existing, timings, messages, fsync"},
      {"output: {directory: ''}", "1:21", "found an empty 'directory'", "write '.'"},
      {"output: {existing: overwrite}", "1:20", "expected one of refuse, replace, resume", "write one of them"},
      {"output: {timings: maybe}", "1:19", "found 'maybe' for 'timings', expected true or false",
       "write true or false"},
      {"output: {fsync: sometimes}", "1:17", "found 'sometimes' for 'fsync', expected true or false",
       "write true or false"},
      {"on_error: abort", "1:11", "expected one of report, stop", "write one of them"},
      {"drain_limit: -1", "1:14", "found '-1' for 'drain_limit', expected a number at least 0", "change it"},
      {"drain_limit: 60 s", "1:17", "where 's' cannot be read", "expected a number"},
      {"drain_limit:", "1:1", "found nothing for 'drain_limit'", "write one or remove the line"},
      {"ending: {signals: [TERM]}", "1:9", "'margin'", ""},
      {"ending: {margin: 10 min}", "1:18", "found neither 'signals' nor 'time_limit'", "expected one of them"},
      {"ending: {margin: 10, signals: [TERM]}", "1:18", "found '10' for 'margin', expected a time above 0", "10 min"},
      {"ending: {margin: 0 s, signals: [TERM]}", "1:18", "found '0 s' for 'margin'", "write '10 min'"},
      {"ending: {margin: 1 s, signals: [KILL]}", "1:33", "expected one of TERM, USR1", "write one of them"},
      {"ending: {margin: 1 s, signals: [USR3]}", "1:33", "expected one of TERM, USR1", "did you mean 'USR"},
      {"ending: {margin: 1 s, time_limit: jobs}", "1:35", "found 'jobs' for 'time_limit'", "or 'job' for the end"},
      {"ending: {margin: 2 h, time_limit: 90 min}", "1:35", "the time limit '90 min' and the margin '2 h'",
       "expected a longer time limit"},
      {"ending: {margins: 1 s, time_limit: 90 min}", "1:10", "'margins'", "did you mean 'margin'"},
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

TEST_CASE("options that change nothing, but may wait for another mode, are warned of") {
  const auto warnings = [](const std::string& placement) { return open("placement: " + placement).placement.warnings; };
  CHECK(warnings("{mode: nodes, partitioner: stripe, max_in_flight: 2}").empty());
  CHECK(warnings("{mode: job, partitioner: stripe}").empty());
  CHECK(warnings("{mode: off, partitioner: stripe, session: a, bind: [1]}").empty());
  REQUIRE(warnings("{mode: inline, partitioner: stripe, max_in_flight: 2}").size() == 2);
  CHECK(
      warnings("{mode: sidecar, partitioner: stripe}").at(0).find("run.yaml:1:41: found 'partitioner' with the mode") ==
      0);
  CHECK(warnings("{mode: nodes, forward: partials, partitioner: stripe}").size() == 1);
}

TEST_CASE("combinations that are experimental say so") {
  const auto notes = [](const std::string& placement) { return open("placement: " + placement).placement.notes; };
  CHECK(notes("{mode: job}").empty());
  CHECK(notes("{mode: nodes, forward: partials}").empty());
  CHECK(notes("{mode: nodes, groups: {a: 1, b: 1}}").empty());
  CHECK(notes("{mode: job, groups: {a: 1, b: 1}}").at(0).find("'job' are experimental") != std::string::npos);
  CHECK(notes("{mode: nodes, forward: partials, groups: {a: 1, b: 1}}").at(0).find("'forward: partials' are") !=
        std::string::npos);
}

TEST_CASE("a split that leaves no client") {
  CHECK(split_error("{mode: cores, per_node: 1}", 4, 2) == "no error");
  CHECK(split_error("{mode: cores, per_node: 2}", 4, 2)
            .find("run.yaml:1:1: found per_node 2 and node 0 with 2 ranks, expected at least one rank more") == 0);
  CHECK(split_error("{mode: cores, per_node: 1}", 5, 4).find("found per_node 1 and node 1 with 1 rank,") !=
        std::string::npos);
  CHECK(split_error("{mode: nodes, servers: 3}", 4, 2) == "no error");
  CHECK(split_error("{mode: nodes, servers: 4}", 4, 2).find("run.yaml:1:1: found 4 servers and 4 ranks in all") == 0);
  CHECK(split_error("inline", 1, 1) == "no error");
  CHECK(split_error("off", 1, 1) == "no error");
}

TEST_CASE("a split by whole nodes, by ranks and with forwarders") {
  CHECK(split_error("{mode: nodes, whole_nodes: 1}", 4, 2) == "no error");
  CHECK(split_error("{mode: nodes, whole_nodes: 2}", 4, 2).find("found whole_nodes 2 and 2 nodes in all") !=
        std::string::npos);
  CHECK(split_error("{mode: nodes, ranks: [0, 3]}", 4, 2) == "no error");
  CHECK(split_error("{mode: nodes, ranks: [3, 3]}", 4, 2).find("found rank 3 twice") != std::string::npos);
  CHECK(split_error("{mode: nodes, ranks: [4]}", 4, 2).find("found rank 4 in placement.ranks") != std::string::npos);
  CHECK(split_error("{mode: nodes, ranks: [0, 1]}", 2, 1).find("found 2 servers and 2 ranks") != std::string::npos);
  const std::string forward = "{mode: nodes, forward: blocks, ";
  CHECK(split_error(forward + "servers: 2}", 4, 2) == "no error");  // the second node has servers only
  CHECK(
      split_error(forward + "servers: 1}", 4, 2).find("found per_node 1 and node 1 with 1 rank that are no servers") !=
      std::string::npos);
  CHECK(split_error(forward + "whole_nodes: 1, per_node: 2}", 4, 2).find("node 0 with 2 ranks that") !=
        std::string::npos);
  CHECK(split_error(forward + "ranks: [0, 3], per_node: 1}", 6, 2) == "no error");
  CHECK(split_error(forward + "ranks: [0, 1], per_node: 1}", 6, 2).find("node 0 with 1 rank ") != std::string::npos);
}

TEST_CASE("clients by node") {
  const auto counts = [](const std::string& placement, int ranks, int nodes) {
    const PlacementConfig config = open("placement: " + placement).placement;
    return std::pair(most_clients_on_a_node(config, ranks, nodes), client_count(config, ranks, nodes));
  };
  CHECK(counts("inline", 5, 2) == std::pair(3, 5));
  CHECK(counts("off", 5, 2) == std::pair(0, 0));
  CHECK(counts("cores", 5, 2) == std::pair(2, 3));
  CHECK(counts("{mode: nodes, servers: 2}", 6, 3) == std::pair(2, 4));
  CHECK(counts("{mode: nodes, whole_nodes: 2}", 6, 3) == std::pair(2, 2));
  CHECK(counts("{mode: nodes, ranks: [0, 5], forward: blocks}", 9, 3) == std::pair(2, 4));
}
