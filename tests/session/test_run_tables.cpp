// Rows of a run's tables are written to files during the run, in bounded memory, each row once.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "session/serving/run_tables.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/sidestream.hpp"
#include "storage/formats/csv.hpp"
#include "support/ranks.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

std::string row_of(int member, int number) {
  return std::to_string(member) + ",row " + std::to_string(number) +
         std::string(static_cast<std::size_t>(number % 50), 'x') + "\n";
}

std::string spilled(const RowSpool& spool) {
  std::string all;
  spool.read_spilled([&](std::string_view some) { all += some; });
  return all;
}

}  // namespace

TEST_CASE("rows that are shown are in the file at once, each once, and are written like others later") {
  const Scratch scratch;
  const std::string path = scratch.path + "/.t.csv.rows";
  constexpr int members = 2, rows = 9'000;
  std::vector<RowSpool> spools;
  for (int m = 0; m < members; ++m) spools.emplace_back(path, m, members);
  std::vector<std::string> expected(members);
  const auto in_file = [&] {
    std::string all;
    read_part_file(path, [&](std::string_view some) { all += some; });
    return all;
  };
  for (int n = 0; n < rows; ++n) {
    for (int m = 0; m < members; ++m) {
      const auto at = static_cast<std::size_t>(m);
      spools[at].add(row_of(m, n));
      expected[at] += row_of(m, n);
      if (n % 1000 == 500 * m) spools[at].show();
    }
    if (n != 700 && n != 8500) continue;
    const std::string now = "\n" + in_file();
    for (const int m : {0, 1}) {
      const int last = m == 0 ? n / 1000 * 1000 : (n + 500) / 1000 * 1000 - 500;
      CHECK(std::count(now.begin(), now.end(), '\n') > last);
      const std::string row = "\n" + row_of(m, last);
      const auto found = now.find(row);
      REQUIRE(found != std::string::npos);
      CHECK(now.find(row, found + 1) == std::string::npos);
    }
  }
  for (std::size_t m = 0; m < members; ++m) {
    CHECK(spools[m].spilled() > 0);
    CHECK(spilled(spools[m]) + spools[m].buffered() == expected[m]);
    spools[m].show();
  }
  const std::string all = in_file();
  CHECK(all.size() == expected[0].size() + expected[1].size());
}

TEST_CASE("three members of one part file: each has its rows, in order, and no more than a chunk of them in memory") {
  const Scratch scratch;
  const std::string path = scratch.path + "/.t.csv.rows";
  constexpr int members = 3, rows = 30'000;
  std::vector<RowSpool> spools;
  for (int m = 0; m < members; ++m) spools.emplace_back(path, m, members);
  std::vector<std::string> expected(members);
  for (int n = 0; n < rows; ++n) {
    for (int m = 0; m < members; ++m) {
      if (n % (m + 1) != 0) continue;  // members have different numbers of rows
      const std::string row = row_of(m, n);
      spools[static_cast<std::size_t>(m)].add(row);
      expected[static_cast<std::size_t>(m)] += row;
      REQUIRE(spools[static_cast<std::size_t>(m)].buffered().size() <= RowSpool::chunk);
    }
  }
  std::string whole;
  for (std::size_t m = 0; m < members; ++m) {
    CHECK(spools[m].spilled() > 0);
    CHECK(spools[m].size() == expected[m].size());
    CHECK(spilled(spools[m]) + spools[m].buffered() == expected[m]);
    whole += spilled(spools[m]);
  }
  // Only whole rows are read from a file after a crash.
  std::string found;
  read_part_file(path, [&](std::string_view some) { found += some; });
  const auto lines = [](const std::string& text) {
    std::multiset<std::string> all;
    for (const CsvRecord& record : parse_csv(text)) all.emplace(record.text);
    return all;
  };
  CHECK(lines(found) == lines(whole));
}

TEST_CASE("many rows at once are divided at the ends of rows") {
  const Scratch scratch;
  RowSpool spool(scratch.path + "/.t.csv.rows", 0, 1);
  std::string all;
  for (int n = 0; all.size() < 3 * RowSpool::chunk; ++n) all += row_of(0, n);
  spool.add(all);
  CHECK(spool.spilled() > RowSpool::chunk);
  CHECK(spool.buffered().size() <= RowSpool::chunk);
  CHECK(spilled(spool) + spool.buffered() == all);
}

