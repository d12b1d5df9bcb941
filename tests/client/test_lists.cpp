// Lists of unstructured meshes that do not match set_block_list are refused when they are published, for every
// consumer.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sidestream/sidestream.h"

namespace {

constexpr const char* configuration =
    "placement: inline\n"
    "meshes: {m: {type: unstructured, dimensions: 3, coordinates: x, connectivity: l, offsets: o, types: k, faces: f, "
    "face_offsets: e}}\n"
    "variables:\n"
    "  x: {mesh: m, components: 3}\n"
    "  l: {mesh: m, type: int64, time_varying: false}\n"
    "  o: {mesh: m, type: int64}\n"
    "  k: {mesh: m, type: uint8}\n"
    "  f: {mesh: m, type: int32}\n"
    "  e: {mesh: m, type: int32}\n"
    "  t: {mesh: m}\n"
    "analyses: [statistics: {variable: t}]\n"
    "output: {directory: lists-results, existing: replace, timings: false}\n";

/// Two tetrahedra that share a face, and the first of them once more as a polyhedron.
struct Lists {
  std::vector<double> x = std::vector<double>(15, 1), t = {1, 2, 3};
  std::vector<std::int64_t> l = {0, 1, 2, 3, 1, 2, 3, 4, 0, 1, 2, 3}, o = {4, 8, 12};
  std::vector<std::uint8_t> k = {10, 10, 42};
  std::vector<std::int32_t> f = {4, 3, 0, 1, 2, 3, 0, 1, 3, 3, 0, 2, 3, 3, 1, 2, 3}, e = {-1, -1, 17};
};

class Program {
 public:
  Program() {
    REQUIRE(sidestream_open_text(MPI_COMM_SELF, configuration, &s_) == SIDESTREAM_OK);
    declare(5, 3);
    REQUIRE(sidestream_start(s_) == SIDESTREAM_OK);
  }
  ~Program() { sidestream_close(&s_); }
  void declare(std::int64_t points, std::int64_t cells) {
    CHECK(sidestream_set_block_list(s_, "m", 0, points, cells, 12, 17, nullptr) == SIDESTREAM_OK);
  }
  /// Publishes all lists and ends the iteration. Returns the message of the first refusal.
  std::string iterate(const Lists& lists) {
    std::string first;
    const auto publish = [&](const char* name, sidestream_type type, const void* data, std::size_t count) {
      const int code = sidestream_publish_values(s_, name, 0, type, data, static_cast<std::int64_t>(count));
      if (code != SIDESTREAM_OK && first.empty()) first = sidestream_message(s_);
    };
    publish("x", SIDESTREAM_FLOAT64, lists.x.data(), lists.x.size());
    publish("l", SIDESTREAM_INT64, lists.l.data(), lists.l.size());
    publish("o", SIDESTREAM_INT64, lists.o.data(), lists.o.size());
    publish("k", SIDESTREAM_UINT8, lists.k.data(), lists.k.size());
    publish("f", SIDESTREAM_INT32, lists.f.data(), lists.f.size());
    publish("e", SIDESTREAM_INT32, lists.e.data(), lists.e.size());
    publish("t", SIDESTREAM_FLOAT64, lists.t.data(), lists.t.size());
    const int code = sidestream_end_iteration(s_, cycle_++, 0);
    CHECK(code == (first.empty() ? SIDESTREAM_OK : SIDESTREAM_REFUSED));
    return first;
  }
  /// Puts values into the memory of alloc, and returns the message of commit.
  std::string commit(const char* name, const std::vector<std::int64_t>& list) {
    void* place = nullptr;
    REQUIRE(sidestream_alloc(s_, name, 0, &place) == SIDESTREAM_OK);
    std::copy(list.begin(), list.end(), static_cast<std::int64_t*>(place));
    if (sidestream_commit(s_, name, 0) == SIDESTREAM_OK) return "";
    std::string said = sidestream_message(s_);
    CHECK(sidestream_clear(s_, name, 0) == SIDESTREAM_OK);
    return said;
  }
  /// Publishes all lists but one, and ends the iteration. Returns the code of that call.
  int iterate_without(const std::string& left_out, const Lists& lists) {
    const auto publish = [&](const char* name, const void* data) {
      if (left_out != name) sidestream_publish(s_, name, 0, data);
    };
    publish("x", lists.x.data());
    publish("l", lists.l.data());
    publish("o", lists.o.data());
    publish("k", lists.k.data());
    publish("f", lists.f.data());
    publish("e", lists.e.data());
    publish("t", lists.t.data());
    return sidestream_end_iteration(s_, cycle_++, 0);
  }
  /// Publishes without type and number of values.
  int bare(const char* name, const void* data) { return sidestream_publish(s_, name, 0, data); }
  [[nodiscard]] std::string message() const { return sidestream_message(s_); }
  void end() { sidestream_end_iteration(s_, cycle_++, 0); }

