// Changes while a session with a dedicated server runs: blocks move, grow and vanish, memory is committed late,
// iterations with declarations are refused. The server's analysis notes what it is shown.
#include <doctest/doctest.h>
#include <mpi.h>

#include <map>
#include <string>
#include <vector>

#include "sidestream/sidestream.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

struct Shown {
  Box owned, array;
  double first = 0;
};
/// The shown values, by iteration and block.
using Notes = std::map<std::int64_t, std::map<std::int64_t, Shown>>;

class Note final : public Task {
 public:
  Note(Notes& notes, std::int32_t variable) : notes_(notes), variable_(variable) {}
  [[nodiscard]] Selection selection() const override { return {{{variable_, 0}}}; }
  [[nodiscard]] Bytes local(const LocalInput& input) override {
    for (const BlockView& view : input.of(variable_)) {
      Shown& shown = notes_[input.iteration.index][view.block.id];
      shown.array = view.array.box;
      if (view.owned.empty()) continue;
      shown.owned = view.owned.front();
      const Index3& at = shown.owned.lo;
      shown.first = *view.array.at<double>(at[0], at[1], at[2]);
    }
    return {};
  }
  Bytes combine(const CombineInput&) override { return {}; }

 private:
  Notes& notes_;
  std::int32_t variable_;
};

/// Runs `client` on all ranks but the last, which is the server. Returns what was shown; only the server has it.
template <class Client>
Notes run(const std::string& variable, Client&& client, const std::string& more = "") {
  Notes notes;
  Session session =
      Session::open_text(testing::test_ranks(),
                         "placement: {mode: cores, buffer: 8 MiB}\n"
                         "meshes: {line: {type: uniform, size: [64]}}\n"
                         "variables: {v: {mesh: line, centering: node}, once: {mesh: line, time_varying: false}}\n"
                         "output: {directory: changes-results, existing: replace, timings: false}\n"
                         "analyses: [note: {variable: " +
                             variable + "}]\n" + more);
  Option name{"variable", OptionType::variable};
  name.required = true;
  session.registry().add(AnalysisKind{"note", "Notes.", {name}, [&](const Settings& s, const Metadata& m) {
                                        return std::make_unique<Note>(notes, m.find_variable(s.text("variable"))->id);
                                      }});
  if (session.is_server()) {
    session.serve();
  } else {
    int rank = 0;
    MPI_Comm_rank(session.comm(), &rank);
    client(session, rank);
  }
  session.close();
  return notes;
}

Box cells(Index from, Index to) { return Box{{from, 0, 0}, {to, 1, 1}}; }

bool is_server() {
  int rank = 0, size = 0;
  MPI_Comm_rank(testing::test_ranks(), &rank);
  MPI_Comm_size(testing::test_ranks(), &size);
  return rank == size - 1;
}

void publish(Session& s, std::int64_t block, Index points, double value) {
  s.publish("v", block, std::vector<double>(static_cast<std::size_t>(points), value));
}

}  // namespace

TEST_CASE("a block that one client gives to another keeps its place, whatever order the messages come in") {
  Notes notes = run("v", [](Session& s, int rank) {
    if (rank == 1) s.set_block("line", 1, cells(10, 20));
    if (rank == 0) s.set_block("line", 2, cells(20, 30));
    s.start();
    s.end_iteration(0, 0);
    if (rank == 0) s.set_block("line", 1, cells(10, 20));
    if (rank == 1) s.remove_block("line", 1);
    if (rank == 0) {
      publish(s, 1, 11, 5);
      publish(s, 2, 11, 6);
    }
    s.end_iteration(1, 1);
  });
  if (!is_server()) return;
  CHECK(notes[1][1].owned.lo[0] == 10);
  CHECK(notes[1][2].owned.lo[0] == 21);  // node 20 belongs to block 1, which is still declared
}

