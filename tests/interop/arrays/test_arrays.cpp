// Parts of arrays with gaps and in common, compared with loops over their indices, and the file of rules.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "arrays/mapping.hpp"
#include "arrays/overlap.hpp"
#include "arrays/part.hpp"
#include "arrays/pieces.hpp"
#include "sidestream/error.hpp"
#include "support/message_of.hpp"

using namespace sidestream;
using namespace sidestream::arrays;
using namespace sidestream::testing;

namespace {

/// A part of three axes in the middle of an array of 5 x 6 x 7, every `step`th value of the last axis.
Part part_of(const std::vector<double>& all, Index step) {
  Part part;
  part.name = "a";
  part.shape = {5, 6, 7};
  part.start = {1, 2, 1};
  part.count = {2, 3, 3};
  part.data = reinterpret_cast<const std::byte*>(all.data() + 1 * 42 + 2 * 7 + 1);
  part.strides = {42 * 8, 7 * 8, step * 8};
  return part;
}

}  // namespace

TEST_CASE("packed values are those of a loop") {
  std::vector<double> all(5 * 6 * 7);
  std::iota(all.begin(), all.end(), 0.0);
  for (const Index step : {1, 2}) {
    const Part part = part_of(all, step);
    REQUIRE(problem_of(part).empty());
    const std::vector<std::byte> bytes = packed(part);
    REQUIRE(bytes.size() == 18 * 8);
    std::size_t n = 0;
    for (Index k = 0; k < 2; ++k) {
      for (Index j = 0; j < 3; ++j) {
        for (Index i = 0; i < 3; ++i, ++n) {
          double value = 0;
          std::memcpy(&value, bytes.data() + 8 * n, 8);
          CHECK(value == static_cast<double>((1 + k) * 42 + (2 + j) * 7 + 1 + i * step));
        }
      }
    }
  }
}

TEST_CASE("parts that cannot be used are named") {
  const std::vector<double> all(5 * 6 * 7);
  const auto problem = [&](const auto& change) {
    Part part = part_of(all, 1);
    change(part);
    return problem_of(part);
  };
  CHECK(problem([](Part& p) { p.start[0] = 4; }).find("array 'a': found start [4, 2, 1]") == 0);
  CHECK(!problem([](Part& p) { p.start[1] = -1; }).empty());
  CHECK(!problem([](Part& p) { p.count[2] = -1; }).empty());
  CHECK(!problem([](Part& p) { p.count[2] = std::numeric_limits<Index>::max(); }).empty());
  CHECK(!problem([](Part& p) { p.start.pop_back(); }).empty());
  CHECK(!problem([](Part& p) { p.strides.pop_back(); }).empty());
  CHECK(!problem([](Part& p) { p.count.clear(); }).empty());
  CHECK(!problem([](Part& p) { p.data = nullptr; }).empty());
  CHECK(!problem([](Part& p) {
           p.shape = p.start = {};
           p.count.assign(3, Index{1} << 30);
         }).empty());
  CHECK(problem([](Part& p) {
          p.count[0] = 0;
          p.data = nullptr;
        }).empty());
}

