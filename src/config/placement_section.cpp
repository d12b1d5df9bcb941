#include "config/sections.hpp"

#include <cstdint>
#include <limits>

#include "config/stream_config.hpp"

namespace sidestream {

namespace {

using Placed = OptionTable<PlacementConfig>;

Placed who() {
  return {
      option("mode", &PlacementConfig::mode,
             "`inline`: on the simulation's own ranks, which wait meanwhile. `cores`: on dedicated ranks of each node, "
             "which read from shared memory. `nodes`: on dedicated ranks anywhere, which fetch what they need by "
             "messages. `sidecar`: in processes of their own on each node (`sidestream serve`), which read from shared "
             "memory; they may come late, end and be replaced while the simulation runs. `job`: in another MPI job "
             "(`sidestream endpoint`), to which dedicated ranks of each node send the blocks. `off`: nowhere, every "
             "call does nothing.",
             {.standard = "inline",
              .choices = {{"inline", PlacementMode::inline_},
                          {"cores", PlacementMode::cores},
                          {"nodes", PlacementMode::nodes},
                          {"sidecar", PlacementMode::sidecar},
                          {"job", PlacementMode::job},
                          {"off", PlacementMode::off}}}),
      option("per_node", &PlacementConfig::per_node,
             "With `cores` and `job`: the number of ranks of each node that become servers. With `sidecar`: the number "
             "of server processes on each node. With `nodes` and `forward`: the number of ranks of each node that "
             "become forwarders. Each node needs at least one rank more.",
             {.standard = 1, .minimum = 1, .maximum = 1024}),
      option("servers", &PlacementConfig::servers,
             "With `nodes`: the number of ranks that become servers, the last ones of the job. The job needs at least "
             "one rank more.",
             {.standard = 1, .minimum = 1, .maximum = 1 << 20}),
      option("whole_nodes", &PlacementConfig::whole_nodes,
             "With `nodes`, instead of `servers`: the number of nodes whose ranks all become servers, the last nodes "
             "of the job.",
             {.minimum = 1, .maximum = 1 << 20}),
      option("ranks", &PlacementConfig::ranks,
             "With `nodes`, instead of `servers`: the ranks, in the session's communicator, that become servers.",
             {.minimum = 0, .maximum = std::numeric_limits<std::int32_t>::max(), .least_entries = 1})};
}

Placed division() {
  Option groups{.name = "groups", .type = OptionType::pairs};
  groups.text =
      "With `nodes`, `cores`, `sidecar` and `job`: divides the servers into groups that work at the same time, "
      "each on the analyses and outputs whose `group` names it: `{halos: 2, spectra: 4}`. A size is a number of "
      "servers (with `cores` and `sidecar` of each node), or `auto` with `measured`; with `job` a number of the "
      "endpoint's processes. Experimental with `job` and with `forward: partials`. See [groups of "
      "servers](groups.md).";
  groups.range_text = "names and sizes";
  return {options_read_elsewhere<PlacementConfig>({groups}),
          option("measured", &PlacementConfig::measured,
                 "With `groups` of the size `auto`: a file that `sidestream groups` made from earlier runs. Rank 0 "
                 "reads it; with `job` rank 0 of the endpoint does.",
                 {.range_text = path_range}),
          option("bind", &PlacementConfig::bind,
                 "CPU cores for the servers and forwarders of each node, in the order of their ranks. If there are "
                 "more ranks than cores, they begin again with the first. Without the option they stay where the "
                 "launcher put them.",
                 {.minimum = 0, .maximum = std::numeric_limits<std::int32_t>::max(), .least_entries = 1})};
}

OptionTable<SpillConfig> spilling() {
  return {option("directory", &SpillConfig::directory,
                 "A folder on a disk of each node; if left out `$TMPDIR`, or `/tmp`. Each rank has a file there, which "
                 "is removed when the rank ends.",
                 {.range_text = path_range}),
          option<OptionType::bytes>(
              "size", &SpillConfig::size,
              "The largest size on each node. Each rank gets a share in proportion to the values that it publishes.",
              {.standard = "4 GiB", .minimum = 1 << 16})};
}

Placed buffering() {
  return {
      option<OptionType::bytes>(
          "buffer", &PlacementConfig::buffer,
          "Memory on each node for values that were published and not yet used. It must hold at least one iteration of "
          "the node's ranks.",
          {.standard = "512 MiB", .minimum = 1 << 16}),
      option("when_full", &PlacementConfig::when_full,
             "The reaction of a rank to a full buffer. `wait`: it waits for the servers, so that nothing is lost. "
             "`skip`: it drops the iteration, on all ranks and servers, and continues. `spill`, with `cores`, "
             "`sidecar` and `job`: it puts the block into a file on the node, and waits if that is full, too.",
             {.standard = "wait",
              .choices = {{"wait", WhenFull::wait}, {"skip", WhenFull::skip}, {"spill", WhenFull::spill}}}),
      option("spill", &PlacementConfig::spill, "With `when_full: spill`: the place and size of the files.",
             {.standard = "{}", .options = spilling()}),
      option("max_in_flight", &PlacementConfig::max_in_flight,
             "The largest number of iterations that are published and not yet released by the servers. With "
             "`when_full: spill` 64 if left out.",
             {.standard = 8, .minimum = 1, .maximum = 64}),
      option("poll", &PlacementConfig::poll,
             "With `cores`, `sidecar` and `job`: the number of seconds, before and after the next iteration is "
             "expected, in which a server polls for it, so that no rank has to wake it. The time is at most a "
             "twentieth of that between two iterations. Servers only poll if iterations come regularly. 0: never.",
             {.standard = 0.001, .minimum = 0})};
}

Placed moving() {
  return {
      option("partitioner", &PlacementConfig::partitioner,
             "With `nodes` and `job`: the assignment of blocks to servers. The name of one of the "
             "[partitioners](#partitioners) below, or a map with its name and options: `{stripe: {width: 4}}`.",
             {.standard = "block"}),
      option<OptionType::choice>(
          "move", &PlacementConfig::move_all,
          "With `nodes`: the blocks that move. `needed`: those that analyses need in this iteration. `all`: all blocks "
          "of the variables that they read, for comparisons.",
          {.standard = "needed", .choices = {{"needed", false}, {"all", true}}}),
      option("forward", &PlacementConfig::forward,
             "With `nodes`: the role of forwarders between clients and servers. `none`: there are none; clients keep "
             "copies that servers fetch. `blocks`: `per_node` ranks of each node, the forwarders, hold the node's "
             "blocks in shared memory. Servers fetch from them, so that data moves whatever the clients do. "
             "`partials`: forwarders do the first half of each analysis on their node's blocks and servers combine "
             "the results: no blocks move.",
             {.standard = "none",
              .choices = {{"none", Forward::none}, {"blocks", Forward::blocks}, {"partials", Forward::partials}}}),
      option("progress", &PlacementConfig::progress,
             "With `nodes` and without forwarders: the way in which data moves while a client computes. `thread`: a "
             "thread of Sidestream in each client; MPI must be initialised with MPI_THREAD_MULTIPLE. `calls`: data "
             "only moves inside calls of Sidestream. `auto`: a thread if MPI allows it.",
             {.standard = "auto",
              .choices = {{"auto", Progress::automatic}, {"thread", Progress::thread}, {"calls", Progress::calls}}})};
}

Placed reaching() {
  return {option("session", &PlacementConfig::session,
                 "With `sidecar`: the name by which server processes find the simulation on their node. Concurrent "
                 "sessions of one user on a node need different names.",
                 {.standard = "default", .range_text = "of 1 to 64 bytes"}),
          option("attach_limit", &PlacementConfig::attach_limit,
                 "With `sidecar`: seconds that the start waits for servers. After that the simulation continues, and "
                 "iterations are refused until servers come; 0 does not wait at all.",
                 {.standard = 60, .minimum = 0}),
          option("stream", &PlacementConfig::stream, "With `job`: the stream to the other job.",
                 {.standard = "{}", .options = stream_options()}),
          option("pretend_nodes", &PlacementConfig::pretend_nodes,
                 "For testing: the number of nodes into which the ranks of one machine are divided. 0 uses the actual "
                 "nodes.",
                 {.standard = 0, .minimum = 0, .maximum = 1 << 20})};
}

}  // namespace

const Placed& placement_options() {
  static const Placed all = Placed().add(who()).add(division()).add(buffering()).add(moving()).add(reaching());
  return all;
}

Section placement_section() {
  Option placement{.name = "placement", .type = OptionType::map, .default_value = "inline"};
  placement.text = "The place where analyses and outputs run. The mode may stand for the map: `placement: off`.";
  placement.options = placement_options().declarations();
  return {"placement",
          SectionForm::option,
          "The place where analyses and outputs run. Changing this line moves the work; nothing else in the file or in "
          "the program changes.",
          "placement: {mode: cores, per_node: 1, buffer: 512 MiB, when_full: wait}",
          {placement}};
}

}  // namespace sidestream
