// Calls that tell their type and number of values. Values that do not match are refused instead of read.
#include <doctest/doctest.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sidestream/sidestream.h"
#include "sidestream/sidestream.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

const std::string text =
    "placement: inline\n"
    "meshes: {box: {size: [4, 3, 2]}, dots: {type: points, coordinates: x}}\n"
    "variables:\n"
    "  t: {mesh: box}\n"
    "  n: {mesh: box, centering: node, type: float32}\n"
    "  v: {mesh: box, components: 3}\n"
    "  x: {mesh: dots, components: 3}\n"
    "  w: {mesh: dots, type: int64, centering: node}\n"
    "output: {directory: values-results, existing: replace, timings: false}\n";

const char* const seen = "analyses: [see: {variables: [t, n, v]}, see: {name: dots, variables: [x, w]}]\n";

/// The sum of each variable's values, weighted by their index in the array.
using Sums = std::map<std::string, double>;

int see(const sidestream_input* input, void*, char*, void* user) {
  for (const char* name : {"t", "n", "v", "x", "w"}) {
    sidestream_block b{};
    b.struct_size = sizeof b;
    if (sidestream_input_blocks(input, name) != 1 || sidestream_input_block(input, name, 0, &b) != 0) continue;
    double& sum = (*static_cast<Sums*>(user))[name] = 0;
    const std::int64_t count = (b.hi[0] - b.lo[0]) * (b.hi[1] - b.lo[1]) * (b.hi[2] - b.lo[2]) * b.components;
    for (std::int64_t n = 0; n < count; ++n) {
      const double value = b.type == SIDESTREAM_FLOAT64   ? static_cast<const double*>(b.data)[n]
                           : b.type == SIDESTREAM_FLOAT32 ? static_cast<double>(static_cast<const float*>(b.data)[n])
                                                          : static_cast<double>(static_cast<const long*>(b.data)[n]);
      sum += static_cast<double>(n + 1) * value;
    }
  }
  return 0;
}

/// Sum of the squares of `count` values 1, 2, ...
double expected(std::int64_t count) {
  double sum = 0;
  for (std::int64_t n = 1; n <= count; ++n) sum += static_cast<double>(n * n);
  return sum;
}

template <class T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = static_cast<T>(n + 1);
  return values;
}

sidestream_function function_of(Sums& sums) {
  sidestream_function function{};
  function.struct_size = sizeof function;
  function.name = "see";
  function.local = see;
  function.user = &sums;
  return function;
}

/// A session of C. Both interfaces have the same publisher.
struct Fixture {
  Sums sums;
  sidestream_session* session = nullptr;
  Fixture() {
    REQUIRE(sidestream_open_text(testing::test_ranks(), (text + seen).c_str(), &session) == SIDESTREAM_OK);
    const sidestream_function function = function_of(sums);
    REQUIRE(sidestream_register_function(session, &function) == SIDESTREAM_OK);
    const std::int64_t lo[3] = {0, 0, 0}, hi[3] = {4, 3, 2};
    REQUIRE(sidestream_set_block(session, "box", 0, lo, hi) == SIDESTREAM_OK);
    REQUIRE(sidestream_set_block_list(session, "dots", 0, 5, 5, 0, 0, nullptr) == SIDESTREAM_OK);
    REQUIRE(sidestream_start(session) == SIDESTREAM_OK);
  }
  ~Fixture() { sidestream_close(&session); }
  void refused(int code, const std::string& words) const {
    CHECK(code == SIDESTREAM_ERROR_USAGE);
    CAPTURE(sidestream_message(session));
    CHECK(std::string(sidestream_message(session)).find(words) != std::string::npos);
  }
};

constexpr std::size_t cells = 4 * 3 * 2, nodes = 5 * 4 * 3;

}  // namespace

