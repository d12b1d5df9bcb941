// `levels` and `box` of isosurfaces, thresholds, clips, projections and pictures. Cells that they leave out count as if
// they had no value. Results have the same bytes for every division.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "support/level_cases.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "support/surface_checks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// A choice as an option and as a rule.
struct Choice {
  std::int32_t coarsest = 0, finest = 99;
  std::array<double, 3> low{-1e9, -1e9, -1e9}, high{1e9, 1e9, 1e9};
  bool boxed = false;

  [[nodiscard]] bool has(std::int32_t level, const std::array<double, 3>& x, int dimensions) const {
    bool in = coarsest <= level && level <= finest;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) in = in && low[a] <= x[a] && x[a] < high[a];
    return in;
  }
  [[nodiscard]] std::string text(int dimensions) const {
    std::string text;
    if (finest < 99) text += ", levels: [" + std::to_string(coarsest) + ", " + std::to_string(finest) + "]";
    if (!boxed) return text;
    std::string corners[2];
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
      corners[0] += std::to_string(low[a]) + ", ";
      corners[1] += (a == 0 ? "" : ", ") + std::to_string(high[a]);
    }
    return text + ", box: [" + corners[0] + corners[1] + "]";
  }
};

std::vector<Choice> choices(const std::array<double, 3>& low, const std::array<double, 3>& high) {
  const Choice some{1, 2, {}, {}, false}, region{0, 99, low, high, true}, both{1, 3, low, high, true};
  Choice levels;
  levels.coarsest = some.coarsest;
  levels.finest = some.finest;
  return {levels, region, both};
}

/// The world with another value in cells that are not chosen.
template <class W>
W without(const W& world, const Choice& choice, double other) {
  W less = world;
  less.value = [value = world.value, choice, other, n = world.dimensions](const TreeCell& c,
                                                                          const std::array<double, 3>& x) {
    return choice.has(c.level, x, n) ? value(c, x) : other;
  };
  return less;
}

bool same_set(const CellSet& a, const CellSet& b) {
  if (a.points != b.points || a.types != b.types || a.links != b.links) return false;
  for (std::size_t n = 0; n < a.cell_data.size(); ++n) {
    if (a.cell_data[n].values != b.cell_data[n].values) return false;
  }
  return a.cell_data.size() == b.cell_data.size();
}

CapturedResults run(const AnalysisKind& kind, const std::string& yaml, const TreeWorld& world, Communicator& members,
                    std::size_t blocks) {
  const TreeBlocks tree(world, blocks);
  return run_lists(kind, yaml, tree.domain, tree.blocks, members, 2);
}
CapturedResults run(const AnalysisKind& kind, const std::string& yaml, const PatchWorld& world, Communicator& members,
                    std::size_t) {
  return run_patches(kind, yaml, world, members, 2);
}

/// Calls `check(with, expected)` for results with the choice, in several divisions, and for results of a world without
/// the other cells.
template <class W, class F>
void compare(const AnalysisKind& kind, const std::string& yaml, const W& world, const Choice& choice, double other,
             F&& check) {
  MpiCommunicator self(MPI_COMM_SELF), all(test_ranks());
  const std::string with = "{" + yaml + choice.text(world.dimensions) + "}";
  CAPTURE(with);
  const CapturedResults expected = run(kind, "{" + yaml + "}", without(world, choice, other), self, 1);
  check(run(kind, with, world, self, 1), expected);
  check(run(kind, with, world, self, 5), expected);
  const CapturedResults together = run(kind, with, world, all, 6);
  if (all.rank() == 0) check(together, expected);
}

const Surface& surface_of(const CapturedResults& results) { return results.surfaces.begin()->second; }
const CellSet& set_of(const CapturedResults& results) { return results.cell_sets.begin()->second; }

template <class W>
void check_surfaces(const W& world, const std::vector<Choice>& all) {
  for (const Choice& choice : all) {
    compare(isosurface_kind(), "variable: t, values: [0.4, 0.6], fields: [pair]", world, choice, nan_value,
            [](const CapturedResults& found, const CapturedResults& expected) {
              CHECK(surface_of(found).points.size() > 2);
              CHECK(same_bits(surface_of(found), surface_of(expected)));
            });
  }
}

template <class W>
void check_parts(const W& world, const std::vector<Choice>& all) {
  const auto same = [](const CapturedResults& found, const CapturedResults& expected) {
    CHECK(set_of(found).types.size() > 2);
    CHECK(same_set(set_of(found), set_of(expected)));
  };
  for (const Choice& choice : all) {
    compare(threshold_kind(), "variable: t, minimum: -10, fields: pair", world, choice, nan_value, same);
    // A clip does not look at values: it keeps all chosen cells, as this threshold does.
    MpiCommunicator self(MPI_COMM_SELF);
    const std::string text = choice.text(world.dimensions);
    const auto clipped =
        run(clip_kind(), "{variable: t, fields: pair, low: [-99, -99, -99], high: [99, 99, 99]" + text + "}", world,
            self, 4);
    const auto kept = run(threshold_kind(), "{variable: t, minimum: -10, fields: pair" + text + "}", world, self, 3);
    same(clipped, kept);
  }
}

/// The array of that name.
std::vector<double> array_of(const CapturedResults& results, const std::string& name) {
  for (const DataSet::Array& array : results.data_sets.begin()->second.arrays) {
    if (array.name != name) continue;
    std::vector<double> values(array.values.size() / sizeof(double));
    std::memcpy(values.data(), array.values.data(), array.values.size());
    return values;
  }
  FAIL("no array " << name);
  return {};
}

