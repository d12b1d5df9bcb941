// Volumes and translucent layers in pictures: the same bytes for every division, in each kind of mesh that has volumes,
// in the colours of the map, and sentences for what is wrong.
#include <doctest/doctest.h>

#include <cmath>

#include "support/fake_domain.hpp"
#include "support/level_cases.hpp"
#include "support/ranks.hpp"
#include "support/stretched_domain.hpp"
#include "support/test_all.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

double hills(const std::array<double, 3>& x, const Index3&, int c) {
  return std::sin(5 * x[0] + c) * std::cos(4 * x[1]) + 0.7 * std::sin(3 * x[2] - x[0]);
}
double holes(const std::array<double, 3>& x, const Index3& p, int c) {
  return (p[0] + p[1] + p[2]) % 7 == 0 ? std::numeric_limits<double>::quiet_NaN() : hills(x, p, c);
}
double level(const std::array<double, 3>&, const Index3&, int) { return 0.25; }

const std::vector<FakeField> fields{{"hills", hills},
                                    {"nodes", hills, Centering::node},
                                    {"holes", holes},
                                    {"level", level},
                                    {"wind", hills, Centering::cell, 3}};

Image only(const CapturedResults& results) { return results.images.begin()->second; }

bool same(const Image& a, const Image& b) { return a.width == b.width && a.height == b.height && a.rgba == b.rgba; }

std::size_t different(const Image& a, const Image& b) {
  std::size_t count = 0;
  for (std::size_t p = 0; p < a.rgba.size(); p += 4) count += std::memcmp(&a.rgba[p], &b.rgba[p], 4) != 0 ? 1 : 0;
  return count;
}

const std::vector<std::string> scenes{
    "{volume: {variable: hills, opacity: [0, 0, 0.1, 0.4]}, size: [90, 70]}",
    "{volume: {variable: nodes, opacity: [0.3, 0, 0, 0.3], range: [-1, 1], colours: coolwarm}, size: [80, 80], samples: "
    "1, isosurface: {variable: hills, values: [0.1, 0.5], opacity: 0.4}, camera: {projection: parallel, view: [1, 0, 0]}}",
    "{volume: [{variable: holes, opacity: [0, 0.2], values: [0, 1]}, {variable: wind, component: 2, opacity: [0, 0.1, "
    "0], length: 0.05}], slice: [{variable: level, axis: z, opacity: 0.5}, {variable: hills, axis: x}], size: [70, 90], "
    "camera: {position: [0.1, 0.2, -0.3], focus: [1, 1, 1], angle: 75}}",
    "{isosurface: {variable: hills, values: [-0.8, -0.4, 0, 0.4, 0.8], opacity: 0.3}, threshold: {variable: hills, "
    "minimum: 1, opacity: 0.6}, size: [80, 80]}"};

}  // namespace

TEST_CASE("the same bytes however blocks and servers are divided") {
  MpiCommunicator world(test_ranks());
  std::size_t tried = 0;
  for (const FakeDomain& domain : {fake_cube(13, -1, 1, fields), stretched_domain(fields)}) {
    const Box& cells = domain.mesh().cells;
    for (const std::string& yaml : scenes) {
      CAPTURE(yaml);
      const Image alone = only(run_alone(render_kind(), yaml, domain, {cells}));
      for (const Division& division :
           {Division{cells}, even_division(cells, {2, 3, 1}), random_division(cells, 9, 5)}) {
        ++tried;
        for (const std::size_t partials : {1, 2}) {
          if (!test_all() && partials != 1 + tried % 2) continue;
          const CapturedResults results =
              run_analysis(render_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = partials});
          if (world.rank() == 0) CHECK(same(only(results), alone));
        }
      }
    }
  }
}

TEST_CASE("trees and patches are the same bytes for every division, and look alike") {
  MpiCommunicator self(MPI_COMM_SELF), world(test_ranks());
  const AnalysisKind kind = render_kind();
  const std::string yaml =
      "{volume: {variable: t, opacity: [0, 0.3], values: [0, 0.2]}, isosurface: {variable: t, values: [0.1], opacity: 0.5}, "
      "size: [96, 80], file: a.png}";
  const TreeWorld ball = ball_world(3, 3, 5);
  const TreeBlocks whole(ball, 1), parts(ball, 6);
  const Image one = only(run_lists(kind, yaml, whole.domain, whole.blocks, self));
  CHECK(same(only(run_lists(kind, yaml, parts.domain, parts.blocks, self, 2)), one));
  const CapturedResults all = run_lists(kind, yaml, parts.domain, parts.blocks, world, 2);
  if (world.rank() == 0) CHECK(same(only(all), one));

  PatchWorld patches = patch_world(3);
  for (const bool nodes : {false, true}) {
    patches.nodes = nodes;
    const std::string volume = "{volume: {variable: t, opacity: [0, 0.1, 0]}, size: [96, 80], file: a.png}";
    const Image alone = only(run_patches(kind, volume, patches, self));
    const CapturedResults together = run_patches(kind, volume, patches, world, 2);
    if (world.rank() == 0) CHECK(same(only(together), alone));
    CHECK(different(alone, only(run_patches(kind, "{slice: {variable: t, axis: z}, size: [96, 80], file: a.png}",
                                            patches, self))) > 500);
  }
}

