// Volumes by ray casting: against analytic light, against tiny steps along each ray, and for every division.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>

#include "modules/visualisation/graphics/sample_rays.hpp"
#include "support/test_all.hpp"
#include "visualisation/graphics/compositing.hpp"
#include "visualisation/graphics/volume_caster.hpp"

using namespace sidestream;
using namespace sidestream::rendering;

namespace {

constexpr int size = 40;
constexpr Domain unit_cube{{0, 0, 0}, {1, 1, 1}};
const Background black{{0, 0, 0}, {0, 0, 0}};

double waves(const Vec3& x) { return 0.5 + 0.5 * std::sin(9 * x[0]) * std::cos(7 * x[1] + 2 * x[2]); }

/// A box of the unit cube's n^3 cells with numbers of a function at their corners.
VolumeBox box_of(const Box& cells, Index n, const TransferFunction& function, double (*value)(const Vec3&)) {
  VolumeBox box;
  for (std::size_t a = 0; a < 3; ++a) {
    for (Index i = cells.lo[a]; i <= cells.hi[a]; ++i) {
      box.faces[a].push_back(static_cast<double>(i) / static_cast<double>(n));
    }
  }
  for (const double z : box.faces[2]) {
    for (const double y : box.faces[1]) {
      for (const double x : box.faces[0]) box.numbers.push_back(function.position(value({x, y, z})));
    }
  }
  return box;
}

struct View {
  CameraSettings settings;
  Domain domain = unit_cube;
  int samples = 1;
  [[nodiscard]] Camera camera() const {
    const double width = size * samples;
    return {settings, domain, {0, 0, width, width}};
  }
};

Drawing cast(const View& view, const std::vector<VolumeBox>& boxes, const TransferFunction& function) {
  const Camera camera = view.camera();
  VolumeCaster caster(camera, size, size, view.samples, DepthSlabs(camera, view.domain));
  for (const VolumeBox& box : boxes) caster.add(box, function);
  Drawing drawing(std::int64_t{size} * view.samples, 0, std::int64_t{size} * view.samples, view.samples);
  caster.cast(drawing.slabs);
  return drawing;
}

std::vector<std::uint8_t> pixels(const View& view, Drawing drawing, const Background& background) {
  const Camera camera = view.camera();
  Translucency translucency{{}, &camera, DepthSlabs(camera, view.domain)};
  translucency.opacity.fill(1);
  return resolve(drawing, size, background, translucency);
}

/// The sums of all light, by row, column and slab.
std::map<std::array<std::int64_t, 3>, std::array<std::uint32_t, 4>> light_of(const Drawing& drawing) {
  std::map<std::array<std::int64_t, 3>, SlabLight> sums;
  for (int y = 0; y < size; ++y) {
    for (const SlabRecord& record : drawing.slabs.row(y)) sums[{y, record.column, record.slab}].add(record.light);
  }
  std::map<std::array<std::int64_t, 3>, std::array<std::uint32_t, 4>> light;
  for (const auto& [place, sum] : sums) light[place] = {sum.extinction, sum.red, sum.green, sum.blue};
  return light;
}

std::vector<View> views() {
  std::vector<View> views(5);
  views[1].settings.parallel = true;
  views[2].settings.view = Vec3{0, 1, 0};  // along an axis
  views[2].settings.parallel = true;
  views[3].settings.position = Vec3{0.4, 0.3, 0.6};  // from within
  views[3].settings.focus = Vec3{1, 0.9, 0.2};
  views[3].settings.angle = 80;
  views[4].settings.view = Vec3{1, 1, 1};
  views[4].samples = 2;
  return views;
}

/// Path of a ray within the unit cube.
std::array<double, 2> within(const rendering::testing::Ray& ray, double begin) {
  double from = begin, to = 1e300;
  for (std::size_t a = 0; a < 3; ++a) {
    if (std::fabs(ray.along[a]) < 1e-12) {
      if (ray.from[a] < 0 || ray.from[a] > 1) to = from;
      continue;
    }
    const double p = -ray.from[a] / ray.along[a], q = (1 - ray.from[a]) / ray.along[a];
    from = std::max(from, std::min(p, q));
    to = std::min(to, std::max(p, q));
  }
  return {from, std::max(from, to)};
}

rendering::testing::Ray ray_of(const View& view, const Camera& camera, int x, int y) {
  return rendering::testing::ray_through(camera, (x + 0.5) * view.samples, (y + 0.5) * view.samples);
}

double light(std::uint8_t channel) { return to_linear(channel) / 65535.0; }

}  // namespace

