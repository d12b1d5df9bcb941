// Options of pictures about colours and lengths: scales, colours of the user's own, axes and scale bars.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <string>

#include "support/fake_domain.hpp"
#include "support/ranks.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/kinds.hpp"
#include "visualisation/render/layer_pieces.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const std::string frame = "frame-{index:05}.png";

double ramp(const std::array<double, 3>& x, const Index3&, int) { return x[2]; }
double powers(const std::array<double, 3>& x, const Index3&, int) { return std::pow(10.0, 2 * x[2]); }

FakeDomain ramps() {
  return fake_cube(12, -1, 1, {{"ramp", ramp, Centering::node}, {"powers", powers, Centering::node}});
}

const std::string front = "camera: {view: [0, 1, 0], projection: parallel}, size: [200, 160], ";
const std::string bare = front + "outline: false, colour_bar: false, caption: none, background: white, ";

Image shown(const std::string& options) {
  const FakeDomain domain = ramps();
  return run_alone(render_kind(), "{" + options + "}", domain, even_division(domain.mesh().cells, {2, 1, 2}))
      .images.at(frame);
}

std::string message_for(const std::string& options) {
  const FakeDomain domain = ramps();
  try {
    static_cast<void>(
        render_kind().create(fake_settings(render_kind(), "{" + options + "}", domain.metadata), domain.metadata));
  } catch (const Error& error) {
    CHECK(error.code() == Code::configuration);
    return error.what();
  }
  return "no error";
}

std::array<int, 3> pixel(const Image& image, int x, int y) {
  const std::uint8_t* p = &image.rgba[(static_cast<std::size_t>(y) * image.width + x) * 4];
  return {p[0], p[1], p[2]};
}

const std::string ramp_slice = "slice: {variable: ramp, axis: y}, ";

}  // namespace

TEST_CASE("a logarithmic scale shows powers of ten evenly, and grey where there is no logarithm") {
  const Image linear = shown(ramp_slice + bare + "colours: grey, range: [-1, 1]");
  const Image logarithmic =
      shown("slice: {variable: powers, axis: y}, " + bare + "colours: grey, scale: logarithmic, range: [0.01, 100]");
  const Image open = shown("slice: {variable: powers, axis: y, scale: logarithmic}, " + bare + "colours: grey");
  for (int y = 30; y < 130; y += 10) {
    CHECK(std::abs(pixel(linear, 100, y)[0] - pixel(logarithmic, 100, y)[0]) < 8);
    CHECK(std::abs(pixel(linear, 100, y)[0] - pixel(open, 100, y)[0]) < 8);
  }
  const Image half = shown(ramp_slice + bare + "colours: grey, scale: logarithmic");
  CHECK(pixel(half, 100, 120) == std::array<int, 3>{150, 150, 150});
  CHECK(pixel(half, 100, 20)[0] > 200);
}

TEST_CASE("a symmetric scale has 0 in its middle, whatever part of the data is shown") {
  const std::string upper = "slice: {variable: ramp, axis: y}, domain: [-1, -1, -1, 1, 1, 1], ";
  const Image fixed = shown(upper + bare + "colours: coolwarm, range: [-1, 1]");
  const Image open = shown(upper + bare + "colours: coolwarm, scale: symmetric");
  CHECK(fixed.rgba == open.rgba);
}

TEST_CASE("colours come from a list or a file") {
  const Image named = shown(ramp_slice + bare + "colours: grey, range: [-1, 1]");
  const Image listed = shown(ramp_slice + bare + "colours: [black, '#ffffff'], range: [-1, 1]");
  // A file of each rank's own: all of them run this at the same time.
  const std::string file = fmt::format("ramp-{}.csv", MpiCommunicator(test_ranks()).rank());
  std::ofstream(file) << "0, 0, 0\n0.5, 0.5, 0.5\n1, 1, 1\n";
  const Image filed = shown(ramp_slice + bare + "colour_file: " + file + ", range: [-1, 1]");
  const Image of_layer = shown("slice: {variable: ramp, axis: y, colours: [black, white]}, " + bare + "range: [-1, 1]");
  for (int y = 30; y < 130; y += 10) {
    for (const Image* image : {&listed, &filed, &of_layer}) {
      CHECK(std::abs(pixel(named, 100, y)[0] - pixel(*image, 100, y)[0]) < 3);
    }
  }
}

