// Sessions of a C++ program: several at once, declarations by calls, blocks that come and go, strides, arrays that are
// published once, and the program's own analyses.
#include <doctest/doctest.h>
#include <mpi.h>

#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "sidestream/sidestream.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

/// The sums of blocks' owned values that an analysis of the test saw on this rank, by iteration and block id.
using Seen = std::map<std::int64_t, std::map<std::int64_t, double>>;

class Watch final : public Task {
 public:
  Watch(Seen& seen, std::int32_t variable) : seen_(seen), variable_(variable) {}
  [[nodiscard]] Selection selection() const override { return {{{variable_, 0}}}; }
  [[nodiscard]] Bytes local(const LocalInput& input) override {
    for (const BlockView& view : input.of(variable_)) {
      double sum = 0;
      for (const Box& box : view.owned) {
        std::vector<double> values(static_cast<std::size_t>(box.count()));
        view.gather(box, 0, values.data());
        sum = std::accumulate(values.begin(), values.end(), sum);
      }
      seen_[input.iteration.index][view.block.id] = sum;
    }
    return {};
  }
  Bytes combine(const CombineInput&) override { return {}; }

 private:
  Seen& seen_;
  std::int32_t variable_;
};

void watch(Session& session, Seen& seen) {
  Option variable{"variable", OptionType::variable};
  variable.required = true;
  session.registry().add(AnalysisKind{"watch", "Watches.", {variable}, [&seen](const Settings& s, const Metadata& m) {
                                        return std::make_unique<Watch>(seen, m.find_variable(s.text("variable"))->id);
                                      }});
}

std::string configuration(const std::string& placement, const std::string& directory) {
  return "placement: " + placement + "\noutput: {directory: " + directory + ", existing: replace, timings: false}\n" +
         "analyses:\n  - watch: {variable: v}\n";
}

void declare(Session& session, int size) {
  session.add_uniform_mesh("line", {4 * size, 2}, {0, 0}, {1, 1});
  Variable v;
  v.name = "v";
  v.type = Type::int32;
  session.add_variable("line", v);
}

Box cells(int rank) { return Box{{4 * rank, 0, 0}, {4 * rank + 4, 2, 1}}; }

int size_of_world() {
  int size = 1;
  MPI_Comm_size(testing::test_ranks(), &size);
  return size;
}

}  // namespace

TEST_CASE("two sessions at once do not disturb each other") {
  Seen seen_a, seen_b;
  Session a = Session::open_text(testing::test_ranks(), configuration("inline", "sessions-a"));
  Session b = Session::open_text(testing::test_ranks(), configuration("inline", "sessions-b"));
  watch(a, seen_a);
  watch(b, seen_b);
  int rank = 0;
  MPI_Comm_rank(a.comm(), &rank);
  for (Session* s : {&a, &b}) {
    declare(*s, size_of_world());
    s->set_block("line", rank, cells(rank));
    s->start();
  }
  const std::vector<std::int32_t> ones(8, 1), twos(8, 2);
  for (int it = 0; it < 3; ++it) {
    a.publish("v", rank, ones);
    b.publish("v", rank, twos);
    b.end_iteration(it, it);
    a.end_iteration(it, it);
  }
  CHECK(a.close().delivered == 3);
  CHECK(b.close().delivered == 3);
  for (int it = 0; it < 3; ++it) {
    CHECK(seen_a[it][rank] == 8);
    CHECK(seen_b[it][rank] == 16);
  }
}

TEST_CASE("blocks appear, change and vanish") {
  Seen seen;
  Session s = Session::open_text(testing::test_ranks(), configuration("inline", "sessions-blocks"));
  watch(s, seen);
  int rank = 0;
  MPI_Comm_rank(s.comm(), &rank);
  declare(s, size_of_world());
  s.start();  // no blocks yet
  s.end_iteration(0, 0);
  s.set_block("line", rank, cells(rank));
  const std::vector<std::int32_t> ones(8, 1);
  s.publish("v", rank, ones);
  s.end_iteration(1, 1);
  Box half = cells(rank);
  half.hi[0] -= 2;
  s.set_block("line", rank, half);
  s.publish("v", rank, std::span(ones).first(4));
  s.end_iteration(2, 2);
  s.remove_block("line", rank);
  CHECK_THROWS_AS(s.publish("v", rank, ones), Error);
  s.end_iteration(3, 3);
  CHECK(s.close().delivered == 3);
  CHECK(seen[0].empty());
  CHECK(seen[1][rank] == 8);
  CHECK(seen[2][rank] == 4);
  CHECK(seen[3].empty());
}