TEST_CASE("C: type and number are compared with what is declared") {
  Fixture f;
  sidestream_session* const s = f.session;
  const std::vector<double> t = counted<double>(nodes);
  const std::vector<float> n = counted<float>(nodes);
  const auto of_cells = static_cast<std::int64_t>(cells), of_nodes = static_cast<std::int64_t>(nodes);
  f.refused(sidestream_publish_values(s, "t", 0, SIDESTREAM_FLOAT64, t.data(), of_nodes), "`centering: node`");
  f.refused(sidestream_publish_values(s, "n", 0, SIDESTREAM_FLOAT32, n.data(), of_cells), "`centering: cell`");
  f.refused(sidestream_publish_values(s, "n", 0, SIDESTREAM_FLOAT64, t.data(), of_nodes),
            "has elements of type float64, expected float32");
  f.refused(sidestream_publish_values(s, "t", 0, SIDESTREAM_FLOAT64, t.data(), -1), "found -1 values");
  f.refused(sidestream_publish_values(s, "t", 0, static_cast<sidestream_type>(10), t.data(), of_cells), "type is 10");
  f.refused(sidestream_publish_values(s, "x", 0, SIDESTREAM_FLOAT64, t.data(), 5), "has 5 values, expected 15");
  f.refused(sidestream_publish_values(s, "t", 0, SIDESTREAM_FLOAT64, nullptr, of_cells), "null pointer");
  void* memory = nullptr;
  f.refused(sidestream_alloc_values(s, "t", 0, SIDESTREAM_FLOAT64, of_nodes, &memory), "has 60 values, expected 24");
  sidestream_handle handle = -1;
  REQUIRE(sidestream_get_handle(s, "t", 0, &handle) == SIDESTREAM_OK);
  f.refused(sidestream_publish_handle_values(s, handle, SIDESTREAM_FLOAT64, t.data(), of_nodes), "expected 24");
  CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_REFUSED);
  CHECK(sidestream_publish_handle_values(s, handle, SIDESTREAM_FLOAT64, t.data(), of_cells) == SIDESTREAM_OK);
  CHECK(sidestream_publish_values(s, "n", 0, SIDESTREAM_FLOAT32, n.data(), of_nodes) == SIDESTREAM_OK);
  REQUIRE(sidestream_alloc_values(s, "v", 0, SIDESTREAM_FLOAT64, 3 * of_cells, &memory) == SIDESTREAM_OK);
  for (std::size_t m = 0; m < 3 * cells; ++m) static_cast<double*>(memory)[m] = static_cast<double>(m + 1);
  CHECK(sidestream_commit(s, "v", 0) == SIDESTREAM_OK);
  CHECK(sidestream_clear(s, "v", 0) == SIDESTREAM_OK);
  CHECK(sidestream_end_iteration(s, 1, 1) == SIDESTREAM_OK);
  CHECK(f.sums["t"] == expected(of_cells));
  CHECK(f.sums["n"] == expected(of_nodes));
  CHECK(f.sums["v"] == expected(3 * of_cells));
}

namespace {

std::string said(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& sentence, const char* words) { return sentence.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("C++: containers, spans, pointers and views with strides say their type and number") {
  Session s = Session::open_text(testing::test_ranks(), text + "analyses: [statistics: {variable: t}]\n");
  s.set_block("box", 0, Box{{0, 0, 0}, {4, 3, 2}});
  s.set_block_list("dots", 0, 5, {5, 0, 0});
  s.start();
  const std::vector<double> t = counted<double>(cells);
  const std::vector<float> n = counted<float>(nodes);
  const std::vector<std::array<double, 3>> x(5, {1, 2, 3});
  CHECK(s.publish("t", 0, t) == Taken::yes);
  CHECK(s.publish("n", 0, n.data(), n.size()) == Taken::yes);
  CHECK(s.publish("x", 0, std::span(x)) == Taken::yes);
  CHECK(s.publish("w", 0, std::array<std::int64_t, 5>{1, 2, 3, 4, 5}) == Taken::yes);
  CHECK(s.publish_components("v", 0, {t, {t.data(), cells}, t}) == Taken::yes);
  CHECK(s.end_iteration(0, 0) == Taken::yes);
  const Handle of_t = s.handle("t", 0), of_n = s.handle("n", 0);
  CHECK(s.publish({of_t, of_n}, {t, n}) == Taken::yes);
  CHECK(s.publish_block(0, {{"x", x}, {"v", std::vector<std::array<double, 3>>(cells)}}) == Taken::yes);
  CHECK(s.end_iteration(1, 1) == Taken::yes);

  CHECK(has(said([&] { s.publish("n", 0, std::vector<float>(cells)); }), "`centering: cell`"));
  CHECK(has(said([&] { s.publish("t", 0, n); }), "has elements of type float32, expected float64"));
  CHECK(has(said([&] { s.publish("w", 0, std::vector<std::int32_t>(5)); }), "of type int32, expected int64"));
  CHECK(has(said([&] { s.publish("x", 0, std::vector<double>(5)); }), "has 5 values, expected 15"));
  CHECK(has(said([&] { s.publish(of_t, t.data(), 23); }), "has 23 values, expected 24"));
  CHECK(has(said([&] { s.publish_components("v", 0, {t, t, std::span(t).first(23)}); }), "has 23 values, expected 24"));
  CHECK(has(said([&] { s.publish_components("v", 0, {t, t}); }), "2 arrays for 'v', expected 3"));
  CHECK(has(said([&] { s.publish("t", 0, {t.data(), {4, 2, 2}, {1, 4, 8}}); }), "is 4 x 2 x 2, expected 4 x 3 x 2"));
  CHECK(has(said([&] { s.publish("t", 0, {t.data(), {4, 3, 2}, {1, 4}}); }), "3 extents and 2 strides"));
  CHECK(has(said([&] { static_cast<void>(s.alloc<double>("t", 0, nodes)); }), "has 60 values, expected 24"));
  CHECK(has(said([&] { static_cast<void>(s.alloc<float>("t", 0, cells)); }), "of type float32, expected float64"));
  CHECK(s.end_iteration(2, 2) == Taken::refused);
  auto* const memory = s.alloc<std::array<double, 3>>("v", 0, cells);
  REQUIRE(memory != nullptr);
  s.clear("v", 0);
  CHECK(s.publish("t", 0, {t.data(), {4, 3, 2}, {1, 4, 12}}) == Taken::yes);
  CHECK(s.end_iteration(3, 3) == Taken::yes);
  CHECK(s.close().delivered == 3);
}
