// Whole lists of blocks in one call, while a session with a dedicated server runs: what the server is shown is compared
// with a table that the test keeps for itself.
#include <doctest/doctest.h>
#include <mpi.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "sidestream/sidestream.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

constexpr Index length = 48;

/// A block as the test knows it, and as a server was shown it.
struct Known {
  Box cells;
  double value = 0;
  bool operator==(const Known& other) const { return cells == other.cells && value == other.value; }
};
using Shown = std::map<std::int64_t, std::map<std::int64_t, Known>>;  // by iteration and block

class Note final : public Task {
 public:
  Note(Shown& shown, std::int32_t variable) : shown_(shown), variable_(variable) {}
  [[nodiscard]] Selection selection() const override { return {{{variable_, 0}}}; }
  [[nodiscard]] Bytes local(const LocalInput& input) override {
    auto& now = shown_[input.iteration.index];
    for (const BlockView& view : input.of(variable_)) {
      const Index3& at = view.array.box.lo;
      now[view.block.id] = {view.block.cells, view.array.box.empty() ? 0 : *view.array.at<double>(at[0], at[1], at[2])};
    }
    return {};
  }
  Bytes combine(const CombineInput&) override { return {}; }

 private:
  Shown& shown_;
  std::int32_t variable_;
};

bool is_server() {
  int rank = 0, size = 0;
  MPI_Comm_rank(testing::test_ranks(), &rank);
  MPI_Comm_size(testing::test_ranks(), &size);
  return rank == size - 1;
}

/// Runs `client` on all ranks but the last, which serves and returns what `t` and `once` were shown as.
template <class Client>
std::array<Shown, 2> run(Client&& client) {
  std::array<Shown, 2> shown;
  Session session =
      Session::open_text(testing::test_ranks(),
                         "placement: {mode: cores, buffer: 8 MiB}\n"
                         "meshes: {line: {size: [48]}, dots: {type: points, coordinates: x, dimensions: 1}}\n"
                         "variables: {t: {mesh: line}, once: {mesh: line, time_varying: false}, x: {mesh: dots}}\n"
                         "output: {directory: replacing-results, existing: replace, timings: false}\n"
                         "analyses: [note: {variable: t}, note: {name: other, variable: once}]\n");
  Option name{"variable", OptionType::variable};
  name.required = true;
  session.registry().add(AnalysisKind{"note", "Notes.", {name}, [&](const Settings& s, const Metadata& m) {
                                        const Variable* of = m.find_variable(s.text("variable"));
                                        return std::make_unique<Note>(shown[of->name == "once"], of->id);
                                      }});
  if (session.is_server()) {
    session.serve();
  } else {
    int rank = 0, size = 0;
    MPI_Comm_rank(session.comm(), &rank);
    MPI_Comm_size(session.comm(), &size);
    client(session, rank, size);
  }
  session.close();
  return shown;
}

struct Piece {
  Block block;
  int owner;
};

Block box(std::int64_t id, Index from, Index to) {
  Block block;
  block.id = id;
  block.cells = Box{{from, 0, 0}, {to, 1, 1}};
  return block;
}

/// The line of cells in pieces, at random. A block has the number of its first cell: ids come back with the same cells,
/// with others, and on other clients. Each third iteration is like the one before.
std::vector<Piece> pieces_of(std::int64_t iteration, int clients) {
  std::mt19937 random(static_cast<unsigned>(iteration - (iteration % 3 == 2 ? 1 : 0)));
  std::vector<Piece> all;
  for (Index from = 0; from < length;) {
    const Index to = std::min<Index>(length, from + 1 + random() % 12);
    const int owner = static_cast<int>(random() % static_cast<unsigned>(clients));
    if (random() % 8 != 0) all.push_back({box(from, from, to), owner});
    from = to;
  }
  return all;
}

std::vector<Block> mine(const std::vector<Piece>& pieces, int rank) {
  std::vector<Block> blocks;
  for (const Piece& piece : pieces) {
    if (piece.owner == rank) blocks.push_back(piece.block);
  }
  return blocks;
}

constexpr std::int64_t iterations = 30;
/// Iterations that a client refuses, and those in which new arrays that do not vary in time are not published.
bool is_refused(std::int64_t iteration) { return iteration % 7 == 4; }
bool forgets(std::int64_t iteration) { return iteration % 5 == 3; }