TEST_CASE("the first rule that fits a name counts") {
  const Mapping mapping = read_mapping(
      "meshes:\n"
      "  grid: {origin: [0.1, -2], spacing: [1e-13, 3], axes: [y, x]}\n"
      "  cloud: {type: points, coordinates: [e/x, e/y]}\n"
      "  rain: {type: points, coordinates: [r/position], grows: yes}\n"
      "arrays:\n"
      "  T: {mesh: grid, variable: temperature, unit: K}\n"
      "  'e/?': {mesh: cloud}\n"
      "  '*/debug/*': {leave_out: true}\n"
      "  'v*': {components: last}\n",
      "rules.yaml");
  const Mapping again = from_text(to_text(mapping));
  for (const Mapping& m : {mapping, again}) {
    CHECK(m.meshes.at("grid").origin == std::vector<double>{0.1, -2});
    CHECK(m.meshes.at("grid").spacing == std::vector<double>{1e-13, 3});
    CHECK(m.meshes.at("cloud").points);
    REQUIRE(m.find("T") != nullptr);
    CHECK(m.find("T")->variable == "temperature");
    CHECK(m.find("e/x")->mesh == "cloud");
    CHECK(m.find("e/xx") == nullptr);
    CHECK((m.meshes.at("rain").grows && !m.meshes.at("cloud").grows));
    REQUIRE(m.find("r/position") != nullptr);  // coordinates need no rule
    CHECK(m.find("r/position")->mesh == "rain");
    CHECK(m.find("a/debug/b/c")->leave_out);
    CHECK(m.find("debug/b") == nullptr);
    CHECK(m.find("v")->components);
    CHECK(m.find("") == nullptr);
  }
}

TEST_CASE("rules that fit no array are named") {
  const Mapping mapping = read_mapping(
      "meshes:\n  e: {type: points, coordinates: [e/x]}\narrays:\n  T: {}\n  'v*': {}\n  'd*': {leave_out: true}\n",
      "rules.yaml");
  CHECK(unused(mapping, {"T", "v1", "e/x"}, "rules.yaml").empty());
  const std::vector<std::string> all = unused(mapping, {"t", "w"}, "rules.yaml");
  REQUIRE(all.size() == 3);
  CHECK(all[0].find("rules.yaml: the rule for 'T' fits nothing that the program has written so far (found 't', 'w')") ==
        0);
  CHECK(all[2].find("the rule for 'e/x'") != std::string::npos);
  const Mapping other = read_mapping("meshes:\n  grid: {}\n  fog: {}\narrays:\n  T: {mesh: gird}\n", "rules.yaml");
  const std::vector<std::string> meshes = unused(other, {"T"}, "rules.yaml");
  REQUIRE(meshes.size() == 2);
  CHECK(meshes[1].find(
            "rules.yaml: no rule names the mesh 'grid', expected one for an array on it (rules name 'gird')") == 0);
  CHECK(unused(other, {"T"}, "rules.yaml", other).size() == 2);
  CHECK(some_of({}) == "none");
  CHECK(some_of({"1", "2", "3", "4", "5", "6", "7", "8", "9"}).find("'8' and 1 more") != std::string::npos);
}

TEST_CASE("faults of the file are named with their line") {
  const auto message = [](const char* text) { return message_of([&] { (void)read_mapping(text, "rules.yaml"); }); };
  CHECK(message("meshes:\n  grid:\n    orgin: [0]\n").find("rules.yaml, line 3: found 'orgin'") == 0);
  CHECK(message("arrays: [T]\n").find("found no map") != std::string::npos);
  CHECK(message("arrays:\n  T: {components: first}\n").find("expected last") != std::string::npos);
  CHECK(message("meshes:\n  e: {coordinates: [x]}\n").find("expected `type: points`") != std::string::npos);
  CHECK(message("meshes:\n  e: {grows: yes}\n").find("found grows, expected `type: points`") != std::string::npos);
  CHECK(message("meshes:\n  e: {type: points, grows: often}\n").find("expected yes or no") != std::string::npos);
  CHECK(message("meshes:\n  e: {type: points, origin: [1]}\n").find("only coordinates") != std::string::npos);
  CHECK(message("meshes:\n  g: {spacing: [0]}\n").find("positive") != std::string::npos);
  CHECK(message("meshes:\n  g: {type: curved}\n").find("found 'curved'") != std::string::npos);
  CHECK(
      message("arrays:\n  a: {variable: x}\n  b: {variable: x}\n").find("rules.yaml, line 3: found the variable 'x'") ==
      0);
  CHECK(message("arrays:\n  a: {variable: x}\n  a: {variable: y}\n").find("found 'a' twice") != std::string::npos);
  CHECK(message("arrays:\n  a: {variable: x}\n  b: {variable: x, leave_out: true}\n") == "nothing was thrown");
  CHECK(read_mapping("", "rules.yaml").arrays.empty());
  CHECK(read_mapping("arrays:\n  # none\n", "rules.yaml").arrays.empty());
}

