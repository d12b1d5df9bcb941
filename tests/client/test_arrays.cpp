// sidestream_publish_array and sidestream_alloc_array, with which bindings publish.
#include <doctest/doctest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sidestream/sidestream.h"
#include "support/ranks.hpp"

namespace {

constexpr const char* text =
    "placement: {mode: inline}\n"
    "meshes: {box: {type: uniform, size: [4, 3, 2]}, flat: {type: uniform, size: [4, 3]}}\n"
    "variables:\n"
    "  t: {mesh: box}\n"
    "  r: {mesh: box, order: row}\n"
    "  v: {mesh: flat, type: int16, components: 2}\n"
    "  u: {mesh: flat, type: uint8}\n"
    "analyses: [see: {variables: [t, r, u]}, see: {name: v, variables: [v]}]\n"
    "output: {directory: arrays-results, existing: replace, timings: false}\n";

/// The values of each variable that the analysis saw, by i, j, k and component.
struct Seen {
  std::vector<double> t, r, v, u;
};

double element(const sidestream_block& block, std::int64_t at) {
  if (block.type == SIDESTREAM_FLOAT64) return static_cast<const double*>(block.data)[at];
  if (block.type == SIDESTREAM_INT16) return static_cast<const std::int16_t*>(block.data)[at];
  return static_cast<const std::uint8_t*>(block.data)[at];
}

void read(const sidestream_input* input, const char* variable, std::vector<double>& values) {
  sidestream_block b{};
  b.struct_size = sizeof b;
  if (sidestream_input_blocks(input, variable) != 1 || sidestream_input_block(input, variable, 0, &b) != 0) return;
  values.clear();
  for (std::int64_t c = 0; c < b.components; ++c)
    for (std::int64_t k = 0; k < b.hi[2] - b.lo[2]; ++k)
      for (std::int64_t j = 0; j < b.hi[1] - b.lo[1]; ++j)
        for (std::int64_t i = 0; i < b.hi[0] - b.lo[0]; ++i)
          values.push_back(element(b, i * b.strides[0] + j * b.strides[1] + k * b.strides[2] + c * b.strides[3]));
}

int see(const sidestream_input* input, void*, char*, void* user) {
  auto& seen = *static_cast<Seen*>(user);
  read(input, "t", seen.t);
  read(input, "r", seen.r);
  read(input, "v", seen.v);
  read(input, "u", seen.u);
  return 0;
}

sidestream_session* open(Seen& seen) {
  sidestream_session* s = nullptr;
  REQUIRE(sidestream_open_text(sidestream::testing::test_ranks(), text, &s) == SIDESTREAM_OK);
  sidestream_function function{};
  function.struct_size = sizeof function;
  function.name = "see";
  function.local = see;
  function.user = &seen;
  REQUIRE(sidestream_register_function(s, &function) == SIDESTREAM_OK);
  const std::int64_t lo[3] = {0, 0, 0}, box[3] = {4, 3, 2}, flat[3] = {4, 3, 1};
  REQUIRE(sidestream_set_block(s, "box", 0, lo, box) == SIDESTREAM_OK);
  REQUIRE(sidestream_set_block(s, "flat", 0, lo, flat) == SIDESTREAM_OK);
  REQUIRE(sidestream_start(s) == SIDESTREAM_OK);
  return s;
}

std::vector<double> counted(std::size_t count) {
  std::vector<double> values;
  for (std::size_t n = 0; n < count; ++n) values.push_back(static_cast<double>(n));
  return values;
}

using Entries = std::array<std::int64_t, 4>;

}  // namespace

