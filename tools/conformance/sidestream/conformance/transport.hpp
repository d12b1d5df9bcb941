// Checks that every transport must pass, written from the contract (extend/transport.hpp) only. Authors of transports
// describe how their transport is made, call check_transport on all processes, and look at the result:
//
//     Harness harness;
//     harness.clients = 3, harness.servers = 2;     // client, server: the numbers of this process; -1: it is none
//     harness.all = &everybody, harness.group = &servers;
//     harness.make = [&](const Needs& needs) { ... return ends; };
//     for (const std::string& wrong : check_transport(harness)) std::cerr << wrong << '\n';
//
// Needs only the contracts and the standard library. Processes that are both client and server skip checks with several
// iterations in flight. Deaths of processes are not checked. If a wait throws on one process, others may still wait:
// give the program a time limit.
#pragma once

#include <string>
#include <vector>

#include "sidestream/conformance/blocks.hpp"
#include "sidestream/conformance/changing.hpp"
#include "sidestream/conformance/standing.hpp"

namespace sidestream::conformance {

/// Runs all checks; collective over all processes. Returns the failures as sentences; none if the transport conforms as
/// far as this process can see. Throws std::runtime_error after a wait of `patience`.
[[nodiscard]] inline std::vector<std::string> check_transport(const Harness& harness) {
  Report report;
  const auto run = [&](const char* name, auto&& check) {
    report.begin(name);
    check.run();
  };
  for (unsigned seed : {1u, 2u}) {
    run("a world that changes", Mixed(harness, report, seed));
    run("the same wanted every time", Standing(harness, report, seed));
  }
  run("iterations in flight", InFlight(harness, report));
  run("room, skip", Room(harness, report, WhenFull::skip));
  run("room, wait", Room(harness, report, WhenFull::wait));
  run("regions that are held", Hold(harness, report));
  run("arrays that are replaced", Retire(harness, report));
  if (!harness.both()) run("clients that give up", Abandoned(harness, report));
  run("a client that closes early", Unfinished(harness, report));
  return report.failures();
}

}  // namespace sidestream::conformance