namespace {

/// A box of an array of 5 x 4 x 6 x 2 that refers to memory of the whole.
Part box_of(std::vector<float>& whole, std::vector<Index> start, std::vector<Index> count) {
  Part part{"a", Type::float32, {5, 4, 6, 2}, std::move(start), std::move(count)};
  part.strides = {48 * 4, 12 * 4, 2 * 4, 4};
  part.data = reinterpret_cast<const std::byte*>(whole.data());
  for (std::size_t a = 0; a < 4; ++a) part.data += part.start[a] * part.strides[a];
  return part;
}

Part random_box(std::vector<float>& whole, std::mt19937& random) {
  std::vector<Index> start, count;
  for (const Index n : {5, 4, 6, 2}) {
    start.push_back(static_cast<Index>(random() % static_cast<unsigned>(n)));
    count.push_back(1 + static_cast<Index>(random() % static_cast<unsigned>(n - start.back())));
  }
  return box_of(whole, start, count);
}

/// Counts the values of a part in each place of the whole.
void count_in(const Part& part, std::vector<int>& counts, int by) {
  for (Index k = 0; k < part.count[0]; ++k) {
    for (Index j = 0; j < part.count[1]; ++j) {
      for (Index i = 0; i < part.count[2]; ++i) {
        for (Index c = 0; c < part.count[3]; ++c) {
          const Index at =
              (k + part.start[0]) * 48 + (j + part.start[1]) * 12 + (i + part.start[2]) * 2 + c + part.start[3];
          counts[static_cast<std::size_t>(at)] += by;
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("differences and common values of boxes are those of a loop") {
  std::mt19937 random(7);
  std::vector<float> ones(240, 1), target(240, 0);
  for (int n = 0; n < 500; ++n) {
    const Part a = random_box(ones, random), b = random_box(target, random);
    std::vector<int> in_a(240, 0), in_b(240, 0), left(240, 0);
    count_in(a, in_a, 1);
    count_in(b, in_b, 1);
    for (const Part& part : difference(a, b)) {
      count_in(part, left, 1);
      CHECK(part.data == box_of(ones, part.start, part.count).data);
    }
    std::fill(target.begin(), target.end(), 0.0F);
    copy_common(a, b);
    std::size_t common = 0;
    bool same = true, inside = true;
    for (std::size_t i = 0; i < 240; ++i) {
      const bool both = in_a[i] == 1 && in_b[i] == 1;
      common += both ? 1 : 0;
      inside = inside && (in_b[i] == 0 || both);
      same = same && left[i] == (in_a[i] == 1 && !both ? 1 : 0) && (target[i] == 1) == both;
    }
    CHECK(same);
    CHECK(common_values(a, b) == common);
    CHECK(overlap(a, b) == (common > 0));
    CHECK(contains(a, b) == inside);
  }
}

TEST_CASE("pieces of an array are found by the values that they have in common with a part") {
  std::mt19937 random(11);
  std::vector<float> whole(240, 0);
  for (int n = 0; n < 50; ++n) {
    Pieces pieces;
    for (int m = 0; m < 20; ++m) {
      const Part part = random_box(whole, random);
      std::size_t found = 0, expected = 0;
      for (const Pieces::Place& piece : pieces.overlapping(part)) found += common_values(piece->part, part);
      for (const Piece& piece : pieces) expected += common_values(piece.part, part);
      CHECK(found == expected);
      if (m % 5 == 4 && !pieces.empty()) pieces.remove(pieces.begin());
      if (found > 0) continue;
      Piece piece;
      piece.part = part;
      pieces.add(std::move(piece));
    }
    Part other = random_box(whole, random);
    other.name = "b";
    CHECK(pieces.overlapping(other).empty());
  }
}