TEST_CASE("an array is published by type, extents and strides") {
  Seen seen;
  sidestream_session* s = open(seen);
  // Publishes every other element of wider rows, backwards along j, for a variable in either order.
  std::vector<double> wide(2 * 4 * 3 * 2, -1);
  for (int n = 0; n < 24; ++n) wide[static_cast<std::size_t>(2 * ((n / 12) * 12 + (2 - n / 4 % 3) * 4 + n % 4))] = n;
  const Entries extents{4, 3, 2}, strides{2, -8, 24};
  CHECK(sidestream_publish_array(s, "t", 0, SIDESTREAM_FLOAT64, &wide[16], 3, extents.data(), strides.data(), -1) == 0);
  CHECK(sidestream_publish_array(s, "r", 0, SIDESTREAM_FLOAT64, &wide[16], 3, extents.data(), strides.data(), -1) == 0);
  // Components first, then last.
  const std::vector<std::int16_t> first{0, 12, 1, 13, 2, 14, 3, 15, 4,  16, 5,  17,
                                        6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23};
  const Entries shape{2, 4, 3}, gapless{1, 2, 8};
  CHECK(sidestream_publish_array(s, "v", 0, SIDESTREAM_INT16, first.data(), 3, shape.data(), gapless.data(), 0) == 0);
  // Signed values for an unsigned type, with an axis for the single component.
  const std::vector<std::int8_t> bytes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const Entries one{4, 3, 1}, rows{1, 4, 99};
  CHECK(sidestream_publish_array(s, "u", 0, SIDESTREAM_INT8, bytes.data(), 3, one.data(), rows.data(), -1) == 0);
  CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_OK);
  CHECK(seen.t == counted(24));
  CHECK(seen.r == counted(24));
  CHECK(seen.v == counted(24));
  CHECK(seen.u == counted(12));

  seen.v.clear();
  std::vector<std::int16_t> last;
  for (std::int16_t n = 0; n < 24; ++n) last.push_back(n);
  const Entries extents_last{4, 3, 2}, strides_last{1, 4, 12};
  CHECK(sidestream_publish_array(s, "v", 0, SIDESTREAM_INT16, last.data(), 3, extents_last.data(), strides_last.data(),
                                 -1) == 0);
  CHECK(sidestream_end_iteration(s, 1, 1) == SIDESTREAM_OK);
  CHECK(seen.v == counted(24));
  CHECK(sidestream_close(&s) == SIDESTREAM_OK);
}

TEST_CASE("an array that is not what was declared refuses the iteration, with a sentence") {
  Seen seen;
  sidestream_session* s = open(seen);
  const std::vector<double> values(48, 1);
  const auto publish = [&](const char* variable, sidestream_type type, int rank, const Entries& extents,
                           int axis = -1) {
    const Entries strides{1, 1, 1, 1};
    CHECK(sidestream_publish_array(s, variable, 0, type, values.data(), rank, extents.data(), strides.data(), axis) ==
          SIDESTREAM_ERROR_USAGE);
    return std::string(sidestream_message(s));
  };
  const auto says = [](const std::string& sentence, const char* part) {
    CAPTURE(sentence);
    CHECK(sentence.find(part) != std::string::npos);
  };
  says(publish("t", SIDESTREAM_FLOAT32, 3, {4, 3, 2}), "has elements of type float32, expected float64");
  says(publish("t", SIDESTREAM_INT64, 3, {4, 3, 2}), "type int64");
  says(publish("t", static_cast<sidestream_type>(10), 3, {4, 3, 2}), "the type is 10");
  says(publish("t", SIDESTREAM_FLOAT64, 2, {4, 3}), "rank 2, expected rank 3, the axes of the mesh");
  says(publish("t", SIDESTREAM_FLOAT64, 0, {}), "rank 0");
  says(publish("v", SIDESTREAM_INT16, 2, {4, 3}), "rank 2, expected rank 3, one for the 2 components");
  says(publish("t", SIDESTREAM_FLOAT64, 3, {4, 3, 3}), "is 4 x 3 x 3, expected 4 x 3 x 2: the allocated box is [0, 4)");
  says(publish("t", SIDESTREAM_FLOAT64, 4, {4, 3, 2, 2}), "4 x 3 x 2 x 2, expected 4 x 3 x 2 x 1");
  says(publish("v", SIDESTREAM_INT16, 3, {4, 3, 2}, 0), "is 4 x 3 x 2, expected 2 x 4 x 3");
  says(publish("v", SIDESTREAM_INT16, 3, {4, 3, 2}, 3), "axis 3 of an array of rank 3");
  CHECK(sidestream_publish_array(s, "t", 0, SIDESTREAM_FLOAT64, values.data(), 3, nullptr, nullptr, -1) ==
        SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_REFUSED);
  CHECK(sidestream_close(&s) == SIDESTREAM_OK);
}

