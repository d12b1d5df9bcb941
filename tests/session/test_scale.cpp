// Messages and bytes of a session on each process, counted between the library and MPI, with 2, 4, 8 and 16 processes.
// They grow with the logarithm of the number of processes, with the exceptions in docs/design.md, "Scale".
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <vector>

#include "session/opening/roles.hpp"
#include "sidestream/sidestream.hpp"
#include "support/mpi_counts.hpp"
#include "support/ranks.hpp"
#include "support/scratch.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// Asks for the blocks whose range contains a value. Servers decide which these are, and fetch them.
class Watch final : public Task {
 public:
  [[nodiscard]] Selection selection() const override { return {{{0, 0, ValuesBracketed{{0.5}, {}}}}}; }
  [[nodiscard]] Bytes local(const LocalInput&) override { return {}; }
  Bytes combine(const CombineInput&) override { return {}; }
};

enum Phase : std::size_t { opening, starting, iteration, changed_block, closing, serving, phases };
constexpr std::array<const char*, phases> names{"open", "start", "iteration", "changed block", "close", "serve"};

/// The counts of the process that has most, for each kind of count.
struct Cost {
  std::int64_t messages = 0;  ///< sent or received, between two processes
  std::int64_t collectives = 0, fans = 0, bytes = 0, communicators = 0;
};
using Costs = std::array<Cost, phases>;

Cost cost_of(const MpiCounts& counts) {
  return {std::max(counts.sent, counts.received), counts.collectives, counts.fans,
          std::max(counts.bytes_sent, counts.bytes_received) + counts.bytes_reduced, counts.communicators};
}

/// Calls `work`, and adds what it costs.
template <class Work>
Cost counted(Work&& work) {
  const MpiCounts before = mpi_counts();
  work();
  return cost_of(mpi_counts() - before);
}

/// The cells of a block. Blocks lie along z, two on each rank.
Box cells_of(std::int64_t block, Index more = 0) { return {{0, 0, 4 * block}, {4 + more, 4, 4 * block + 4}}; }

Costs run_client(Session& session, int ranks) {
  Costs costs{};
  int rank = 0;
  MPI_Comm_rank(session.comm(), &rank);
  session.add_uniform_mesh("grid", {8, 4, 8 * ranks}, {0, 0, 0}, {1, 1, 1});
  Variable variable;
  variable.name = "v";
  variable.type = Type::float64;
  session.add_variable("grid", variable);
  const std::array<std::int64_t, 2> mine{2 * rank, 2 * rank + 1};
  for (const std::int64_t block : mine) session.set_block("grid", block, cells_of(block));
  costs[starting] = counted([&] { session.start(); });
  Index more = 0;  // cells that block 0 has in addition
  const auto iterate = [&](std::int64_t cycle) {
    for (const std::int64_t block : mine) {
      std::vector<double> values(static_cast<std::size_t>(cells_of(block, block == 0 ? more : 0).count()), 0);
      values[0] = 1;
      session.publish("v", block, values);
    }
    session.end_iteration(cycle, static_cast<double>(cycle));
  };
  iterate(0);
  costs[iteration] = counted([&] { iterate(1); });
  more = 1;
  if (rank == 0) session.set_block("grid", 0, cells_of(0, more));
  costs[changed_block] = counted([&] { iterate(2); });
  costs[closing] = counted([&] { CHECK(session.close().delivered == 3); });
  return costs;
}

/// Runs a session on `ranks` processes; the communicator is null on the others.
Costs run(MPI_Comm comm, int ranks, const std::string& placement, const std::string& directory) {
  Costs costs{};
  if (comm == MPI_COMM_NULL) return costs;
  const std::string text = "placement: " + placement + "\noutput: {directory: " + directory +
                           ", existing: replace}\nanalyses:\n  - watch: {}\n  - statistics: {variable: v}\n";
  std::unique_ptr<Session> session;
  const Cost open = counted([&] { session = std::make_unique<Session>(Session::open_text(comm, text)); });
  session->registry().add(AnalysisKind{
      "watch", "Watches.", {}, [](const Settings&, const Metadata&) { return std::make_unique<Watch>(); }});
  if (session->is_server()) {
    costs[serving] = counted([&] {
      session->serve();
      session->close();
    });
  } else {
    costs = run_client(*session, ranks);
  }
  costs[opening] = open;
  return costs;
}