TEST_CASE("declarations in a refused iteration hold in the next one") {
  Notes notes = run("v", [](Session& s, int rank) {
    s.start();
    if (rank == 0) {
      CHECK_THROWS_AS(s.publish("nothing", 0, std::vector<double>()), Error);
      s.set_block("line", 0, cells(0, 10));
    } else {
      s.set_block("line", 1, cells(10, 20));
    }
    s.end_iteration(0, 0);
    publish(s, rank, 11, 1);
    s.end_iteration(1, 1);
  });
  if (!is_server()) return;
  CHECK(notes.count(0) == 0);
  CHECK(notes[1][1].owned.lo[0] == 11);
}

TEST_CASE("memory that is committed in a later iteration than it was allocated in is that iteration's") {
  Notes notes = run("v", [](Session& s, int rank) {
    s.set_block("line", rank, cells(10 * rank, 10 * rank + 10));
    s.start();
    auto* early = s.alloc<double>("v", rank, 11);
    s.end_iteration(0, 0);
    for (int i = 0; i < 11; ++i) early[i] = 7;
    s.commit("v", rank);
    s.clear("v", rank);
    s.end_iteration(1, 1);
    for (int it = 2; it < 12; ++it) {
      publish(s, rank, 11, it);
      s.end_iteration(it, it);
    }
  });
  if (!is_server()) return;
  CHECK(notes[1][0].first == 7);
  for (int it = 2; it < 12; ++it) CHECK(notes[it][0].first == it);
}

TEST_CASE("a block cannot change under memory that is in use") {
  run("v", [](Session& s, int rank) {
    s.set_block("line", rank, cells(10 * rank, 10 * rank + 10));
    s.start();
    static_cast<void>(s.alloc<double>("v", rank, 11));
    CHECK_THROWS_AS(s.set_block("line", rank, cells(10 * rank, 10 * rank + 5)), Error);
    CHECK_THROWS_AS(s.set_allocated("v", rank, cells(10 * rank, 10 * rank + 20)), Error);
    CHECK_THROWS_AS(s.remove_block("line", rank), Error);
    s.clear("v", rank);
    s.set_block("line", rank, cells(10 * rank, 10 * rank + 5));
    s.end_iteration(0, 0);
  });
}

TEST_CASE("an array that does not vary goes with the block that it was published on") {
  Notes notes = run("once", [](Session& s, int rank) {
    s.set_block("line", rank, cells(10 * rank, 10 * rank + 10));
    s.start();
    s.publish("once", rank, std::vector<double>(10, 1));
    s.end_iteration(0, 0);
    if (rank == 0) s.set_block("line", 0, cells(0, 9));
    s.end_iteration(1, 1);
    if (rank == 0) s.publish("once", 0, std::vector<double>(9, 1));
    if (rank == 1) s.remove_block("line", 1);
    s.end_iteration(2, 2);
  });
  if (!is_server()) return;
  CHECK(notes[0].size() == 2);
  CHECK(notes[1].size() == 1);
  CHECK(notes[1].count(1) == 1);
  CHECK(notes[2].size() == 1);
  CHECK(notes[2][0].array.hi[0] == 9);
}

TEST_CASE("blocks that a client leaves out are counted, and wrong blocks fail the start on servers too") {
  run("v", [](Session& s, int rank) {
    s.set_block("line", rank, cells(10 * rank, 10 * rank + 10));
    s.start();
    if (rank == 0) publish(s, 0, 11, 1);
    s.end_iteration(0, 0);
    CHECK(s.close().absent_blocks == 1);
    s = Session::open_text(MPI_COMM_SELF, "placement: off");
  });
  Session session =
      Session::open_text(testing::test_ranks(),
                         "placement: {mode: cores, buffer: 1 MiB}\nmeshes: {line: {type: uniform, size: [64]}}\n"
                         "output: {directory: changes-results, existing: replace}\n");
  if (session.is_server()) {
    CHECK_THROWS_AS(session.serve(), Error);
  } else {
    session.set_block("line", 0, cells(0, 65));
    CHECK_THROWS_AS(session.start(), Error);
  }
}