template <class W>
void check_projections(const W& world, const std::vector<Choice>& all) {
  for (const Choice& choice : all) {
    W ones = world;
    ones.value = [](const TreeCell&, const std::array<double, 3>&) { return 1.0; };
    for (const char axis : {'x', 'y'}) {
      const std::string yaml = std::string("variable: t, level: 2, axis: ") + axis;
      MpiCommunicator self(MPI_COMM_SELF);
      // The length of chosen cells along each line is the integral of a field that is 1 in them and 0 elsewhere.
      const auto along = array_of(run(projection_kind(), "{" + yaml + "}", without(ones, choice, 0), self, 2), "t");
      compare(projection_kind(), yaml, world, choice, 0.0,
              [&](const CapturedResults& found, const CapturedResults& expected) {
                const auto sums = array_of(found, "t"), lengths = array_of(found, "length"),
                           exact = array_of(expected, "t");
                REQUIRE(sums.size() == exact.size());
                int some = 0;
                bool right = true;
                for (std::size_t n = 0; n < sums.size(); ++n) {
                  right = right && lengths[n] == along[n];
                  right = right && (lengths[n] > 0 ? sums[n] == exact[n] : std::isnan(sums[n]) && exact[n] == 0);
                  some += lengths[n] > 0;
                }
                CHECK(right);
                CHECK(some > 0);
              });
    }
  }
}

}  // namespace

TEST_CASE("surfaces of chosen cells are those of a mesh whose other cells have no value") {
  for (const int dimensions : {2, 3}) {
    check_surfaces(random_world(dimensions, 3, 4), choices({0.1, 0.9, 2.3}, {3.3, 1.9, 4.4}));
    check_surfaces(random_patches(dimensions, 6), choices({0.11, 0.13, 0.21}, {0.83, 0.71, 0.72}));
  }
}

TEST_CASE("parts of chosen cells, of trees and of patches") {
  for (const int dimensions : {2, 3}) {
    check_parts(random_world(dimensions, 3, 4), choices({0.1, 0.9, 2.3}, {3.3, 1.9, 4.4}));
    check_parts(random_patches(dimensions, 6), choices({0.11, 0.13, 0.21}, {0.83, 0.71, 0.72}));
  }
}

TEST_CASE("projections of chosen cells") {
  for (const int dimensions : {2, 3}) {
    check_projections(random_world(dimensions, 3, 4), choices({0.1, 0.9, 2.3}, {3.3, 1.9, 4.4}));
    check_projections(random_patches(dimensions, 6), choices({0.11, 0.13, 0.21}, {0.83, 0.71, 0.72}));
  }
}

TEST_CASE("pictures of surfaces and of parts of chosen cells") {
  const std::vector<Choice> all = choices({0.11, 0.13, 0.21}, {0.83, 0.71, 0.72});
  const auto same = [](const CapturedResults& found, const CapturedResults& expected) {
    const Image &a = found.images.at("a.png"), &b = expected.images.at("a.png");
    CHECK(a.rgba == b.rgba);
  };
  const std::string tail = "}, size: [80, 64], camera: {view: [-1, -2, -1]}, file: a.png";
  MpiCommunicator self(MPI_COMM_SELF), world_communicator(test_ranks());
  for (const std::string what : {"isosurface: {variable: t, values: 0.5", "threshold: {variable: t, minimum: -10"}) {
    for (const Choice& choice : all) {
      const PatchWorld patches = random_patches(3, 6);
      const PatchWorld less = without(patches, choice, nan_value);
      const auto expected = run_patches(render_kind(), "{" + what + tail + "}", less, self);
      const std::string yaml = "{" + what + choice.text(3) + tail + "}";
      same(run_patches(render_kind(), yaml, patches, self, 2), expected);
      const auto together = run_patches(render_kind(), yaml, patches, world_communicator, 2);
      if (world_communicator.rank() == 0) same(together, expected);
    }
  }
}

TEST_CASE("a box of a mesh without levels; levels are refused there") {
  const auto value = [](const auto& x) { return std::sin(5 * x[0]) + std::cos(4 * x[1] + x[2]); };
  const Choice choice{0, 99, {0.2, 0.31, 0.1}, {0.71, 0.83, 0.9}, true};
  for (const Centering centering : {Centering::cell, Centering::node}) {
    CAPTURE(static_cast<int>(centering));
    const FakeDomain whole =
        fake_cube(17, 0, 1, {{"t", [&](const auto& x, const Index3&, int) { return value(x); }, centering, 1}});
    const auto in = [&](const auto& x) { return choice.has(0, x, 3); };
    const FakeDomain part = fake_cube(
        17, 0, 1,
        {{"t", [&](const auto& x, const Index3&, int) { return in(x) ? value(x) : nan_value; }, centering, 1}});
    const auto surface = [&](const std::string& yaml, const FakeDomain& domain, const Index3& parts) {
      return run_alone(isosurface_kind(), yaml, domain, even_division(domain.mesh().cells, parts))
          .surfaces.begin()
          ->second;
    };
    // Normals are not compared, because those next to cells without a value are one-sided.
    const Surface expected = surface("{variable: t, values: 0.2, normals: false}", part, {1, 1, 1});
    REQUIRE(expected.points.size() > 50);
    for (const Index3& parts : {Index3{1, 1, 1}, Index3{3, 2, 1}}) {
      const std::string yaml = "{variable: t, values: 0.2, normals: false" + choice.text(3) + "}";
      CHECK(same_bits(surface(yaml, whole, parts), expected));
    }
    const AnalysisKind kind = isosurface_kind();
    const Metadata& metadata = whole.metadata;
    CHECK(message_of([&] {
            kind.create(fake_settings(kind, "{variable: t, values: 1, levels: 1}", metadata), metadata);
          }).find("has no refinement levels to choose from") != std::string::npos);
  }
}
