// Calls that describe or publish a whole block at once: its part of a rectilinear mesh, components in separate arrays,
// several variables.
#include <doctest/doctest.h>
#include <mpi.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sidestream/sidestream.h"
#include "support/ranks.hpp"

using sidestream::testing::test_ranks;

namespace {

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

sidestream_session* open(const std::string& text) {
  sidestream_session* s = nullptr;
  REQUIRE(sidestream_open_text(test_ranks(), text.c_str(), &s) == SIDESTREAM_OK);
  return s;
}

void says(sidestream_session* s, const char* part) {
  const std::string sentence = sidestream_message(s);
  CAPTURE(sentence);
  CHECK(sentence.find(part) != std::string::npos);
}

using Numbers = std::array<std::int64_t, 3>;

/// The beginning of a configuration.
std::string header() {
  return "placement: {mode: inline}\n"
         "output: {directory: whole-blocks-results, existing: replace, timings: false}\n";
}

/// The values of a variable that an analysis read, by component and then point, in ascending block id.
struct Seen {
  std::vector<double> values;
};

int see(const sidestream_input* input, void*, char*, void* user) {
  auto& seen = *static_cast<Seen*>(user);
  seen.values.clear();
  for (const char* name : {"v", "t"}) {
    for (std::int64_t n = 0; n < sidestream_input_blocks(input, name); ++n) {
      sidestream_block b{};
      b.struct_size = sizeof b;
      sidestream_input_block(input, name, n, &b);
      for (std::int64_t c = 0; c < b.components; ++c)
        for (std::int64_t k = 0; k < b.hi[2] - b.lo[2]; ++k)
          for (std::int64_t j = 0; j < b.hi[1] - b.lo[1]; ++j)
            for (std::int64_t i = 0; i < b.hi[0] - b.lo[0]; ++i)
              seen.values.push_back(static_cast<const double*>(
                  b.data)[i * b.strides[0] + j * b.strides[1] + k * b.strides[2] + c * b.strides[3]]);
    }
  }
  return 0;
}

sidestream_session* open_seeing(Seen& seen, const char* order) {
  sidestream_session* s = open(header() +
                               "meshes: {box: {type: uniform, size: [4, 3, 2]}}\n"
                               "variables: {v: {mesh: box, components: 3, order: " +
                               order +
                               "}, t: {mesh: box}}\n"
                               "analyses: [see: {variables: [v, t]}]\n");
  sidestream_function function{};
  function.struct_size = sizeof function;
  function.name = "see";
  function.local = see;
  function.user = &seen;
  REQUIRE(sidestream_register_function(s, &function) == SIDESTREAM_OK);
  const Numbers lo{0, 0, 0}, hi{4, 3, 2};
  if (rank_of(test_ranks()) == 0) REQUIRE(sidestream_set_block(s, "box", 0, lo.data(), hi.data()) == SIDESTREAM_OK);
  REQUIRE(sidestream_start(s) == SIDESTREAM_OK);
  return s;
}

std::vector<double> counted(double first, int count) {
  std::vector<double> values;
  for (int n = 0; n < count; ++n) values.push_back(first + n);
  return values;
}

/// The coordinate of node n, unevenly spaced.
double place(std::int64_t n) { return 0.1 * static_cast<double>(n * n + 3 * n); }

/// One block for each rank along x, the whole of y; `off` is added to this rank's first position.
int set_part(sidestream_session* s, std::int64_t cells, double off = 0) {
  const int rank = rank_of(test_ranks()), ranks = size_of(test_ranks());
  const Numbers lo{cells * rank / ranks, 0, 0}, hi{cells * (rank + 1) / ranks, 2, 1};
  std::vector<double> x;
  for (std::int64_t n = lo[0]; n <= hi[0]; ++n) x.push_back(place(n) + (n == lo[0] ? off : 0));
  const std::array<double, 3> y{-1, 0, 5};
  const std::array<const double*, 3> nodes{x.data(), y.data(), nullptr};
  return sidestream_set_rectilinear_block(s, "m", rank, lo.data(), hi.data(), nodes.data());
}

/// The number as files of metadata have it.
std::string exactly(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string on_parts() {
  return header() +
         "variables: {t: {mesh: m}}\n"
         "analyses: [statistics: {variable: t}]\n"
         "outputs: [metadata: {file: 'parts-{index}.yaml'}]\n";
}

}  // namespace

TEST_CASE("components come in arrays of their own, in either order") {
  for (const char* order : {"column", "row"}) {
    CAPTURE(order);
    Seen seen;
    sidestream_session* s = open_seeing(seen, order);
    const bool mine = rank_of(test_ranks()) == 0;
    const std::vector<double> t = counted(72, 24);
    // The arrays x, y, z are in the variable's order. The analysis sees values by i, j, k.
    std::vector<double> x(24), y(24), z(24), expected;
    const bool row = std::string(order) == "row";
    for (int k = 0; k < 2; ++k)
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 4; ++i) {
          const auto at = static_cast<std::size_t>(row ? (i * 3 + j) * 2 + k : (k * 3 + j) * 4 + i);
          x[at] = (k * 3 + j) * 4 + i, y[at] = x[at] + 24, z[at] = x[at] + 48;
        }
    if (mine) {
      const std::array<const void*, 3> parts{x.data(), y.data(), z.data()};
      CHECK(sidestream_publish_components(s, "v", 0, 3, parts.data()) == SIDESTREAM_OK);
      CHECK(sidestream_publish(s, "t", 0, t.data()) == SIDESTREAM_OK);
      expected = counted(0, 96);
    }
    CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_OK);
    CHECK(seen.values == expected);

