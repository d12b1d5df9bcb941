// A block that is declared but no longer published covers nothing and owns nothing, in any placement. The table of
// iterations names it.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "sidestream/sidestream.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

const std::vector<std::string> placements{
    "inline",
    "{mode: cores, buffer: 8 MiB}",
    "{mode: nodes, servers: 1, buffer: 8 MiB}",
    "{mode: nodes, servers: 2, buffer: 8 MiB}",
    "{mode: nodes, servers: 2, progress: calls, buffer: 8 MiB}",
    "{mode: nodes, servers: 2, forward: blocks, buffer: 8 MiB}",
    "{mode: nodes, servers: 1, forward: partials, buffer: 8 MiB}",
};

/// The rows of a table, with values by the name of the column.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& file) {
  std::ifstream in("forgotten-results/" + file);
  const auto fields = [](const std::string& line) {
    std::vector<std::string> all;
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, ',');) all.push_back(word);
    return all;
  };
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = fields(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> values = fields(line);
    auto& row = rows.emplace_back();
    for (std::size_t n = 0; n < std::min(names.size(), values.size()); ++n) row[names[n]] = values[n];
  }
  return rows;
}

/// A mesh of 16 x 16 cells in two blocks of level 0, on the first and the last client. The first has a fine block over
/// 8 x 8 of its cells. The second has one that covers it whole. Ids do not follow the order in space.
struct Program {
  explicit Program(const std::string& placement)
      : session(Session::open_text(testing::test_ranks(),
                                   "placement: " + placement +
                                       "\nmeshes: {grid: {type: uniform, size: [16, 16], refinement: [2x2]}}\n"
                                       "variables:\n"
                                       "  t: {mesh: grid}\n  u: {mesh: grid}\n  n: {mesh: grid, centering: node}\n"
                                       "analyses:\n"
                                       "  - statistics: {variable: t, file: t.csv}\n"
                                       "  - statistics: {name: u, variable: u, file: u.csv}\n"
                                       "  - statistics: {name: n, variable: n, file: n.csv}\n"
                                       "output: {directory: forgotten-results, existing: replace}\n")) {}

  void start() {
    MPI_Comm_rank(session.comm(), &rank);
    MPI_Comm_size(session.comm(), &size);
    if (rank == 0) add(4, 0, {{0, 0, 0}, {8, 16, 1}});
    if (rank == size - 1) add(2, 0, {{8, 0, 0}, {16, 16, 1}});
    if (rank == size - 1) add(1, 1, {{0, 8, 0}, {16, 24, 1}});
    if (rank == 0) add(3, 1, {{16, 0, 0}, {32, 32, 1}});
  }
  void add(std::int64_t id, std::int32_t level, const Box& cells) {
    session.set_block("grid", id, cells, level);
    mine.push_back(id);
    boxes[id] = cells;
  }
  /// The number of values of a variable on a block: one for each cell, or for each corner.
  [[nodiscard]] std::size_t values_of(const std::string& variable, std::int64_t id) const {
    const Box& cells = boxes.at(id);
    const Index more = variable == "n" ? 1 : 0;
    return static_cast<std::size_t>((cells.extent(0) + more) * (cells.extent(1) + more));
  }
  /// Publishes all but the forgotten blocks of each variable, and ends the iteration.
  void iterate(std::int64_t n, const std::map<std::string, std::vector<std::int64_t>>& forgotten) {
    for (const std::string variable : {"t", "u", "n"}) {
      for (const std::int64_t id : mine) {
        const auto found = forgotten.find(variable);
        const bool without = found != forgotten.end() &&
                             std::find(found->second.begin(), found->second.end(), id) != found->second.end();
        if (!without) static_cast<void>(session.publish(variable, id, values.data(), values_of(variable, id)));
      }
    }
    static_cast<void>(session.end_iteration(n, static_cast<double>(n)));
  }

  Session session;
  int rank = 0, size = 1;
  std::vector<std::int64_t> mine;
  std::map<std::int64_t, Box> boxes;
  std::vector<double> values = std::vector<double>(33 * 33, 1.0);
};

void check_counts(const std::string& file, const std::vector<std::string>& expected) {
  CAPTURE(file);
  const auto rows = rows_of(file);
  REQUIRE(rows.size() == expected.size());
  for (std::size_t n = 0; n < expected.size(); ++n) {
    CAPTURE(n);
    CHECK(rows[n].at("count") == expected[n]);
  }
}

}  // namespace

TEST_CASE("what is not published covers nothing and owns nothing") {
  for (const std::string& placement : placements) {
    CAPTURE(placement);
    Program program(placement);
    if (program.session.is_server()) {
      program.session.serve();
      static_cast<void>(program.session.close());
    } else {
      program.start();
      program.iterate(0, {});
      program.iterate(1, {{"t", {1, 3}}, {"u", {1, 3}}, {"n", {1, 3}}});
      program.iterate(2, {{"t", {1}}, {"u", {3}}, {"n", {2}}});
      program.iterate(3, {});
      program.iterate(4, {{"u", {1, 2, 3, 4}}});
      const Account account = program.session.close();
      CHECK(account.delivered == 5);
      CHECK(account.absent_blocks == 6 + 3);
    }
    int rank = 0;
    MPI_Comm_rank(testing::test_ranks(), &rank);
    if (rank == 0) {
      // Block 1 has 16 x 16 fine cells over 64 coarse ones. Block 3 has 16 x 32 over all 128 of block 2.
      const int all = 16 * 16, first = 16 * 16 - 64, second = 16 * 32 - 128;
      const auto text = [](int count) { return std::to_string(count); };
      check_counts("t.csv", {text(all + first + second), text(all), text(all + second), text(all + first + second),
                             text(all + first + second)});
      check_counts("u.csv", {text(all + first + second), text(all), text(all + first), text(all + first + second)});
      CHECK(rows_of("n.csv").at(1).at("count") == std::to_string(17 * 17));
      const auto iterations = rows_of("iterations.csv");
      REQUIRE(iterations.size() == 5);
      CHECK(iterations[0].count("reason") == 0);
      CHECK(iterations[1].at("reason") == "\"'t'");  // and more, because the reason has commas
      CHECK(iterations[2].at("reason").find("'t' is missing on block 1 of the mesh 'grid'") != std::string::npos);
      CHECK(iterations[3].count("reason") == 0);
    }
    MPI_Barrier(testing::test_ranks());
  }
}