TEST_CASE("an opaque volume has the colour of its values, and a clear one shows the background") {
  const FakeDomain domain = fake_cube(6, -1, 1, fields);
  const Division blocks = even_division(domain.mesh().cells, {2, 1, 2});
  const std::string plain = "outline: false, colour_bar: false, caption: none, background: white, size: [48, 48]";
  const auto middle = [&](const std::string& volume) {
    const Image image =
        only(run_alone(render_kind(), "{volume: {variable: level, " + volume + "}, " + plain + "}", domain, blocks));
    const std::size_t p = 4 * (24 * 48 + 24);
    return std::array<int, 3>{image.rgba[p], image.rgba[p + 1], image.rgba[p + 2]};
  };
  for (const std::string map : {"viridis", "inferno", "coolwarm"}) {
    const rendering::Colour wanted = rendering::ColourMap(map).at(0.25);
    const auto seen = middle("opacity: [0.9, 0.9], range: [0, 1], colours: " + map);
    CHECK(std::abs(seen[0] - wanted.red) <= 2);
    CHECK(std::abs(seen[1] - wanted.green) <= 2);
    CHECK(std::abs(seen[2] - wanted.blue) <= 2);
  }
  CHECK(middle("opacity: [0, 1], values: [0.25, 1]") == std::array<int, 3>{255, 255, 255});
  CHECK(middle("opacity: [0, 1], values: [0.3, 1]") == std::array<int, 3>{255, 255, 255});
}

TEST_CASE("opacity belongs to a length, not to samples or cells") {
  const auto picture = [](Index cells, const std::string& volume) {
    const FakeDomain domain = fake_cube(cells, -1, 1, fields);
    return only(run_alone(render_kind(), "{volume: {variable: level, " + volume + "}, size: [40, 40], caption: none}",
                          domain, {domain.mesh().cells}));
  };
  const auto near = [](const Image& a, const Image& b) {
    int worst = 0;
    for (std::size_t n = 0; n < a.rgba.size(); ++n) worst = std::max(worst, std::abs(a.rgba[n] - b.rgba[n]));
    return worst <= 1;
  };
  const std::string volume = "opacity: [0.2, 0.2], range: [0, 1], length: 0.5";
  CHECK(near(picture(3, volume), picture(24, volume)));
  // (1 - 0.2)^2 = 1 - 0.36
  CHECK(near(picture(5, volume), picture(5, "opacity: [0.36, 0.36], range: [0, 1], length: 1")));
}

TEST_CASE("a logarithmic volume is that of the logarithms") {
  // The same powers of ten as a variable, and their logarithms as another.
  const auto power = [](auto& x, const Index3&, int) { return std::pow(10, 2 * x[0] + x[1]); };
  const auto logarithm = [](auto& x, const Index3&, int) { return 2 * x[0] + x[1]; };
  const auto part = [&](auto& x, const Index3& p, int c) { return x[2] > 0 ? power(x, p, c) : -1; };
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain =
        fake_cube(8, -1, 1, {{"p", power, centering}, {"l", logarithm, centering}, {"some", part}});
    const auto picture = [&](const std::string& volume) {
      return only(run_alone(render_kind(),
                            "{volume: {" + volume + "}, colour_bar: false, caption: none, size: [50, 50]}", domain,
                            even_division(domain.mesh().cells, {2, 1, 2}), {.ghosts = 1}));
    };
    const auto near = [](const Image& a, const Image& b) {
      int worst = 0;
      for (std::size_t n = 0; n < a.rgba.size(); ++n) worst = std::max(worst, std::abs(a.rgba[n] - b.rgba[n]));
      return worst <= 2;
    };
    const Image wanted = picture("variable: l, opacity: [0, 0.1, 0, 0.3]");
    CHECK(near(picture("variable: p, scale: logarithmic, opacity: [0, 0.1, 0, 0.3]"), wanted));
    CHECK(near(picture("variable: l, range: [-2, 2], values: [-1, 0, 2], opacity: [0, 0.2, 0.1]"),
               picture("variable: p, scale: logarithmic, range: [0.01, 100], values: [0.1, 1, 100], opacity: [0, 0.2, "
                       "0.1]")));
    CHECK(different(picture("variable: p, opacity: [0, 0.1, 0, 0.3]"), wanted) > 200);
    // Values that are not above 0 are clear.
    const Image some = picture("variable: some, scale: logarithmic, opacity: [0.2, 0.2]");
    CHECK(different(some, picture("variable: p, scale: logarithmic, opacity: [0.2, 0.2]")) > 200);
  }
}