TEST_CASE("a variable says how its arrays lie") {
  Seen seen;
  sidestream_session* s = open(seen);
  sidestream_description d{};
  d.struct_size = sizeof d;
  REQUIRE(sidestream_describe_variable(s, "r", &d) == SIDESTREAM_OK);
  CHECK(d.type == SIDESTREAM_FLOAT64);
  CHECK(d.order == SIDESTREAM_ROW);
  CHECK(d.components == 1);
  CHECK(d.axes == 3);
  REQUIRE(sidestream_describe_variable(s, "v", &d) == SIDESTREAM_OK);
  CHECK(d.type == SIDESTREAM_INT16);
  CHECK(d.centering == SIDESTREAM_CELL);
  CHECK(d.order == SIDESTREAM_COLUMN);
  CHECK(d.components == 2);
  CHECK(d.axes == 2);
  // A program built with an older header has a shorter structure.
  sidestream_description shorter{};
  shorter.struct_size = offsetof(sidestream_description, order);
  shorter.components = 7;
  CHECK(sidestream_describe_variable(s, "v", &shorter) == SIDESTREAM_OK);
  CHECK(shorter.type == SIDESTREAM_INT16);
  CHECK(shorter.components == 7);
  // A question that fails does not refuse the iteration.
  CHECK(sidestream_describe_variable(s, "x", &d) == SIDESTREAM_ERROR_USAGE);
  CHECK(std::string(sidestream_message(s)).find("the variable 'x' is not declared") != std::string::npos);
  CHECK(sidestream_describe_variable(s, "v", nullptr) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_OK);
  CHECK(sidestream_close(&s) == SIDESTREAM_OK);
}

TEST_CASE("memory that is kept outlives its session") {
  Seen seen;
  sidestream_session* s = open(seen);
  sidestream_memory *memory = nullptr, *again = nullptr;
  REQUIRE(sidestream_keep_memory(s, &memory) == SIDESTREAM_OK);
  REQUIRE(sidestream_keep_memory(s, &again) == SIDESTREAM_OK);
  CHECK(sidestream_keep_memory(s, nullptr) == SIDESTREAM_ERROR_USAGE);
  void* data = nullptr;
  REQUIRE(sidestream_alloc(s, "t", 0, &data) == SIDESTREAM_OK);
  auto* values = static_cast<double*>(data);
  for (int n = 0; n < 24; ++n) values[n] = n;
  CHECK(sidestream_commit(s, "t", 0) == SIDESTREAM_OK);
  CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_OK);
  CHECK(sidestream_close(&s) == SIDESTREAM_OK);
  sidestream_release_memory(memory);
  for (int n = 0; n < 24; ++n) CHECK(values[n] == n);
  sidestream_release_memory(again);
  sidestream_release_memory(nullptr);
}

TEST_CASE("memory for an array says what it is") {
  Seen seen;
  sidestream_session* s = open(seen);
  sidestream_block array{};
  array.struct_size = sizeof array;
  CHECK(sidestream_alloc_array(s, "v", 0, SIDESTREAM_INT16, 2, &array) == SIDESTREAM_ERROR_USAGE);
  CHECK(std::string(sidestream_message(s)).find("rank 2, expected rank 3") != std::string::npos);
  CHECK(sidestream_alloc_array(s, "t", 0, SIDESTREAM_FLOAT64, 4, &array) == SIDESTREAM_ERROR_USAGE);
  CHECK(sidestream_end_iteration(s, 0, 0) == SIDESTREAM_REFUSED);
  REQUIRE(sidestream_alloc_array(s, "v", 0, SIDESTREAM_INT16, 3, &array) == SIDESTREAM_OK);
  CHECK(array.components == 2);
  CHECK(array.hi[0] == 4);
  CHECK(array.hi[2] == 1);
  CHECK(array.strides[1] == 8);
  CHECK(array.strides[3] == 1);
  auto* values = static_cast<std::int16_t*>(const_cast<void*>(array.data));
  for (std::int16_t n = 0; n < 24; ++n) values[n] = static_cast<std::int16_t>(n % 2 * 12 + n / 2);
  CHECK(sidestream_commit(s, "v", 0) == SIDESTREAM_OK);
  CHECK(sidestream_end_iteration(s, 1, 1) == SIDESTREAM_OK);
  CHECK(seen.v == counted(24));
  CHECK(sidestream_clear(s, "v", 0) == SIDESTREAM_OK);
  CHECK(sidestream_close(&s) == SIDESTREAM_OK);
}