    // The same from sections: every other element of rows that are twice as long.
    if (mine) {
      std::vector<double> wide(3 * 48, -1);
      for (int n = 0; n < 72; ++n) wide[static_cast<std::size_t>(2 * n)] = n;
      const std::array<const void*, 3> parts{&wide[0], &wide[48], &wide[96]};
      const Numbers extents{4, 3, 2}, strides{2, 8, 24};
      CHECK(sidestream_publish_component_arrays(s, "v", 0, SIDESTREAM_FLOAT64, 3, parts.data(), 3, extents.data(),
                                                strides.data()) == SIDESTREAM_OK);
      CHECK(sidestream_publish(s, "t", 0, t.data()) == SIDESTREAM_OK);
    }
    CHECK(sidestream_end_iteration(s, 1, 1) == SIDESTREAM_OK);
    CHECK(seen.values == expected);
    CHECK(sidestream_close(&s) == SIDESTREAM_OK);
  }
}

TEST_CASE("arrays of components that do not fit refuse the iteration, with a sentence") {
  Seen seen;
  sidestream_session* s = open_seeing(seen, "column");
  if (rank_of(test_ranks()) == 0) {
    const std::vector<double> some(24, 1);
    const std::array<const void*, 3> parts{some.data(), some.data(), some.data()};
    const std::array<const void*, 3> holes{some.data(), nullptr, some.data()};
    CHECK(sidestream_publish_components(s, "v", 0, 2, parts.data()) == SIDESTREAM_ERROR_USAGE);
    says(s, "2 arrays for 'v', expected 3, one of each component");
    CHECK(sidestream_publish_components(s, "v", 0, 3, holes.data()) == SIDESTREAM_ERROR_USAGE);
    says(s, "null pointer");
    CHECK(sidestream_publish_components(s, "v", 0, 3, nullptr) == SIDESTREAM_ERROR_USAGE);
    CHECK(sidestream_publish_components(s, "w", 0, 3, parts.data()) == SIDESTREAM_ERROR_USAGE);
    says(s, "'w' is not declared");
    const Numbers extents{4, 3, 3}, strides{1, 4, 12};
    CHECK(sidestream_publish_component_arrays(s, "v", 0, SIDESTREAM_FLOAT64, 3, parts.data(), 3, extents.data(),
                                              strides.data()) == SIDESTREAM_ERROR_USAGE);
    says(s, "4 x 3 x 3, expected 4 x 3 x 2");
    CHECK(sidestream_publish_component_arrays(s, "v", 0, SIDESTREAM_FLOAT32, 3, parts.data(), 3, extents.data(),
                                              strides.data()) == SIDESTREAM_ERROR_USAGE);
    says(s, "float32, expected float64");
    CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_REFUSED);
  } else {
    sidestream_end_iteration(s, 0, 0);
  }
  CHECK(sidestream_close(&s) == SIDESTREAM_OK);
}

