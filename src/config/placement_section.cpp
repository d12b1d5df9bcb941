#include "config/sections.hpp"

#include <cstdint>
#include <limits>

#include "config/stream_config.hpp"

namespace sidestream {

namespace {

std::vector<Option> who() {
  return {
      {.name = "mode",
       .type = OptionType::choice,
       .default_value = "inline",
       .text =
           "`inline`: on the simulation's own ranks, which wait meanwhile. `cores`: on dedicated ranks of each node, "
           "which read from shared memory. `nodes`: on dedicated ranks anywhere, which fetch what they need by "
           "messages. `sidecar`: in processes of their own on each node (`sidestream serve`), which read from shared "
           "memory; they may come late, end and be replaced while the simulation runs. `job`: in another MPI job "
           "(`sidestream endpoint`), to which dedicated ranks of each node send the blocks. `off`: nowhere, every call "
           "does nothing.",
       .choices = {"inline", "cores", "nodes", "sidecar", "job", "off"}},
      {.name = "per_node",
       .type = OptionType::integer,
       .default_value = "1",
       .text = "With `cores` and `job`: the number of ranks of each node that become servers. With `sidecar`: the "
               "number of server processes on each node. With `nodes` and `forward`: the number of ranks of each node "
               "that become forwarders. Each node needs at least one rank more.",
       .minimum = 1,
       .maximum = 1024},
      {.name = "servers",
       .type = OptionType::integer,
       .default_value = "1",
       .text = "With `nodes`: the number of ranks that become servers, the last ones of the job. The job needs at "
               "least one rank more.",
       .minimum = 1,
       .maximum = 1 << 20},
      {.name = "whole_nodes",
       .type = OptionType::integer,
       .text = "With `nodes`, instead of `servers`: the number of nodes whose ranks all become servers, the last "
               "nodes of the job.",
       .minimum = 1,
       .maximum = 1 << 20},
      {.name = "ranks",
       .type = OptionType::integer,
       .list = true,
       .text = "With `nodes`, instead of `servers`: the ranks, in the session's communicator, that become servers.",
       .minimum = 0,
       .maximum = std::numeric_limits<std::int32_t>::max(),
       .least_entries = 1},
      {.name = "groups",
       .type = OptionType::pairs,
       .text =
           "With `nodes`, `cores`, `sidecar` and `job`: divides the servers into groups that work at the same time, "
           "each on the analyses and outputs whose `group` names it: `{halos: 2, spectra: 4}`. A size is a number of "
           "servers (with `cores` and `sidecar` of each node), or `auto` with `measured`; with `job` a number of the "
           "endpoint's processes. Experimental with `job` and with `forward: partials`. See [groups of "
           "servers](groups.md).",
       .range_text = "names and sizes"},
      {.name = "measured",
       .type = OptionType::text,
       .text = "With `groups` of the size `auto`: a file that `sidestream groups` made from earlier runs. Rank 0 "
               "reads it; with `job` rank 0 of the endpoint does.",
       .range_text = path_range},
      {.name = "bind",
       .type = OptionType::integer,
       .list = true,
       .text = "CPU cores for the servers and forwarders of each node, in the order of their ranks. If there are more "
               "ranks than cores, they begin again with the first. Without the option they stay where the launcher put "
               "them.",
       .minimum = 0,
       .maximum = std::numeric_limits<std::int32_t>::max(),
       .least_entries = 1},
  };
}

std::vector<Option> buffering() {
  return {
      {.name = "buffer",
       .type = OptionType::bytes,
       .default_value = "512 MiB",
       .text = "Memory on each node for values that were published and not yet used. It must hold at least one "
               "iteration of the node's ranks.",
       .minimum = 1 << 16},
      {.name = "when_full",
       .type = OptionType::choice,
       .default_value = "wait",
       .text = "The reaction of a rank to a full buffer. `wait`: it waits for the servers, so that nothing is lost. "
               "`skip`: it drops the iteration, on all ranks and servers, and continues. `spill`, with `cores`, "
               "`sidecar` and `job`: it puts the block into a file on the node, and waits if that is full, too.",
       .choices = {"wait", "skip", "spill"}},
      {.name = "spill",
       .type = OptionType::map,
       .default_value = "{}",
       .text = "With `when_full: spill`: the place and size of the files.",
       .options = {{.name = "directory",
                    .type = OptionType::text,
                    .text = "A folder on a disk of each node; if left out `$TMPDIR`, or `/tmp`. Each rank has a file "
                            "there, which is removed when the rank ends.",
                    .range_text = path_range},
                   {.name = "size",
                    .type = OptionType::bytes,
                    .default_value = "4 GiB",
                    .text = "The largest size on each node. Each rank gets a share in proportion to the values that it "
                            "publishes.",
                    .minimum = 1 << 16}}},
      {.name = "max_in_flight",
       .type = OptionType::integer,
       .default_value = "8",
       .text = "The largest number of iterations that are published and not yet released by the servers. With "
               "`when_full: spill` 64 if left out.",
       .minimum = 1,
       .maximum = 64},
      {.name = "poll",
       .type = OptionType::real,
       .default_value = "0.001",
       .text = "With `cores`, `sidecar` and `job`: the number of seconds, before and after the next iteration is "
               "expected, in which a server polls for it, so that no rank has to wake it. The time is at most a "
               "twentieth of that between two iterations. Servers only poll if iterations come regularly. 0: never.",
       .minimum = 0},
  };
}

std::vector<Option> moving() {
  return {
      {.name = "partitioner",
       .type = OptionType::text,
       .default_value = "block",
       .text = "With `nodes` and `job`: the assignment of blocks to servers. The name of one of the "
               "[partitioners](#partitioners) below, or a map with its name and options: `{stripe: {width: 4}}`."},
      {.name = "move",
       .type = OptionType::choice,
       .default_value = "needed",
       .text = "With `nodes`: the blocks that move. `needed`: those that analyses need in this iteration. `all`: "
               "all blocks of the variables that they read, for comparisons.",
       .choices = {"needed", "all"}},
      {.name = "forward",
       .type = OptionType::choice,
       .default_value = "none",
       .text = "With `nodes`: the role of forwarders between clients and servers. `none`: there are none; clients keep "
               "copies that servers fetch. `blocks`: `per_node` ranks of each node, the forwarders, hold the node's "
               "blocks in shared memory. Servers fetch from them, so that data moves whatever the clients do. "
               "`partials`: forwarders do the first half of each analysis on their node's blocks and servers combine "
               "the results: no blocks move.",
       .choices = {"none", "blocks", "partials"}},
      {.name = "progress",
       .type = OptionType::choice,
       .default_value = "auto",
       .text = "With `nodes` and without forwarders: the way in which data moves while a client computes. `thread`: "
               "a thread of Sidestream in each client; MPI must be initialised with MPI_THREAD_MULTIPLE. `calls`: "
               "data only moves inside calls of Sidestream. `auto`: a thread if MPI allows it.",
       .choices = {"auto", "thread", "calls"}},
      {.name = "session",
       .type = OptionType::text,
       .default_value = "default",
       .text = "With `sidecar`: the name by which server processes find the simulation on their node. Concurrent "
               "sessions of one user on a node need different names.",
       .range_text = "of 1 to 64 bytes"},
      {.name = "attach_limit",
       .type = OptionType::real,
       .default_value = "60",
       .text = "With `sidecar`: seconds that the start waits for servers. After that the simulation continues, and "
               "iterations are refused until servers come; 0 does not wait at all.",
       .minimum = 0},
      {.name = "stream",
       .type = OptionType::map,
       .default_value = "{}",
       .text = "With `job`: the stream to the other job.",
       .options = stream_options()},
      {.name = "pretend_nodes",
       .type = OptionType::integer,
       .default_value = "0",
       .text = "For testing: the number of nodes into which the ranks of one machine are divided. 0 uses the actual "
               "nodes.",
       .minimum = 0,
       .maximum = 1 << 20},
  };
}

}  // namespace

Section placement_section() {
  Option placement{.name = "placement", .type = OptionType::map, .default_value = "inline"};
  placement.text = "The place where analyses and outputs run. The mode may stand for the map: `placement: off`.";
  for (const auto& part : {who(), buffering(), moving()}) {
    placement.options.insert(placement.options.end(), part.begin(), part.end());
  }
  return {"placement",
          SectionForm::option,
          "The place where analyses and outputs run. Changing this line moves the work; nothing else in the file or in "
          "the program changes.",
          "placement: {mode: cores, per_node: 1, buffer: 512 MiB, when_full: wait}",
          {placement}};
}

}  // namespace sidestream