TEST_CASE("what is odd still gives a picture, the same for every division") {
  for (const Index cells : {1, 5}) {
    const FakeDomain domain = fake_cube(cells, 0, 1e-13, fields);
    const Box& box = domain.mesh().cells;
    const Division division = cells > 1 ? random_division(box, 3, 2) : Division{box};
    for (const std::string volume :
         {"length: 1.0e-100", "length: 1.0e+300", "length: 1.0e-15, values: [0.25, 0.2500000000001]",
          "values: [-1.0e+300, 1.0e+300]", "box: [0, 0, 0, 5.0e-14, 1, 1]"}) {
      CAPTURE(volume);
      const std::string yaml =
          "{volume: {variable: hills, opacity: [1, 0.5], " + volume + "}, size: [30, 24], caption: none}";
      const Image one = only(run_alone(render_kind(), yaml, domain, {box}));
      CHECK(one.rgba.size() == std::size_t{4 * 30 * 24});
      CHECK(same(only(run_alone(render_kind(), yaml, domain, division)), one));
    }
  }
}

TEST_CASE("blocks in which all is clear are not selected") {
  const FakeDomain domain = fake_cube(6, -1, 1, fields);
  const auto part = [&](const std::string& volume) {
    const std::string yaml = "{volume: {variable: hills, " + volume + "}}";
    return render_kind()
        .create(fake_settings(render_kind(), yaml, domain.metadata), domain.metadata)
        ->selection()
        .variables.at(0)
        .part;
  };
  CHECK(part("opacity: [0, 1]").kind == Part::Kind::all);
  const Part fixed = part("opacity: [0, 0, 1, 0], range: [0, 3]");
  REQUIRE(fixed.kind == Part::Kind::values);
  CHECK(fixed.values.intervals == std::vector<std::array<double, 2>>{{1, 3}});
  const Part ends = part("opacity: [0.5, 0, 0.1], values: [0, 1, 2], range: [-5, 5]");
  REQUIRE(ends.values.intervals.size() == 2);
  CHECK(ends.values.intervals[0][1] == 1);
  CHECK(std::isinf(ends.values.intervals[0][0]));
  CHECK(ends.values.intervals[1][0] == 1);
  CHECK(std::isinf(ends.values.intervals[1][1]));
}

TEST_CASE("a wrong configuration gets a sentence") {
  const auto message = [](const FakeDomain& domain, const std::string& volume) -> std::string {
    try {
      static_cast<void>(render_kind().create(
          fake_settings(render_kind(), "{volume: {variable: hills, " + volume + "}}", domain.metadata),
          domain.metadata));
    } catch (const Error& error) {
      CHECK(error.code() == Code::configuration);
      return error.what();
    }
    return "no error";
  };
  const FakeDomain cube = fake_cube(4, 0, 1, fields), square = fake_square(4, 0, 1, {{"hills", hills}});
  const auto says = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK(says(message(square, "opacity: [0, 1]"), "a volume needs a mesh of three dimensions with cells"));
  CHECK(says(message(cube, "opacity: [0, 0]"), "nothing would be seen"));
  CHECK(says(message(cube, "opacity: [0, 1], values: [1]"), "values"));
  CHECK(says(message(cube, "opacity: [0, 1], values: [1, 2, 3]"), "found 3 values for 2 opacities"));
  CHECK(says(message(cube, "opacity: [0, 1], values: [2, 1]"), "each above the one before"));
  CHECK(says(message(cube, "opacity: [0, 2]"), "opacity"));
  CHECK(says(message(cube, "opacity: [0, 1], values: [0, 1], scale: logarithmic"), "expected numbers above 0"));
  CHECK(message(cube, "opacity: [0, 1]") == "no error");
}