TEST_CASE("several variables of a block are published by one call; all are tried") {
  Seen seen;
  sidestream_session* s = open_seeing(seen, "column");
  const std::vector<double> t = counted(72, 24);
  std::vector<double> v(72);
  for (int n = 0; n < 72; ++n) v[static_cast<std::size_t>(n)] = n % 3 * 24 + n / 3;
  const std::array<const char*, 2> names{"v", "t"}, wrong{"u", "t"};
  const std::array<const void*, 2> data{v.data(), t.data()};
  if (rank_of(test_ranks()) == 0) {
    CHECK(sidestream_publish_block(s, 0, 2, names.data(), data.data()) == SIDESTREAM_OK);
    CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_OK);
    CHECK(seen.values == counted(0, 96));
    CHECK(sidestream_publish_block(s, 0, 2, wrong.data(), data.data()) == SIDESTREAM_ERROR_USAGE);
    says(s, "'u' is not declared");
    CHECK(sidestream_publish_block(s, 0, 2, nullptr, data.data()) == SIDESTREAM_ERROR_USAGE);
    CHECK(sidestream_publish_block(s, 0, 0, nullptr, nullptr) == SIDESTREAM_OK);
    CHECK(sidestream_end_iteration(s, 1, 1) == SIDESTREAM_REFUSED);
  } else {
    sidestream_end_iteration(s, 0, 0);
    sidestream_end_iteration(s, 1, 1);
  }
  CHECK(sidestream_close(&s) == SIDESTREAM_OK);
}

TEST_CASE("a rectilinear mesh is put together from what its blocks say, but for rounding") {
  for (const double off : {0.0, 1e-12 * rank_of(test_ranks())}) {
    sidestream_session* s = open(on_parts());
    REQUIRE(set_part(s, 11, off) == SIDESTREAM_OK);
    REQUIRE(sidestream_start(s) == SIDESTREAM_OK);
    const std::vector<double> t(22, 1);
    CHECK(sidestream_publish(s, "t", rank_of(test_ranks()), t.data()) == SIDESTREAM_OK);
    CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_OK);
    sidestream_account account{};
    account.struct_size = sizeof account;
    CHECK(sidestream_close_with_account(&s, &account) == SIDESTREAM_OK);
    CHECK(account.delivered == 1);
    CHECK(account.failed == 0);
    // The servers' description of the mesh, also if positions differ by rounding.
    std::string expected = "x: [";
    for (int n = 0; n <= 11; ++n) expected += (n > 0 ? ", " : "") + exactly(place(n));
    std::ifstream file("whole-blocks-results/parts-0.yaml");
    const std::string metadata{std::istreambuf_iterator<char>(file), {}};
    CAPTURE(metadata);
    CHECK(metadata.find(expected + "]") != std::string::npos);
  }
}

TEST_CASE("what calls say of a mesh that blocks describe counts, before the blocks and after them") {
  const std::array<int, 3> along_y{0, 1, 0}, along_z{0, 0, 1};
  const Numbers halves{2, 2, 1};
  sidestream_session* s = open(on_parts());
  REQUIRE(sidestream_set_periodic(s, "m", along_y.data()) == SIDESTREAM_OK);
  REQUIRE(set_part(s, 11) == SIDESTREAM_OK);
  REQUIRE(sidestream_set_refinement(s, "m", 1, halves.data()) == SIDESTREAM_OK);
  REQUIRE(sidestream_start(s) == SIDESTREAM_OK);
  const std::vector<double> t(22, 1);
  CHECK(sidestream_publish(s, "t", rank_of(test_ranks()), t.data()) == SIDESTREAM_OK);
  CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_OK);
  CHECK(sidestream_close(&s) == SIDESTREAM_OK);
  std::ifstream file("whole-blocks-results/parts-0.yaml");
  const std::string metadata{std::istreambuf_iterator<char>(file), {}};
  CAPTURE(metadata);
  CHECK(metadata.find("periodic: [y]") != std::string::npos);
  CHECK(metadata.find("refinement: [2x2x1]") != std::string::npos);

  s = open(on_parts());
  REQUIRE(set_part(s, 11) == SIDESTREAM_OK);
  REQUIRE(sidestream_set_periodic(s, "m", along_z.data()) == SIDESTREAM_OK);
  CHECK(sidestream_start(s) == SIDESTREAM_ERROR_USAGE);
  says(s, "axis 2 of the mesh 'm' of 2 dimensions");
  sidestream_close(&s);
}

