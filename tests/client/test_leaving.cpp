// A client leaves its loop where it should not, and closes. Nobody waits for ever, in any placement, and the account
// tells what happened to the iterations that it did not end.
#include <doctest/doctest.h>
#include <mpi.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "sidestream/restart.hpp"
#include "sidestream/sidestream.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

const std::vector<std::string> placements{
    "inline",
    "{mode: cores, buffer: 8 MiB}",
    "{mode: cores, per_node: 2, when_full: skip, buffer: 8 MiB}",
    "{mode: nodes, servers: 1, buffer: 8 MiB}",
    "{mode: nodes, servers: 2, buffer: 8 MiB}",
    "{mode: nodes, servers: 2, progress: calls, buffer: 8 MiB}",
    "{mode: nodes, servers: 1, forward: blocks, buffer: 8 MiB}",
    "{mode: nodes, servers: 1, forward: partials, buffer: 8 MiB}",
    "off",
};

/// The last thing that a client does before it closes.
enum class Last { publishes, allocates, commits, declares, raises };

enum class Who { first, last, all };

/// One combination of placement, last call and client.
struct Case {
  Last last;
  Who who;
};
constexpr Case cases[]{{Last::publishes, Who::first}, {Last::publishes, Who::last}, {Last::publishes, Who::all},
                       {Last::allocates, Who::first}, {Last::commits, Who::last},   {Last::declares, Who::first},
                       {Last::raises, Who::last}};

constexpr Index edge = 4;

struct Client {
  explicit Client(Session& of) : session(of) {
    MPI_Comm_rank(session.comm(), &rank);
    MPI_Comm_size(session.comm(), &size);
    session.set("n", static_cast<std::int64_t>(edge) * size);
    session.set_block("grid", rank, {{edge * rank, 0, 0}, {edge * (rank + 1), edge, edge}});
  }
  [[nodiscard]] bool is(Who who) const { return who == Who::all || rank == (who == Who::first ? 0 : size - 1); }
  void iterate(std::int64_t n) {
    static_cast<void>(session.publish("t", rank, values));
    static_cast<void>(session.publish("u", rank, values));
    static_cast<void>(session.end_iteration(n, 0.5 * static_cast<double>(n)));
  }
  void leave(Last last) {
    if (last == Last::declares) return session.set_block("grid", rank + size, {{0, 0, 0}, {0, 0, 0}});
    if (last == Last::raises) return session.signal("burst");
    static_cast<void>(session.publish("t", rank, values));
    if (last == Last::publishes) return;
    double* const u = session.alloc<double>("u", rank, values.size());
    if (u != nullptr && last == Last::commits) session.commit("u", rank);
  }

  Session& session;
  int rank = 0, size = 1;
  std::vector<double> values = std::vector<double>(edge * edge * edge, 1.5);
};

Session open(const std::string& placement, const std::string& more = {}) {
  return Session::open_text(testing::test_ranks(), "placement: " + placement +
                                                       "\nmeshes: {grid: {type: uniform, size: [$n, 4, 4]}}\n"
                                                       "variables: {t: {mesh: grid}, u: {mesh: grid}}\n"
                                                       "events: [burst]\n"
                                                       "analyses:\n  - statistics: {variable: t, file: t.csv}\n"
                                                       "output: {directory: leaving-results, existing: replace}\n" +
                                                       more);
}

/// Checks what the record of the run says about it.
void check_record(std::int64_t iterations, std::int64_t refused) {
  std::ifstream file("leaving-results/run.yaml");
  std::ostringstream text;
  text << file.rdbuf();
  CHECK(text.str().find("  iterations: " + std::to_string(iterations) +
                        "\n  delivered: 1\n  refused: " + std::to_string(refused) + "\n") != std::string::npos);
}

/// Serves, or is a client: some leave in the second iteration, the others end three.
void run(const std::string& placement, Last last, Who who) {
  Session session = open(placement);
  if (session.is_server()) {
    session.serve();
    static_cast<void>(session.close());
  } else {
    Client client(session);
    client.iterate(0);
    const bool leaves = client.is(who);
    if (leaves) {
      client.leave(last);
    } else {
      client.iterate(1);
      client.iterate(2);
    }
    const Account account = session.close();
    const bool off = placement == "off";
    CHECK(account.iterations == (leaves ? 1 : 3));
    CHECK(account.delivered == (off ? 0 : 1));  // without servers nothing is delivered and nothing refused
    CHECK(account.refused == (off ? 0 : account.iterations - account.delivered));
  }
  int rank = 0;
  MPI_Comm_rank(testing::test_ranks(), &rank);
  if (rank == 0 && placement != "off" && who != Who::all) check_record(3, 2);
  if (rank == 0 && placement != "off" && who == Who::all) check_record(1, 0);
  MPI_Barrier(testing::test_ranks());
}

/// The message of what `work` throws; empty if it throws nothing.
template <class Work>
std::string error_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

int world_size() {
  int size = 1;
  MPI_Comm_size(testing::test_ranks(), &size);
  return size;
}

}  // namespace

TEST_CASE("a client closes in the middle of an iteration") {
  for (const std::string& placement : placements) {
    CAPTURE(placement);
    for (const auto& [last, who] : cases) {
      CAPTURE(static_cast<int>(last));
      CAPTURE(static_cast<int>(who));
      run(placement, last, who);
    }
  }
}

TEST_CASE("a client closes between its declarations and the start") {
  for (const std::string& placement : placements) {
    CAPTURE(placement);
    for (const Who who : {Who::first, Who::last, Who::all}) {
      CAPTURE(static_cast<int>(who));
      Session session = open(placement);
      std::string said;
      bool alone = false;
      if (session.is_server()) {
        said = error_of([&] { session.serve(); });
      } else {
        Client client(session);
        alone = who == Who::all && (placement == "inline" || placement == "off");
        said = error_of([&] {
          if (client.is(who)) {
            static_cast<void>(session.close());
          } else {
            session.start();
          }
        });
      }
      CHECK((said.find("closed on some ranks before it started") != std::string::npos) != alone);
    }
  }
}

TEST_CASE("a client gives a restart up") {
  {
    Session session =
        open("inline", "outputs:\n  - database: {variables: [t], directory: checkpoints, kind: checkpoint}\n");
    Client client(session);
    client.iterate(0);
    CHECK(session.close().delivered == 1);
  }
  for (const std::string& placement : placements) {
    CAPTURE(placement);
    Session session = open(placement);
    std::string said;
    if (session.is_server()) {
      said = error_of([&] { session.serve(); });
    } else {
      Client client(session);
      std::optional<Restart> restart = Restart::open(session.comm(), "leaving-results/checkpoints");
      const Box mine{{edge * client.rank, 0, 0}, {edge * (client.rank + 1), edge, edge}};
      said = error_of([&] {
        if (client.rank == 0) {
          CHECK(error_of([&] { restart->read_box("none", 0, mine, mine, client.values.data()); }).find("none") !=
                std::string::npos);
          static_cast<void>(session.close());
        } else {
          restart->read_box("t", 0, mine, mine, client.values.data());
          session.start();
        }
      });
      if (client.size == 1 && world_size() == 1) continue;
    }
    CHECK(said.find("closed on some ranks before it started") != std::string::npos);
  }
}