std::vector<double> values(const Block& block, double value) {
  return std::vector<double>(static_cast<std::size_t>(block.cells.count()), value);
}

void simulate(Session& s, int rank, int clients) {
  std::map<std::int64_t, Box> before;
  for (std::int64_t it = 0; it < iterations; ++it) {
    const std::vector<Block> blocks = mine(pieces_of(it, clients), rank);
    s.replace_blocks("line", blocks);
    if (it == 0) s.start();
    if (is_refused(it) && rank == 0) CHECK_THROWS_AS(s.publish("nothing", 0, std::vector<double>()), Error);
    std::map<std::int64_t, Box> now;
    for (const Block& block : blocks) {
      const auto known = before.find(block.id);
      const bool stays = known != before.end() && known->second == block.cells;
      if (!stays && !forgets(it)) {
        s.publish("once", block.id, values(block, 100.0 * static_cast<double>(it) + static_cast<double>(block.id)));
      }
      s.publish("t", block.id, values(block, static_cast<double>(it)));
      now.emplace(block.id, block.cells);
    }
    before = now;
    s.end_iteration(it, static_cast<double>(it));
  }
}

/// The blocks that must be shown in each iteration that is not refused.
std::array<Shown, 2> expected(int clients) {
  std::array<Shown, 2> all;
  std::map<std::int64_t, std::pair<int, Box>> before;
  std::map<std::int64_t, Known> once;
  for (std::int64_t it = 0; it < iterations; ++it) {
    std::map<std::int64_t, std::pair<int, Box>> now;
    std::map<std::int64_t, Known> kept;
    for (const auto& [block, owner] : pieces_of(it, clients)) {
      now.emplace(block.id, std::pair(owner, block.cells));
      const auto known = before.find(block.id);
      const bool stays = known != before.end() && known->second == now.at(block.id);
      if (stays && once.count(block.id) != 0) kept.emplace(block.id, once.at(block.id));
      const double value = 100.0 * static_cast<double>(it) + static_cast<double>(block.id);
      if (!stays && !forgets(it)) kept.emplace(block.id, Known{block.cells, value});
      if (!is_refused(it)) all[0][it][block.id] = {block.cells, static_cast<double>(it)};
    }
    if (!is_refused(it)) all[1][it] = kept;
    before = now;
    once = kept;
  }
  return all;
}

}  // namespace

TEST_CASE("servers see the blocks of the lists, and arrays that do not vary stay with blocks that do") {
  const auto shown = run(simulate);
  if (!is_server()) return;
  int size = 0;
  MPI_Comm_size(testing::test_ranks(), &size);
  const auto wanted = expected(size - 1);
  int kept = 0;
  for (std::int64_t it = 0; it < iterations; ++it) {
    CAPTURE(it);
    for (std::size_t variable = 0; variable < 2; ++variable) {
      const auto found = shown[variable].find(it), needed = wanted[variable].find(it);
      const std::map<std::int64_t, Known> none;
      CHECK((found == shown[variable].end() ? none : found->second) ==
            (needed == wanted[variable].end() ? none : needed->second));
    }
    for (const auto& [id, known] : wanted[1].count(it) ? wanted[1].at(it) : std::map<std::int64_t, Known>()) {
      kept += known.value < 100.0 * static_cast<double>(it);
    }
  }
  CHECK(kept > 20);  // arrays of earlier iterations
}