TEST_CASE("a part file that cannot be written costs rows, which are counted, and not the run") {
  const Scratch scratch;
  const std::string path = scratch.path + "/.t.csv.rows";
  std::string victim = scratch.path + "/victim", wanted;
  SUBCASE("a symbolic link is not followed") {
    std::ofstream(victim) << "precious";
    std::filesystem::create_symlink(victim, path);
    wanted = path;
  }
  SUBCASE("a folder has the name") {
    std::filesystem::create_directory(path);
    wanted = path;
  }
  RowSpool spool(path, 0, 1);
  std::string all;
  constexpr int rows = 20'000;
  for (int n = 0; n < rows; ++n) {
    spool.add(row_of(0, n));
    all += row_of(0, n);
  }
  // The buffer has the first rows, whole.
  const std::string& kept = spool.buffered();
  CHECK((!kept.empty() && kept.size() <= RowSpool::chunk && kept.back() == '\n'));
  CHECK(kept == all.substr(0, kept.size()));
  CHECK(spool.lost() == rows - std::count(kept.begin(), kept.end(), '\n'));
  CHECK(spool.spilled() == 0);
  CHECK(spilled(spool).empty());
  CHECK(spool.failure().find(wanted) != std::string::npos);
  if (std::filesystem::exists(victim)) CHECK(read_file(victim) == "precious");
}

TEST_CASE("a ledger hands its rows over: few of a kind stay, and those taken and left are all") {
  for (const auto kind :
       {LedgerRows::Iterations::none, LedgerRows::Iterations::taken, LedgerRows::Iterations::gathered}) {
    CAPTURE(static_cast<int>(kind));
    const Scratch scratch;
    RunTables::Kinds kinds;
    kinds.moves = true;
    RunTables tables(scratch.path, 4, 5, kinds);
    Ledger ledger({"idle", "a task"}, true, {[&](const Ledger& full) { tables.take(full); }, kind});
    Ledger plain({"idle", "a task"}, true);
    constexpr std::int64_t iterations = 9000;
    for (std::int64_t n = 0; n < iterations; ++n) {
      for (Ledger* one : {&ledger, &plain}) {
        one->work(n, 0, 0.5, 0.25);
        one->work(n, 1, 0.75, 0.125, 0.0625);
        if (n % 3 == 0) one->moved({n, 2, 3, 4});
        one->iteration({{n, 2 * n, 0.1}, n % 5 ? Outcome::delivered : Outcome::refused, 0, -1, "", ""});
      }
      REQUIRE(ledger.timings().size() <= Ledger::most_rows);
      REQUIRE(ledger.moved().size() <= Ledger::most_rows);
    }
    tables.take(ledger);
    CHECK(spilled(tables.timings) + tables.timings.buffered() == server_rows(4, plain));
    CHECK(tables.timings.spilled() > 0);
    CHECK(spilled(tables.movement) + tables.movement.buffered() == movement_rows(4, "server", plain.moved()));
    const std::string rows = spilled(tables.iterations) + tables.iterations.buffered();
    CHECK(rows == (kind == LedgerRows::Iterations::taken ? iteration_rows(plain.iterations()) : ""));
    const std::size_t left = kind == LedgerRows::Iterations::gathered ? std::size_t{iterations} : 0;
    CHECK((kind == LedgerRows::Iterations::taken || ledger.iterations().size() == left));
  }
}

TEST_CASE("rows of a run that ended early go into the tables of a resumed run; other runs remove them") {
  for (const Existing existing : {Existing::replace, Existing::refuse, Existing::resume}) {
    CAPTURE(static_cast<int>(existing));
    const Scratch scratch;
    const std::string path = scratch.path + "/" + timings_table.file;
    std::string rows;
    for (int n = 0; n < 20'000; ++n) rows += row_of(1, n);
    std::ofstream(path) << timings_table.header << "of the first run\n";
    {
      RowSpool spool(part_path(scratch.path, timings_table), 1, 2);
      spool.add(rows);
      rows = spilled(spool);
    }
    // The process was killed during its last write.
    std::filesystem::resize_file(part_path(scratch.path, timings_table),
                                 std::filesystem::file_size(part_path(scratch.path, timings_table)) - 3);
    rows.resize(rows.rfind('\n', rows.size() - 2) + 1);
    OpeningConfig opening;
    opening.directory = scratch.path;
    opening.existing = existing;
    settle_part_files(opening, {timings_table, movement_table});
    const std::string before = fmt::format("{}of the first run\n", timings_table.header);
    CHECK(read_file(path) == before + (existing == Existing::resume ? rows : ""));
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(scratch.path)) ++files;
    CHECK(files == 1);
  }
}