 private:
  sidestream_session* s_ = nullptr;
  std::int64_t cycle_ = 0;
};

void refused(Program& program, const Lists& lists, const std::string& words) {
  const std::string said = program.iterate(lists);
  CAPTURE(said);
  CHECK(said.find(words) != std::string::npos);
  CHECK(said.find("in block 0 of the mesh 'm', which was declared with 5 points, 3 cells") != std::string::npos);
}

}  // namespace

TEST_CASE("lists that are right are taken, each time") {
  Program program;
  for (int n = 0; n < 3; ++n) CHECK(program.iterate({}).empty());
}

TEST_CASE("points and cells exchanged, from arrays that say nothing") {
  const Lists lists;
  {
    Program program;
    program.declare(3, 5);  // should be five points and three cells
    CHECK(program.bare("l", lists.l.data()) == SIDESTREAM_ERROR_USAGE);
    CHECK(program.message().find("entry 3 of the connectivity is point 3, expected 0 to 2") != std::string::npos);
    program.end();
    const std::vector<std::int64_t> ends = {4, 8, 12, 0, 0};  // includes what lies behind the array
    CHECK(program.bare("o", ends.data()) == SIDESTREAM_ERROR_USAGE);
    CHECK(program.message().find("the points of cell 3 end at 0, before they begin at 12") != std::string::npos);
    program.end();
  }
  Program program;
  program.declare(12, 2);  // more points than cells: the offsets end too early
  CHECK(program.bare("o", lists.o.data()) == SIDESTREAM_ERROR_USAGE);
  CHECK(program.message().find("the offsets end at 8, expected") != std::string::npos);
  program.end();
}

TEST_CASE("a list in memory of alloc that is wrong, and stays, is missing until it comes") {
  Program program;
  Lists lists;
  lists.l[3] = 77;
  CHECK(program.commit("l", lists.l).find("entry 3 of the connectivity is point 77") != std::string::npos);
  program.end();
  // No iteration is delivered without the list that does not vary in time.
  CHECK(program.iterate_without("l", lists) == SIDESTREAM_REFUSED);
  CHECK(program.iterate({}).empty());
  CHECK(program.iterate_without("l", {}) == SIDESTREAM_OK);
}

TEST_CASE("connectivity and offsets") {
  Program program;
  Lists lists;
  lists.l[5] = -1;
  refused(program, lists, "entry 5 of the connectivity is point -1, expected 0 to 4");
  lists = {};
  for (std::int64_t& point : lists.l) ++point;
  refused(program, lists, "is point 5, expected 0 to 4 (points are counted from 0, not from 1)");
  lists = {};
  lists.l[0] = 1 + (std::int64_t{2} << 32);
  refused(program, lists, "two numbers of 32 bits, read as one of 64");
  lists = {};
  lists.o = {4, 3, 12};
  refused(program, lists, "the points of cell 1 end at 3, before they begin at 4");
  lists.o = {0, 4, 8};
  refused(program, lists, "the offsets end at 8, expected the number of corners (of each cell they say where");
  lists.o = {3, 8, 12};
  refused(program, lists, "cell 0 has 3 points, but its type 10 has 4");
  CHECK(program.iterate({}).empty());
}

TEST_CASE("faces") {
  Program program;
  Lists lists;
  lists.e = {-1, 17, -1};
  refused(program, lists, "cell 1 is no polyhedron (type 10), but its face offset says it is one");
  lists.e = {-1, -1, 16};
  refused(program, lists, "the faces of polyhedron 0, counted from 0, end at 17, by their offsets at 16");
  lists.e = {-1, -1, -1};
  refused(program, lists, "end at 17, by their offsets nowhere");
  lists = {};
  lists.f[2] = 5;
  refused(program, lists, "entry 2 of the faces is point 5, expected 0 to 4");
  lists.f = Lists().f;
  lists.f[0] = 5;
  refused(program, lists, "ends in the middle of polyhedron 0");
  lists.f[0] = 0;
  refused(program, lists, "entry 0 of the faces is 0, expected a number of faces");
  CHECK(program.iterate({}).empty());
}

TEST_CASE("what is kept is forgotten when lengths change") {
  Program program;
  CHECK(program.iterate({}).empty());
  program.declare(6, 3);  // the connectivity, which does not vary, has to be published again
  Lists lists;
  lists.x.resize(18);
  lists.l[7] = 5;
  CHECK(program.iterate(lists).empty());
}
