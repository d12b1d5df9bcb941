#include "faults/case.hpp"

namespace sidestream::testing {

namespace {
const std::vector<std::string> client{"open", "declare", "start", "publish", "keep", "end", "close"};
const std::vector<std::string> server{"open", "serve", "iteration", "close"};
const std::vector<std::string> forwarder{"open", "serve", "close"};
const std::vector<std::string> group{"serve"};
}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"inline", "{mode: inline, buffer: 2 MiB}", 2, 0, true, {{0, client}, {1, client}, {1, {"iteration"}}}},
      {"cores",
       "{mode: cores, per_node: 2, buffer: 2 MiB}",
       4,
       0,
       true,
       {{0, client}, {1, client}, {2, server}, {3, server}}},
      // The buffer has room for hardly more than one iteration.
      {"spilled",
       "{mode: cores, per_node: 2, buffer: 128 KiB, when_full: spill, spill: {size: 4 MiB}}",
       4,
       0,
       true,
       {{0, client}, {1, client}, {2, server}, {3, server}}},
      {"nodes",
       "{mode: nodes, servers: 2, buffer: 2 MiB}",
       4,
       0,
       true,
       {{0, client}, {1, client}, {2, server}, {3, server}}},
      {"pushed",
       "{mode: nodes, servers: 2, progress: calls, buffer: 2 MiB}",
       4,
       0,
       true,
       {{0, client}, {1, client}, {2, server}, {3, server}}},
      {"blocks",
       "{mode: nodes, servers: 2, forward: blocks, buffer: 2 MiB}",
       5,
       0,
       true,
       {{0, client}, {1, client}, {2, forwarder}, {3, server}, {4, server}}},
      {"partials",
       "{mode: nodes, servers: 2, forward: partials, buffer: 2 MiB}",
       5,
       0,
       true,
       {{0, client}, {1, client}, {2, server}, {3, server}, {4, server}}},
      {"sidecar", "sidecar", 4, 2, false, {{0, client}, {1, client}, {2, group}, {3, group}}},
      {"job",
       "job",
       6,
       2,
       false,
       {{0, client}, {2, {"open", "serve", "close"}}, {3, {"serve"}}, {4, group}, {5, group}}},
  };
  return all;
}

}  // namespace sidestream::testing