namespace {

constexpr int iterations = 6000;

/// Runs a session with so many iterations, in every placement, that rows are written to part files before it closes.
int run(const std::string& directory, const std::string& placement, const std::string& existing) {
  Session session = Session::open_text(
      test_ranks(), "placement: {" + placement +
                        "}\nmeshes: {line: {type: uniform, size: [64]}}\nvariables: {v: {mesh: line}}\n" +
                        "output: {directory: " + directory + ", existing: " + existing +
                        "}\nanalyses: [statistics: {variable: v, every: 1000}]\n");
  int clients = 0;
  if (session.is_server()) {
    session.serve();
  } else {
    int rank = 0;
    MPI_Comm_rank(session.comm(), &rank);
    MPI_Comm_size(session.comm(), &clients);
    session.set_block("line", rank, Box{{rank, 0, 0}, {rank + 1, 1, 1}});
    const double value[] = {1.5};
    for (int n = 0; n < iterations; ++n) {
      session.publish("v", rank, std::span<const double>(value));
      session.end_iteration(n, n);
    }
  }
  session.close();
  MPI_Allreduce(MPI_IN_PLACE, &clients, 1, MPI_INT, MPI_MAX, test_ranks());
  return clients;
}

/// The number of rows of that role for each iteration of each rank.
std::map<std::pair<std::string, std::string>, int> counted(const std::string& path, const std::string& role) {
  std::map<std::pair<std::string, std::string>, int> counts;
  const std::string text = read_file(path);
  const std::vector<CsvRecord> records = parse_csv(text);
  for (const CsvRecord& record : records) {
    REQUIRE(record.fields.size() == records.front().fields.size());
    if (record.fields[1] == role) ++counts[{record.fields[0], record.fields[2]}];
  }
  return counts;
}

bool all_are(const std::map<std::pair<std::string, std::string>, int>& counts, int times) {
  return std::all_of(counts.begin(), counts.end(), [&](const auto& entry) { return entry.second == times; });
}

void check_tables(const std::string& directory, int clients, bool moves, int runs) {
  const auto rows = counted(directory + "/timings.csv", "client");
  CHECK(rows.size() == static_cast<std::size_t>(clients) * iterations);
  CHECK(all_are(rows, runs));
  // Only the last rows of each client were in memory when it closed.
  CHECK(std::filesystem::file_size(directory + "/timings.csv") >
        static_cast<std::size_t>(clients + 1) * RowSpool::chunk);
  const std::string table = read_file(directory + "/iterations.csv");
  CHECK(std::count(table.begin(), table.end(), '\n') == 1 + std::ptrdiff_t{runs} * iterations);
  if (moves) {
    const auto moved = counted(directory + "/movement.csv", "client");
    CHECK(moved.size() == static_cast<std::size_t>(clients) * iterations);
    CHECK(all_are(moved, runs));
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    CHECK(!entry.path().filename().string().ends_with(".rows"));
  }
}

}  // namespace

TEST_CASE("every iteration has its row in every placement, also in resumed runs") {
  int rank = 0;
  MPI_Comm_rank(test_ranks(), &rank);
  for (const char* placement : {"mode: inline", "mode: cores, buffer: 32 MiB", "mode: nodes, servers: 1"}) {
    CAPTURE(placement);
    const std::string directory = "run-tables-results";
    const bool moves = std::string(placement).find("nodes") != std::string::npos;
    int clients = run(directory, placement, "replace");
    if (rank == 0) check_tables(directory, clients, moves, 1);
    MPI_Barrier(test_ranks());
    if (moves) continue;
    clients = run(directory, placement, "resume");
    if (rank == 0) check_tables(directory, clients, moves, 2);
    MPI_Barrier(test_ranks());
  }
}