/// The largest of each count over all processes.
Costs largest(Costs mine) {
  static_assert(sizeof mine == sizeof(std::int64_t) * 5 * phases);
  MPI_Allreduce(MPI_IN_PLACE, &mine, 5 * phases, MPI_INT64_T, MPI_MAX, test_ranks());
  return mine;
}

/// Costs with `first`, 2 `first`, 4 `first` ... processes.
std::vector<Costs> measure(const std::string& mode, int first, const std::function<std::string(int)>& placement) {
  std::vector<Costs> all;
  int rank = 0, size = 1;
  MPI_Comm_rank(test_ranks(), &rank);
  MPI_Comm_size(test_ranks(), &size);
  std::unique_ptr<Scratch> scratch;
  std::array<char, 256> directory{};
  if (rank == 0) {
    scratch = std::make_unique<Scratch>();
    scratch->path.copy(directory.data(), directory.size() - 1);
  }
  MPI_Bcast(directory.data(), static_cast<int>(directory.size()), MPI_CHAR, 0, test_ranks());
  for (int ranks = first; ranks <= size; ranks *= 2) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(test_ranks(), rank < ranks ? 0 : MPI_UNDEFINED, rank, &part);
    all.push_back(largest(run(part, ranks, placement(ranks), directory.data())));
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    if (rank != 0) continue;
    for (std::size_t p = 0; p < phases; ++p) {
      const Cost& c = all.back()[p];
      MESSAGE(mode, " ", ranks, " ", std::string(names[p]), ": messages ", c.messages, ", collectives ", c.collectives,
              ", fans ", c.fans, ", bytes ", c.bytes, ", communicators ", c.communicators);
    }
  }
  MPI_Barrier(test_ranks());
  return all;
}

/// Checks the costs of each process. The numbers of collective calls and of communicators must not depend on the number
/// of processes. Each doubling may add only as many messages as the one before. No message goes to everybody.
/// `most_bytes` is the limit of bytes that a process may receive or send in a phase, by the number of processes.
void check(const std::vector<Costs>& all, int first, const std::function<std::int64_t(std::size_t, int)>& most_bytes) {
  constexpr std::int64_t slack = 6;
  for (std::size_t p = 0; p < phases; ++p) {
    const std::string name = names[p];
    CAPTURE(name);
    for (std::size_t n = 0; n < all.size(); ++n) {
      const int ranks = first << n;
      CAPTURE(ranks);
      CHECK(all[n][p].fans == 0);
      CHECK(all[n][p].bytes <= most_bytes(p, ranks));
      if (n < 2) continue;  // groups of one member communicate less
      CHECK(all[n][p].communicators == all[n - 1][p].communicators);
      // Serving may need an agreement more or less, if a server has looked once more.
      if (p != serving) CHECK(all[n][p].collectives == all[n - 1][p].collectives);
      CHECK(std::abs(all[n][p].collectives - all[n - 1][p].collectives) <= 40);
      const std::int64_t before = all[n - 1][p].messages - all[n - 2][p].messages;
      CHECK(all[n][p].messages - all[n - 1][p].messages <= before + slack);
    }
  }
}

}  // namespace

TEST_CASE("inline: everybody is client and server") {
  const auto all = measure("inline", 2, [](int) { return "inline"; });
  check(all, 2, [](std::size_t, int ranks) { return 30'000 + 1'000 * ranks; });
}