TEST_CASE("a homogeneous cube lets through exp(-extinction x length)") {
  const ExtinctionAt points[]{{0, 0}, {1, 1.5}};
  const TransferFunction function(points, ColourMap("grey"), {0, 1});
  const auto one = [](const Vec3&) { return 1.0; };
  for (const View& view : views()) {
    const Camera camera = view.camera();
    const auto seen = pixels(view, cast(view, {box_of({{0, 0, 0}, {9, 9, 9}}, 9, function, one)}, function), black);
    double worst = 0, most = 0;
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const auto ray = ray_of(view, camera, x, y);
        const auto [from, to] = within(ray, camera.parallel() ? -1e300 : camera.near());
        const double expected = 1 - std::exp(-1.5 * (to - from) * length(ray.along));
        worst = std::max(worst, std::fabs(expected - light(seen[static_cast<std::size_t>(4 * (y * size + x))])));
        most = std::max(most, expected);
      }
    }
    CHECK(most > 0.3);
    CHECK(worst < 0.01);  // 8 bits
  }
}

TEST_CASE("a field that varies looks as with tiny steps along each ray") {
  const ExtinctionAt points[]{{0, 0}, {0.45, 0}, {0.5, 30}, {0.55, 0}, {0.8, 1}, {1, 8}};
  const ColourMap map("inferno");
  const TransferFunction function(points, map, {0, 1});
  const auto extinction = [&](double v) {
    for (std::size_t n = 1; n < std::size(points); ++n) {
      const auto &a = points[n - 1], &b = points[n];
      if (v <= b.value) return a.extinction + (v - a.value) / (b.value - a.value) * (b.extinction - a.extinction);
    }
    return points[5].extinction;
  };
  for (const View& view : views()) {
    const Camera camera = view.camera();
    const auto seen =
        pixels(view, cast(view, {box_of({{0, 0, 0}, {48, 48, 48}}, 48, function, waves)}, function), black);
    double sum = 0, worst = 0;
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const auto ray = ray_of(view, camera, x, y);
        const auto [from, to] = within(ray, camera.parallel() ? -1e300 : camera.near());
        constexpr int steps = 3000;
        const double step = (to - from) / steps;
        double through = 1;
        std::array<double, 3> expected{};
        for (int n = 0; n < steps && step > 0; ++n) {
          const double v = waves(add(ray.from, scale(ray.along, from + (n + 0.5) * step)));
          const double opacity = 1 - std::exp(-extinction(v) * step * length(ray.along));
          const Colour colour = map.at(v);
          expected[0] += through * opacity * light(colour.red);
          expected[1] += through * opacity * light(colour.green);
          expected[2] += through * opacity * light(colour.blue);
          through *= 1 - opacity;
        }
        for (std::size_t c = 0; c < 3; ++c) {
          const double error = std::fabs(expected[c] - light(seen[static_cast<std::size_t>(4 * (y * size + x)) + c]));
          sum += error;
          worst = std::max(worst, error);
        }
      }
    }
    CHECK(sum / (3 * size * size) < 0.004);
    CHECK(worst < 0.05);
  }
}