TEST_CASE("what is in use cannot be replaced, and then nothing changes") {
  const auto shown = run([](Session& s, int rank, int) {
    const Index at = 10 * rank;
    const Block first = box(2 * rank, at, at + 4), second = box(2 * rank + 1, at + 4, at + 8);
    s.replace_blocks("line", {first, second});
    s.start();
    const Handle handle = s.handle("t", first.id);
    s.publish("t", first.id, values(first, 1));
    s.publish("once", second.id, values(second, 5));
    // A block that was published stays, the other one has an array that was published: neither goes, nor changes.
    CHECK_THROWS_AS(s.replace_blocks("line", {second}), Error);
    CHECK_THROWS_AS(s.replace_blocks("line", {first, box(second.id, at + 4, at + 6)}), Error);
    CHECK(s.end_iteration(0, 0) == Taken::refused);
    s.publish(handle, values(first, 2));
    s.replace_blocks("line", {second, first, box(100 + rank, at + 8, at + 10)});
    s.publish("t", second.id, values(second, 3));
    CHECK(s.end_iteration(1, 1) == Taken::yes);
    static_cast<void>(s.alloc<double>("t", second.id, 4));
    s.replace_blocks("line", {second});
    CHECK_THROWS_AS(s.publish(handle, values(first, 2)), Error);
    CHECK_THROWS_AS(s.replace_blocks("line", {}), Error);
    s.clear("t", second.id);
    s.end_iteration(2, 2);
    s.replace_blocks("line", {});
    CHECK(s.end_iteration(3, 3) == Taken::yes);
    s.replace_blocks("line", {second});
    s.publish("t", second.id, values(second, 4));
    CHECK(s.end_iteration(4, 4) == Taken::yes);
  });
  if (!is_server()) return;
  CHECK(shown[0].count(0) == 0);
  CHECK(shown[0].at(1).at(1) == Known{Box{{4, 0, 0}, {8, 1, 1}}, 3});
  CHECK(shown[1].at(1).at(1) == Known{Box{{4, 0, 0}, {8, 1, 1}}, 5});
  CHECK(shown[0].at(4).at(1).value == 4);
  CHECK((shown[1].count(4) == 0 || shown[1].at(4).empty()));  // it went with the block
}

TEST_CASE("allocated boxes stay with their blocks, also when lists are given several times before the start") {
  run([](Session& s, int rank, int) {
    const Index at = 10 * rank + 2;
    s.replace_blocks("line", {box(rank, at, at + 2), box(50 + rank, at + 4, at + 5)});
    s.set_allocated("t", rank, Box{{at - 1, 0, 0}, {at + 3, 1, 1}});
    s.set_allocated("t", 50 + rank, Box{{at + 3, 0, 0}, {at + 6, 1, 1}});
    s.replace_blocks("line", {box(rank, at, at + 2)});
    s.start();
    s.publish("t", rank, std::vector<double>(4));
    s.end_iteration(0, 0);
    s.replace_blocks("line", {box(rank, at, at + 2), box(50 + rank, at + 4, at + 5)});
    s.publish("t", rank, std::vector<double>(4));
    s.publish("t", 50 + rank, std::vector<double>(1));  // a new block has no ghosts
    CHECK(s.end_iteration(1, 1) == Taken::yes);
    s.replace_blocks("line", {box(rank, at, at + 3)});
    s.publish("t", rank, std::vector<double>(3));
    CHECK(s.end_iteration(2, 2) == Taken::yes);
  });
}

TEST_CASE("more blocks than messages that a client has room for, before the start too") {
  run([](Session& s, int rank, int) {
    std::vector<Block> many(6000);
    for (std::size_t n = 0; n < many.size(); ++n) many[n] = box(10000 * rank + static_cast<std::int64_t>(n), 0, 0);
    s.replace_blocks("line", many);
    s.start();
    CHECK(s.end_iteration(0, 0) == Taken::yes);
    for (Block& block : many) block.id += 7;
    s.replace_blocks("line", many);
    s.replace_blocks("line", many);
    CHECK(s.end_iteration(1, 1) == Taken::yes);
    s.replace_blocks("line", {});
    CHECK(s.end_iteration(2, 2) == Taken::yes);
  });
}

TEST_CASE("lists of lists") {
  run([](Session& s, int rank, int) {
    const auto dots = [&](Index points, double low) {
      Block block;
      block.id = rank;
      block.space = IndexSpace::list;
      block.cells = list_box(points);
      block.lengths.points = points;
      block.bounds = {{low, 0, 0}, {low + 1, 0, 0}};
      return block;
    };
    s.replace_blocks("dots", {dots(3, 0)});
    s.start();
    s.publish("x", rank, std::vector<double>(3));
    s.end_iteration(0, 0);
    s.replace_blocks("dots", {dots(3, 1)});  // only moved
    s.publish("x", rank, std::vector<double>(3));
    CHECK(s.end_iteration(1, 1) == Taken::yes);
    s.replace_blocks("dots", {dots(5, 1)});
    s.publish("x", rank, std::vector<double>(5));
    CHECK(s.end_iteration(2, 2) == Taken::yes);
  });
}