TEST_CASE("axes and scale bars are the same for every division") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = ramps();
  const Box& cells = domain.mesh().cells;
  const std::string lengths = "axes: true, axis_names: [r, s, t], length_unit: kpc, ";
  for (const std::string& yaml :
       {"{" + ramp_slice + lengths + "scale_bar: true, camera: {projection: parallel}, size: [200, 160]}",
        "{slice: {variable: powers, axis: y}, scale: logarithmic, colours: twilight, " + lengths +
            "size: [200, 160], range: running}"}) {
    CAPTURE(yaml);
    const Image alone = run_alone(render_kind(), yaml, domain, {cells}).images.at(frame);
    for (const Division& division : {even_division(cells, {2, 3, 1}), random_division(cells, 7, 5)}) {
      const CapturedResults results =
          run_analysis(render_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = 2});
      if (world.rank() == 0) CHECK(results.images.at(frame).rgba == alone.rgba);
    }
  }
}

TEST_CASE("axes are drawn in dark ink on a white picture") {
  const std::string scene = ramp_slice + bare + "colours: [white, '#fefefe'], ";
  const Image without = shown(scene + "axes: false"), with = shown(scene + "axes: true");
  const auto dark = [](const Image& image) {
    int count = 0;
    for (std::size_t p = 0; p < image.rgba.size(); p += 4) count += image.rgba[p] < 128;
    return count;
  };
  CHECK(dark(without) == 0);
  CHECK(dark(with) > 200);
}

TEST_CASE("wrong colours and lengths get a sentence") {
  const std::string slice = "slice: {variable: ramp, axis: y}, ";
  CHECK(message_for(slice + "colours: viridi").find("did you mean 'viridis'") != std::string::npos);
  CHECK(message_for(slice + "colours: [black, pinkish]").find("'pinkish'") != std::string::npos);
  CHECK(message_for(slice + "colour_file: absent.csv").find("absent.csv") != std::string::npos);
  CHECK(message_for(slice + "colours: grey, colour_file: absent.csv").find("remove one") != std::string::npos);
  CHECK(message_for(slice + "scale: logarithmic, range: [0, 1]").find("above 0") != std::string::npos);
  CHECK(message_for(slice + "scale: symmetric, range: [0, 1]").find("in its middle") != std::string::npos);
  CHECK(message_for(slice + "scale: symmetric, range: [-1, 1]") == "no error");
  CHECK(message_for(slice + "scale_bar: true").find("projection: parallel") != std::string::npos);
  CHECK(message_for(slice + "scale_bar: true, camera: {projection: parallel}") == "no error");
  CHECK(message_for(slice + "colours: [black, white], axes: true, axis_names: [r]") == "no error");
}

TEST_CASE("cells whose picture is narrow have no edges, each judged by itself") {
  using namespace rendering;
  CameraSettings settings;
  settings.parallel = true;
  settings.view = Vec3{0, 0, -1};
  const Camera camera(settings, {{0, 0, 0}, {1, 1, 1}}, {0, 0, 100, 100});  // 94 samples from 0 to 1
  Piece piece;
  const auto add = [&](double x, double width, double height) {
    const auto first = static_cast<std::int64_t>(piece.points.size());
    for (const auto& [right, up] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}}) {
      piece.points.push_back({x + right * width, 0.2 + up * height, 0.5});
    }
    for (std::int64_t n = 0; n < 4; ++n) piece.lines.push_back({first + n, first + (n + 1) % 4});
  };
  add(0.1, 0.1, 0.1);
  add(0.3, 0.02, 0.5);  // 1.9 samples
  add(0.5, 0.5, 0.02);
  add(0.7, 0.04, 0.04);  // 3.8 samples
  const auto kept = distinct_edges(piece, camera, 3);
  REQUIRE(kept.size() == 8);
  CHECK(kept[0] == piece.lines[0]);
  CHECK(kept[4] == piece.lines[12]);
  CHECK(distinct_edges(piece, camera, 0).size() == 16);
  CHECK(distinct_edges(Piece{}, camera, 3).empty());
}