TEST_CASE("blocks that do not make a mesh stop the start, with the same sentence on every rank") {
  const int rank = rank_of(test_ranks()), ranks = size_of(test_ranks());
  SUBCASE("a node is in two places") {
    sidestream_session* s = open(on_parts());
    REQUIRE(set_part(s, 11, 1e-3 * rank) == SIDESTREAM_OK);
    CHECK((sidestream_start(s) == SIDESTREAM_OK) == (ranks == 1));
    if (ranks > 1) says(s, "in one block and at");
    sidestream_close(&s);
  }
  SUBCASE("a node is nowhere") {
    sidestream_session* s = open(on_parts());
    const std::array<double, 3> some{0, 1, 2};
    const std::array<const double*, 3> nodes{some.data(), nullptr, nullptr};
    const Numbers lo{1, 0, 0}, hi{3, 1, 1};
    REQUIRE(sidestream_set_rectilinear_block(s, "m", rank, lo.data(), hi.data(), nodes.data()) == SIDESTREAM_OK);
    CHECK(sidestream_start(s) == SIDESTREAM_ERROR_USAGE);
    says(s, ranks == 1 ? "give 3 nodes in all" : "no block gives node 0 on axis 0");
    sidestream_close(&s);
  }
  SUBCASE("dimensions differ") {
    sidestream_session* s = open(on_parts());
    const std::array<double, 3> some{0, 1, 2};
    const std::array<const double*, 3> nodes{some.data(), rank == 0 ? nullptr : some.data(), nullptr};
    const Numbers lo{0, 0, 0}, hi{2, rank == 0 ? 1 : 2, 1};
    REQUIRE(sidestream_set_rectilinear_block(s, "m", rank, lo.data(), hi.data(), nodes.data()) == SIDESTREAM_OK);
    CHECK((sidestream_start(s) == SIDESTREAM_OK) == (ranks == 1));
    if (ranks > 1) says(s, "nodes along 1 and along 2 axes");
    sidestream_close(&s);
  }
  SUBCASE("at once: nodes that do not increase, cells that are none, NaN") {
    sidestream_session* s = open(on_parts());
    const Numbers lo{0, 0, 0}, hi{2, 1, 1};
    const auto set = [&](std::array<double, 3> x, const Numbers& from) {
      const std::array<const double*, 3> nodes{x.data(), nullptr, nullptr};
      CHECK(sidestream_set_rectilinear_block(s, "m", rank, from.data(), hi.data(), nodes.data()) ==
            SIDESTREAM_ERROR_USAGE);
    };
    set({0, 2, 1}, lo);
    says(s, "is at 1, and the one before at 2");
    set({0, NAN, 1}, lo);
    says(s, "nan");
    set({0, 1, 2}, {2, 0, 0});
    says(s, "expected at least one");
    sidestream_close(&s);
  }
}

TEST_CASE("a rank without a block has the mesh all the same") {
  sidestream_session* s = open(on_parts());
  const bool mine = rank_of(test_ranks()) == size_of(test_ranks()) - 1;
  const std::array<double, 2> x{2, 3}, y{0, 1};
  const std::array<const double*, 3> nodes{x.data(), y.data(), nullptr};
  const Numbers lo{0, 0, 0}, hi{1, 1, 1};
  if (mine) REQUIRE(sidestream_set_rectilinear_block(s, "m", 7, lo.data(), hi.data(), nodes.data()) == SIDESTREAM_OK);
  REQUIRE(sidestream_start(s) == SIDESTREAM_OK);
  const double one = 1;
  if (mine) CHECK(sidestream_publish(s, "t", 7, &one) == SIDESTREAM_OK);
  CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_OK);
  CHECK(sidestream_close(&s) == SIDESTREAM_OK);
}