TEST_CASE("strided arrays and allocated boxes") {
  Seen seen;
  Session s = Session::open_text(testing::test_ranks(), configuration("inline", "sessions-strides"));
  watch(s, seen);
  int rank = 0;
  MPI_Comm_rank(s.comm(), &rank);
  declare(s, size_of_world());
  s.set_block("line", rank, cells(rank));
  s.start();
  // 4 x 2 cells inside rows of 10, every second element.
  std::vector<std::int32_t> memory(40, 1000);
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < 4; ++i) memory[static_cast<std::size_t>(j * 10 + 2 * i)] = 1 + i + 10 * j;
  }
  s.publish("v", rank, {memory.data(), {4, 2}, {2, 10}});
  s.end_iteration(0, 0);
  Box with_ghosts = cells(rank);
  for (int a = 0; a < 2; ++a) {
    --with_ghosts.lo[a];
    ++with_ghosts.hi[a];
  }
  s.set_allocated("v", rank, with_ghosts);
  std::vector<std::int32_t> ghosted(6 * 4, -99);
  for (int j = 1; j < 3; ++j) {
    for (int i = 1; i < 5; ++i) ghosted[static_cast<std::size_t>(i + 6 * j)] = 3;
  }
  s.publish("v", rank, ghosted);
  s.end_iteration(1, 1);
  s.close();
  CHECK(seen[0][rank] == 1 + 2 + 3 + 4 + 11 + 12 + 13 + 14);
  CHECK(seen[1][rank] == 24);
}

TEST_CASE("an array that does not vary in time is published once and there for ever, until it is replaced") {
  for (const std::string& placement :
       {std::string("inline"), std::string("{mode: cores, buffer: 32 MiB}"), std::string("{mode: nodes}")}) {
    if (placement != "inline" && size_of_world() == 1) continue;
    CAPTURE(placement);
    Seen seen;
    Session s = Session::open_text(testing::test_ranks(), configuration(placement, "sessions-once"));
    watch(s, seen);
    if (s.is_server()) {
      s.serve();
      s.close();
      const int clients = size_of_world() - 1;
      for (int it = 0; it < 5; ++it) {
        for (int r = 0; r < clients; ++r) CHECK(seen[it][r] == (it < 3 ? 8 : 16));
      }
      continue;
    }
    int rank = 0, size = 1;
    MPI_Comm_rank(s.comm(), &rank);
    MPI_Comm_size(s.comm(), &size);
    declare(s, size);
    s.set_attribute("v", "time_varying", "false");
    s.set_block("line", rank, cells(rank));
    s.start();
    const std::vector<std::int32_t> ones(8, 1), twos(8, 2);
    for (int it = 0; it < 5; ++it) {
      if (it == 0) s.publish("v", rank, ones);
      if (it == 3) s.publish("v", rank, twos);
      s.end_iteration(it, it);
    }
    CHECK(s.close().delivered == 5);
    if (placement != "inline") continue;
    for (int it = 0; it < 5; ++it) CHECK(seen[it][rank] == (it < 3 ? 8 : 16));
  }
}

TEST_CASE("declarations that only some clients make are an error on all") {
  if (size_of_world() == 1) return;
  Session s = Session::open_text(testing::test_ranks(), configuration("inline", "sessions-differ"));
  Seen seen;
  watch(s, seen);
  int rank = 0;
  MPI_Comm_rank(s.comm(), &rank);
  declare(s, rank == 0 ? 5 : 6);
  CHECK_THROWS_AS(s.start(), Error);
}

TEST_CASE("a session that is closed says so in every call, and does not crash") {
  Session session = Session::open_text(testing::test_ranks(), "placement: off");
  static_cast<void>(session.close());
  const auto says = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const std::string closed = ": the session is closed";
  CHECK(says([&] { static_cast<void>(session.is_server()); }).find("is_server" + closed) == 0);
  CHECK(says([&] { session.start(); }).find("start" + closed) == 0);
  CHECK(says([&] { session.set("n", std::int64_t{1}); }).find("set" + closed) == 0);
  CHECK(says([&] { session.set_block("m", 0, {}); }).find("set_block" + closed) == 0);
  CHECK(says([&] { static_cast<void>(session.publish("v", 0, std::vector<double>{})); }).find("publish" + closed) == 0);
  CHECK(says([&] { static_cast<void>(session.end_iteration(0, 0)); }).find("end_iteration" + closed) == 0);
  CHECK(says([&] { static_cast<void>(session.close()); }).find("close: the session is closed already") == 0);
}