TEST_CASE("the light is the same bits for every division into boxes, and for axes that run downwards") {
  const ExtinctionAt points[]{{0.2, 0}, {0.9, 2000}};  // many units, so that the last bits of numbers count
  const TransferFunction function(points, ColourMap("viridis"), {0, 1});
  const auto holes = [](const Vec3& x) { return x[0] > 0.7 && x[1] < 0.3 ? std::nan("") : waves(x); };
  const Box all{{0, 0, 0}, {37, 37, 37}};
  for (const View& view : views()) {
    for (double (*value)(const Vec3&) : {+waves, +holes}) {
      const auto whole = light_of(cast(view, {box_of(all, 37, function, value)}, function));
      CHECK(whole.size() > 5000);
      std::mt19937 random(7);
      for (int trial = 0; trial < (sidestream::testing::test_all() ? 3 : 1); ++trial) {
        std::vector<VolumeBox> boxes;
        std::vector<Box> parts{all};
        for (int cut = 0; cut < 9; ++cut) {
          Box& part = parts[random() % parts.size()];
          const std::size_t axis = random() % 3;
          if (part.extent(static_cast<int>(axis)) < 2) continue;
          Box rest = part;
          part.hi[axis] = rest.lo[axis] =
              part.lo[axis] + 1 +
              static_cast<Index>(random() % static_cast<unsigned>(part.extent(static_cast<int>(axis)) - 1));
          parts.push_back(rest);
        }
        std::shuffle(parts.begin(), parts.end(), random);
        for (const Box& part : parts) {
          VolumeBox box = box_of(part, 37, function, value);
          if (random() % 2 == 0) {  // turned round along z
            const std::size_t layer = box.faces[0].size() * box.faces[1].size(), layers = box.faces[2].size();
            VolumeBox turned = box;
            std::reverse(turned.faces[2].begin(), turned.faces[2].end());
            for (std::size_t k = 0; k < layers; ++k) {
              std::copy_n(box.numbers.begin() + static_cast<std::ptrdiff_t>(k * layer), layer,
                          turned.numbers.begin() + static_cast<std::ptrdiff_t>((layers - 1 - k) * layer));
            }
            box = turned;
          }
          boxes.push_back(std::move(box));
        }
        CHECK(light_of(cast(view, boxes, function)) == whole);
      }
    }
  }
}

TEST_CASE("cells of one number each, coarse beside fine") {
  const ExtinctionAt points[]{{0, 0}, {1, 2}};
  const TransferFunction function(points, ColourMap("grey"), {0, 1});
  const auto cells = [&](double low, double high, Index n) {
    VolumeBox box{{}, std::vector<float>(static_cast<std::size_t>(n * 8 * 8), function.position(1)), true};
    for (Index i = 0; i <= n; ++i)
      box.faces[0].push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(n));
    for (int i = 0; i <= 8; ++i) {
      box.faces[1].push_back(i / 8.0);
      box.faces[2].push_back(i / 8.0);
    }
    return box;
  };
  for (const View& view : views()) {
    const auto one = pixels(view, cast(view, {cells(0, 1, 1)}, function), black);
    const auto many = pixels(view, cast(view, {cells(0, 0.5, 16), cells(0.5, 1, 1)}, function), black);
    int worst = 0;
    for (std::size_t n = 0; n < one.size(); ++n) worst = std::max(worst, std::abs(one[n] - many[n]));
    CHECK(worst <= 1);
  }
}

TEST_CASE("the nearer of two opaque layers is seen, and surfaces are within the volume") {
  const ExtinctionAt points[]{{0, 0}, {0.1, 0}, {0.2, 400}, {0.3, 0}, {0.7, 0}, {0.8, 400}, {0.9, 0}};
  const TransferFunction function(points, ColourMap("coolwarm"), {0, 1});
  const auto height = [](const Vec3& x) { return x[1]; };
  View view;
  view.settings.view = Vec3{0, 1, 0};
  const std::size_t middle = 4 * (size / 2 * size + size / 2);
  const auto shown = [&](const Drawing& drawing) {
    const auto seen = pixels(view, drawing, black);
    return std::array<int, 3>{seen[middle], seen[middle + 1], seen[middle + 2]};
  };
  const std::vector<VolumeBox> boxes{box_of({{0, 0, 0}, {20, 20, 20}}, 20, function, height)};
  const auto front = shown(cast(view, boxes, function));
  CHECK(front[2] > front[0] + 50);  // blue
  view.settings.view = Vec3{0, -1, 0};
  const auto back = shown(cast(view, boxes, function));
  CHECK(back[0] > back[2] + 50);  // red
  // A green wall in the middle hides the second layer, but not the first one.
  Drawing walled = cast(view, boxes, function);
  const Camera camera = view.camera();
  const double depth = camera.project(camera.see({0.5, 0.5, 0.5})).depth * deepest_depth;
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      walled.opaque.row(y)[x] = make_sample(static_cast<std::uint32_t>(depth), 1, {0, 255, 0});
    }
  }
  CHECK(shown(walled) == back);
  const ExtinctionAt only_far[]{{0, 0}, {0.1, 0}, {0.2, 400}, {0.3, 0}};
  const TransferFunction far(only_far, ColourMap("coolwarm"), {0, 1});
  Drawing hidden = cast(view, {box_of({{0, 0, 0}, {20, 20, 20}}, 20, far, height)}, far);
  hidden.opaque = walled.opaque;
  CHECK(shown(hidden) == std::array<int, 3>{0, 255, 0});
}