TEST_CASE("cores: two processes on each node") {
  const auto all = measure("cores", 2, [](int ranks) {
    return "{mode: cores, buffer: 4 MiB, pretend_nodes: " + std::to_string(ranks / 2) + "}";
  });
  check(all, 2, [](std::size_t p, int ranks) { return p == serving ? 30'000 + 1'000 * ranks : 30'000; });
}

TEST_CASE("nodes: as many servers as clients") {
  const auto all = measure("nodes", 2, [](int ranks) {
    return "{mode: nodes, buffer: 4 MiB, pretend_nodes: " + std::to_string(ranks / 2) +
           ", servers: " + std::to_string(ranks / 2) + "}";
  });
  check(all, 2, [](std::size_t p, int ranks) { return p == serving ? 30'000 + 1'000 * ranks : 30'000; });
}

TEST_CASE("nodes with forwarders: a fourth of the processes serve") {
  for (const std::string forward : {"blocks", "partials"}) {
    const auto all = measure("forward: " + forward, 4, [&](int ranks) {
      return "{mode: nodes, buffer: 4 MiB, forward: " + forward + ", pretend_nodes: " + std::to_string(ranks / 4) +
             ", servers: " + std::to_string(ranks / 4) + "}";
    });
    check(all, 4, [](std::size_t p, int ranks) { return p == serving ? 30'000 + 1'000 * ranks : 30'000; });
  }
}

TEST_CASE("100000 processes: the ranks that a process asks, and those that it reports to") {
  for (const auto& [reporters, servers] :
       {std::pair(99'000, 1'000), {50'000, 50'000}, {90'001, 9'999}, {700, 99'300}}) {
    const Reporting reporting{reporters, servers};
    std::vector<int> asked(100'000, 0), told(static_cast<std::size_t>(servers), 0);
    int most_asking = 0;
    for (int n = 0; n < reporters; ++n) {
      std::vector<int> numbers = reporting.unreported_servers(n);
      numbers.push_back(reporting.contact_of(n));
      most_asking = std::max(most_asking, static_cast<int>(numbers.size()));
      for (const int number : numbers) {
        ++asked[static_cast<std::size_t>(number)];  // the rank of that number stores it
        ++told.at(static_cast<std::size_t>(number));
      }
    }
    // Every server is told of rounds, by its share of the reporters.
    const int share = (reporters + servers - 1) / servers + 1;
    CHECK(*std::min_element(told.begin(), told.end()) >= 1);
    CHECK(*std::max_element(told.begin(), told.end()) <= share);
    CHECK(*std::max_element(asked.begin(), asked.end()) <= share);
    CHECK(most_asking <= (servers + reporters - 1) / reporters + 1);
  }
}

TEST_CASE("the functions of MPI that send something are counted, all of them") {
  if (MpiCommunicator(test_ranks()).rank() != 0) return;
  const std::set<std::string> counted{"MPI_Isend",   "MPI_Issend",   "MPI_Irecv",      "MPI_Mrecv",
                                      "MPI_Imrecv",  "MPI_Ibcast",   "MPI_Ibarrier",   "MPI_Iallreduce",
                                      "MPI_Igather", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_split_type"};
  const std::regex sends(
      "\\b(MPI_(I?[a-z]*(send|recv|gatherv?|reduce\\w*|scan|bcast|barrier|alltoall[vw]?|scatterv?)|"
      "Comm_(dup|idup|split|split_type|create\\w*)|Put|Get|Accumulate))\\s*\\(",
      std::regex::icase);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SIDESTREAM_SOURCE "/src")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
    ++files;
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    for (std::sregex_iterator it(text.begin(), text.end(), sends), end; it != end; ++it) {
      if ((*it)[1] == "MPI_Comm_create_keyval") continue;
      CHECK_MESSAGE(counted.contains((*it)[1]), (*it)[1].str(), " in ", entry.path().string());
    }
  }
  CHECK(files > 100);
}
