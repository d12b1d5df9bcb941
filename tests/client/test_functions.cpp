// Functions of a C program as analyses, also with `forward: partials`. A server combines the partials of several ranks,
// of one, or none.
#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "sidestream/sidestream.h"
#include "support/ranks.hpp"

namespace {

constexpr int steps = 3;
constexpr std::int64_t cells = 5;

/// The results that the program's functions leave here, on servers.
struct Found {
  std::vector<double> sums;  ///< over all servers, by iteration
};

int add_up(const sidestream_input* input, void* partial, char*, void*) {
  auto* sum = static_cast<double*>(partial);
  for (std::int64_t b = 0; b < sidestream_input_blocks(input, "v"); ++b) {
    sidestream_block block{};
    block.struct_size = sizeof block;
    if (sidestream_input_block(input, "v", b, &block) != 0) return 1;
    const auto* values = static_cast<const double*>(block.data);
    for (std::int64_t i = 0; i < cells; ++i) *sum += values[i];
  }
  return 0;
}

int finish(const sidestream_input*, void* partial, MPI_Comm servers, char*, void* user) {
  double sum = *static_cast<double*>(partial);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, servers);
  static_cast<Found*>(user)->sums.push_back(sum);
  return 0;
}

int merge(void* partial, const void* other, char*, void*) {
  *static_cast<double*>(partial) += *static_cast<const double*>(other);
  return 0;
}

struct Outcome {
  int code = 0;
  std::string message;
  bool server = false;
};

/// Runs the small simulation once; returns how it started.
Outcome run(const std::string& placement, bool merges, Found& found) {
  const std::string text = "placement: " + placement +
                           "\nanalyses: [{total: {variables: [v]}}]\n"
                           "output: {directory: functions-results, existing: replace, timings: false}\n";
  sidestream_session* session = nullptr;
  Outcome outcome;
  outcome.code = sidestream_open_text(sidestream::testing::test_ranks(), text.c_str(), &session);
  REQUIRE(outcome.code == 0);
  const sidestream_function function{sizeof function, "total", sizeof(double),          add_up,
                                     finish,          &found,  merges ? merge : nullptr};
  REQUIRE(sidestream_register_function(session, &function) == 0);
  outcome.server = sidestream_is_server(session) != 0;
  if (outcome.server) {
    outcome.code = sidestream_serve(session);
  } else {
    int rank = 0, size = 1;
    MPI_Comm_rank(sidestream_comm(session), &rank);
    MPI_Comm_size(sidestream_comm(session), &size);
    const std::int64_t all = cells * size, lo[3] = {cells * rank, 0, 0}, hi[3] = {cells * (rank + 1), 1, 1};
    const double origin = 0, spacing = 1;
    REQUIRE(sidestream_add_uniform_mesh(session, "line", 1, &all, &origin, &spacing) == 0);
    REQUIRE(sidestream_add_variable(session, "v", "line", SIDESTREAM_FLOAT64, SIDESTREAM_CELL, 1, SIDESTREAM_COLUMN) ==
            0);
    REQUIRE(sidestream_set_block(session, "line", rank, lo, hi) == 0);
    outcome.code = sidestream_start(session);
    for (int step = 0; step < steps && outcome.code == 0; ++step) {
      const std::vector<double> values(cells, rank + 1 + 10 * step);
      CHECK(sidestream_publish(session, "v", rank, values.data()) == 0);
      CHECK(sidestream_end_iteration(session, step, step) == 0);
    }
  }
  outcome.message = sidestream_message(session);
  sidestream_close(&session);
  return outcome;
}

const char* const ways[] = {
    "{mode: nodes, servers: 1, buffer: 32 MiB, forward: partials, per_node: 2}",
    "{mode: nodes, servers: 2, buffer: 32 MiB, forward: partials, per_node: 1}",
    "{mode: nodes, servers: 2, buffer: 32 MiB, forward: blocks, per_node: 1}",
    "{mode: nodes, buffer: 32 MiB, servers: 2}",
    "{mode: cores, buffer: 32 MiB, per_node: 2}",
    "inline",
};

}  // namespace

TEST_CASE("a function's result is the same with every way of dividing the work") {
  int world = 0;
  MPI_Comm_size(sidestream::testing::test_ranks(), &world);
  for (const char* way : ways) {
    CAPTURE(way);
    Found found;
    const Outcome outcome = run(way, true, found);
    CHECK_MESSAGE(outcome.code == 0, outcome.message);
    const std::string text = way;
    int clients = world - 2;
    if (text == "inline") clients = world;
    if (text.find("forward") != std::string::npos) clients = world - 3;
    if (found.sums.empty()) continue;  // a client, or a rank that only reduces
    REQUIRE(found.sums.size() == steps);
    for (int step = 0; step < steps; ++step) {
      double expected = 0;
      for (int rank = 0; rank < clients; ++rank) expected += static_cast<double>(cells) * (rank + 1 + 10 * step);
      CHECK(found.sums[static_cast<std::size_t>(step)] == expected);
    }
  }
}

TEST_CASE("a function that cannot merge is refused where several servers reduce for one") {
  Found found;
  const Outcome outcome = run(ways[0], false, found);
  CHECK(outcome.code == SIDESTREAM_ERROR_CONFIGURATION);
  CHECK(outcome.message.find("merge") != std::string::npos);
  CHECK(found.sums.empty());
}