TEST_CASE("a surface within a coarse cell hides what is behind it") {
  const ExtinctionAt points[]{{0, 0}, {1, 2}};
  const TransferFunction function(points, ColourMap("grey"), {0, 1});
  View view;
  view.settings.view = Vec3{0, 1, 0};
  view.settings.parallel = true;
  VolumeBox cell{{}, {function.position(1)}, true};
  for (auto& faces : cell.faces) faces = {0, 1};
  Drawing drawing = cast(view, {cell}, function);
  const Camera camera = view.camera();
  const double depth = camera.project(camera.see({0.5, 0.3, 0.5})).depth * deepest_depth;
  drawing.opaque.row(size / 2)[size / 2] = make_sample(static_cast<std::uint32_t>(depth), 1, {0, 0, 0});
  const auto seen = pixels(view, drawing, black);
  const std::size_t middle = 4 * (size / 2 * size + size / 2);
  CHECK(std::fabs(light(seen[middle]) - (1 - std::exp(-0.6))) < 0.01);
  CHECK(std::fabs(light(seen[middle + 4]) - (1 - std::exp(-2.0))) < 0.01);
}

TEST_CASE("what is clear is left out, and what is not finite is not seen") {
  const ExtinctionAt points[]{{1, 0}, {2, 0}, {3, 5}};
  const TransferFunction function(points, ColourMap("viridis"), {1, 3});
  CHECK(function.is_clear(function.position(-1e300), function.position(1.9)));
  CHECK_FALSE(function.is_clear(function.position(1), function.position(2.1)));
  CHECK(function.is_clear(function.position(2), function.position(2)));  // where it just begins
  CHECK(function.at(function.position(2)).extinction == 0);
  CHECK(function.at(function.position(2.5)).extinction == doctest::Approx(2.5));
  CHECK_FALSE(function.is_clear(function.position(1e300), function.position(1e300)));
  const auto none = [](const Vec3&) { return std::nan(""); };
  const View view;
  for (double (*value)(const Vec3&) : {+waves, +none}) {  // waves stay below 1
    Drawing drawing = cast(view, {box_of({{0, 0, 0}, {8, 8, 8}}, 8, function, value)}, function);
    for (int y = 0; y < size; ++y) CHECK(drawing.slabs.row(y).empty());
  }
  CHECK(pixels(view, cast(view, {}, function), {{9, 8, 7}, {9, 8, 7}})[0] == 9);
}

TEST_CASE("a narrow peak between two values is not missed") {
  const ExtinctionAt points[]{{0, 0}, {0.499, 0}, {0.5, 1000}, {0.501, 0}, {1, 0}};
  const TransferFunction function(points, ColourMap("grey"), {0, 1});
  const float low = function.position(0), high = function.position(1);
  const Light mean = function.mean(low, function.integral(low), high, function.integral(high));
  CHECK(mean.extinction == doctest::Approx(1).epsilon(0.05));
  const Light back = function.mean(high, function.integral(high), low, function.integral(low));
  CHECK(back.extinction == doctest::Approx(mean.extinction));
}
