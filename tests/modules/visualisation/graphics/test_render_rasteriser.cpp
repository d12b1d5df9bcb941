// The rasteriser, compared with a ray cast through every sample. Its result must not depend on order or division.
#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "modules/visualisation/graphics/sample_rays.hpp"
#include "visualisation/graphics/primitives.hpp"
#include "visualisation/graphics/rasteriser.hpp"

using namespace sidestream::rendering;
using sidestream::rendering::testing::Ray;
using sidestream::rendering::testing::ray_through;

namespace {

constexpr int size = 160;
const Domain domain{{-1, -1, -1}, {1, 1, 1}};

struct Soup {
  std::vector<Vec3> points, normals;
  std::vector<double> values;
  std::vector<std::array<std::int64_t, 3>> corners;
  [[nodiscard]] Triangles view() const { return {points, corners, normals, values}; }
};

/// Triangles of size `extent`, anywhere in the domain.
Soup random_soup(int count, double extent, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> place(-1, 1);
  const auto near = [&](double c) { return std::clamp(c + extent * place(random), -1.0, 1.0); };
  Soup soup;
  for (std::int64_t t = 0; t < count; ++t) {
    const Vec3 middle{place(random), place(random), place(random)};
    for (int c = 0; c < 3; ++c) {
      soup.points.push_back({near(middle[0]), near(middle[1]), near(middle[2])});
      soup.normals.push_back({place(random), place(random), place(random)});
      soup.values.push_back(place(random));
    }
    soup.corners.push_back({3 * t, 3 * t + 1, 3 * t + 2});
  }
  return soup;
}

Framebuffer draw(const Soup& soup, const Camera& camera, const Material& material, std::int64_t first = 0,
                 std::int64_t rows = size) {
  Framebuffer target(size, first, rows);
  Rasteriser(camera, target).draw(soup.view(), material);
  return target;
}

std::vector<Sample> rows_of(const Framebuffer& f, std::int64_t first, std::int64_t end) {
  return {f.row(first), f.row(first) + (end - first) * f.width()};
}

std::vector<Sample> all(const Framebuffer& f) { return rows_of(f, f.first_row(), f.end_row()); }

struct Hit {
  int triangle = -1;
  double ahead = std::numeric_limits<double>::infinity(), value = 0;
};

/// The first hit among all triangles, by the algorithm of Moeller and Trumbore.
Hit cast(const Soup& soup, const Ray& ray, double nearest) {
  Hit hit;
  for (std::size_t n = 0; n < soup.corners.size(); ++n) {
    const auto& c = soup.corners[n];
    const Vec3 &a = soup.points[c[0]], e1 = subtract(soup.points[c[1]], a), e2 = subtract(soup.points[c[2]], a);
    const Vec3 p = cross(ray.along, e2), s = subtract(ray.from, a), q = cross(s, e1);
    const double inverse = 1 / dot(e1, p);
    const double u = dot(s, p) * inverse, v = dot(ray.along, q) * inverse, t = dot(e2, q) * inverse;
    if (!(u >= 0 && v >= 0 && u + v <= 1) || t < nearest || t >= hit.ahead) continue;
    hit = {
        static_cast<int>(n), t,
        soup.values[c[0]] + u * (soup.values[c[1]] - soup.values[c[0]]) + v * (soup.values[c[2]] - soup.values[c[0]])};
  }
  return hit;
}

/// Bounds of what a sample may show. Rays around it cover the effect of snapping corners to 1/256 of a sample.
struct Bounds {
  bool certain = true;  ///< all rays hit the same triangle, or none
  Hit hit;
  double depth[2]{2, -1}, value[2]{1e9, -1e9};
};

Bounds cast_around(const Soup& soup, const Camera& camera, int x, int y) {
  const double nearest = camera.parallel() ? -1e30 : camera.near();
  Bounds bounds;
  bounds.hit = cast(soup, ray_through(camera, x + 0.5, y + 0.5), nearest);
  for (const double dx : {-0.02, 0.02}) {
    for (const double dy : {-0.02, 0.02}) {
      const Hit hit = cast(soup, ray_through(camera, x + 0.5 + dx, y + 0.5 + dy), nearest);
      if (hit.triangle != bounds.hit.triangle) bounds.certain = false;
      if (hit.triangle < 0 || !bounds.certain) continue;
      const double depth = camera.project({0, 0, hit.ahead}).depth;
      bounds.depth[0] = std::min(bounds.depth[0], depth), bounds.depth[1] = std::max(bounds.depth[1], depth);
      bounds.value[0] = std::min(bounds.value[0], hit.value), bounds.value[1] = std::max(bounds.value[1], hit.value);
    }
  }
  return bounds;
}

struct Comparison {
  int compared = 0, covered = 0, wrong_cover = 0, wrong_depth = 0, wrong_colour = 0;
};

Comparison compare(const Soup& soup, const Camera& camera, const Framebuffer& drawn, const ColourMap& map,
                   const ColourRange& range) {
  Comparison result;
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const Bounds bounds = cast_around(soup, camera, x, y);
      if (!bounds.certain) continue;
      ++result.compared;
      const Sample sample = drawn.row(y)[x];
      const bool covered = bounds.hit.triangle >= 0;
      result.covered += covered;
      if (covered != (sample != empty_sample)) {
        ++result.wrong_cover;
      } else if (covered) {
        const double depth = depth_of(sample) / 4294967294.0;
        if (depth < bounds.depth[0] - 1e-8 || depth > bounds.depth[1] + 1e-8) ++result.wrong_depth;
        // In the grey map, red tells the value.
        const Colour is = colour_of(sample), low = map.at(range.fraction(bounds.value[0] - 1e-6)),
                     high = map.at(range.fraction(bounds.value[1] + 1e-6));
        if (is.red < low.red || is.red > high.red) ++result.wrong_colour;
      }
    }
  }
  return result;
}

void check_against_rays(const CameraSettings& settings, double extent, unsigned seed) {
  const Camera camera(settings, domain, {0, 0, size, size});
  Soup soup = random_soup(60, extent, seed);
  soup.normals.clear();  // without light the colour tells the value
  const ColourMap map("grey");
  Material material;
  material.map = &map;
  material.range = {-1, 1};
  const Comparison result = compare(soup, camera, draw(soup, camera, material), map, material.range);
  CHECK(result.compared > size * size * 3 / 4);
  CHECK(result.covered > size * size / 40);
  CHECK(result.wrong_cover == 0);
  CHECK(result.wrong_depth == 0);
  CHECK(result.wrong_colour == 0);
}

}  // namespace

TEST_CASE("every sample shows what a ray through it hits first") {
  SUBCASE("perspective") { check_against_rays({}, 0.25, 1); }
  SUBCASE("wide angle") {
    CameraSettings settings;
    settings.angle = 100;
    check_against_rays(settings, 0.25, 2);
  }
  SUBCASE("parallel") {
    CameraSettings settings;
    settings.parallel = true;
    check_against_rays(settings, 0.25, 3);
  }
  SUBCASE("camera inside: triangles are cut at the near distance") {
    CameraSettings settings;
    settings.position = Vec3{0.1, -0.2, 0.05};
    settings.focus = Vec3{1, 0.4, 0.2};
    settings.angle = 90;
    check_against_rays(settings, 0.9, 4);
  }
  SUBCASE("zoomed so far that corners leave the fixed-point range") {
    CameraSettings settings;
    settings.zoom = 20000;
    const Camera camera(settings, domain, {0, 0, size, size});
    Soup soup;
    // A large triangle across the view through the middle of the domain.
    for (const Vec3& offset : {scale(camera.up(), 0.9), scale(add(camera.right(), camera.up()), -0.6),
                               scale(subtract(camera.right(), camera.up()), 0.6)}) {
      soup.points.push_back(offset);
    }
    soup.corners.push_back({0, 1, 2});
    const Framebuffer drawn = draw(soup, camera, {});
    int covered = 0;
    for (const Sample s : all(drawn)) covered += s != empty_sample;
    CHECK(covered == size * size);
  }
}

TEST_CASE("a sample on a shared edge belongs to one triangle") {
  // A fan of triangles with corners on sample centres, whose edges pass through many of these.
  CameraSettings settings;
  settings.parallel = true;
  settings.view = Vec3{0, 0, -1};
  settings.up = Vec3{0, 1, 0};
  const Camera camera(settings, {{-1, -1, 0}, {1, 1, 0}}, {0, 0, size, size});
  const double unit = camera.sample_size(1);
  std::vector<int> times(size * size, 0);
  const std::array<std::array<int, 2>, 8> around{
      {{40, 0}, {40, 40}, {0, 40}, {-40, 40}, {-40, 0}, {-40, -40}, {0, -40}, {40, -40}}};
  for (std::size_t n = 0; n < 8; ++n) {
    Soup soup;
    const auto put = [&](int x, int y) { soup.points.push_back({(x + 0.5) * unit, (y + 0.5) * unit, 0}); };
    put(0, 0);
    put(around[n][0], around[n][1]);
    put(around[(n + 1) % 8][0], around[(n + 1) % 8][1]);
    soup.corners.push_back({0, 1, 2});
    const auto samples = all(draw(soup, camera, {}));
    for (std::size_t s = 0; s < samples.size(); ++s) times[s] += samples[s] != empty_sample;
  }
  int once = 0, more = 0;
  for (const int count : times) {
    once += count == 1;
    more += count > 1;
  }
  CHECK(more == 0);
  CHECK(once == 80 * 80);  // only one of two opposite sides counts
}

TEST_CASE("samples depend on nothing but the triangles") {
  const Camera camera({}, domain, {0, 0, size, size});
  const Soup soup = random_soup(400, 0.4, 7);
  const ColourMap map("viridis");
  Material material;
  material.map = &map;
  material.range = {-1, 1};
  const std::vector<Sample> reference = all(draw(soup, camera, material));

  SUBCASE("nor on their order and the order of their corners") {
    Soup mixed = soup;
    std::mt19937 random(3);
    std::shuffle(mixed.corners.begin(), mixed.corners.end(), random);
    for (auto& c : mixed.corners) std::shuffle(c.begin(), c.end(), random);
    CHECK(all(draw(mixed, camera, material)) == reference);
  }
  SUBCASE("nor on which rows are drawn") {
    for (const std::int64_t rows : {1, 7, 53}) {
      std::vector<Sample> together;
      for (std::int64_t first = 0; first < size; first += rows) {
        const auto part = all(draw(soup, camera, material, first, std::min(rows, size - first)));
        together.insert(together.end(), part.begin(), part.end());
      }
      CHECK(together == reference);
    }
  }
  SUBCASE("nor on how they are divided") {
    std::vector<Sample> merged(reference.size(), empty_sample);
    for (std::size_t part = 0; part < 3; ++part) {
      Soup some = soup;
      some.corners.clear();
      for (std::size_t t = part; t < soup.corners.size(); t += 3) some.corners.push_back(soup.corners[t]);
      const auto samples = all(draw(some, camera, material));
      for (std::size_t s = 0; s < merged.size(); ++s) merged[s] = std::min(merged[s], samples[s]);
    }
    CHECK(merged == reference);
  }
}

TEST_CASE("points that are not finite and triangles without area leave no trace") {
  const Camera camera({}, domain, {0, 0, size, size});
  Soup soup = random_soup(1, 0.3, 5);
  const double bad = std::numeric_limits<double>::quiet_NaN();
  const double far = std::numeric_limits<double>::infinity();
  soup.points.insert(soup.points.end(), {{bad, 0, 0}, {0, far, 0}, {0, 0, 0}});
  soup.normals.resize(6);
  soup.values.resize(6);
  soup.corners = {{0, 1, 3}, {0, 4, 2}, {5, 5, 5}, {0, 1, 1}};
  for (const Sample s : all(draw(soup, camera, {}))) CHECK(s == empty_sample);
}

TEST_CASE("the camera that places itself sees the whole domain, centred") {
  const std::vector<Domain> domains{{{-1, -1, -1}, {1, 1, 1}},
                                    {{0, 0, 0}, {10, 1, 2}},
                                    {{5, 5, 5}, {5.1, 9, 5.1}},
                                    {{0, 0, 0}, {3, 2, 0}},
                                    {{1e6, 1e6, 1e6}, {1e6 + 1e-3, 1e6 + 1e-3, 1e6 + 1e-3}}};
  for (const Domain& d : domains) {
    for (const bool parallel : {false, true}) {
      CameraSettings settings;
      settings.parallel = parallel;
      const Camera camera(settings, d, {10, 20, 300, 200});
      double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
      for (int c = 0; c < 8; ++c) {
        const Projection p = camera.project(camera.see(d.corner(c)));
        CHECK(p.depth >= 0);
        CHECK(p.depth <= 1);
        left = std::min(left, p.x), right = std::max(right, p.x);
        top = std::min(top, p.y), bottom = std::max(bottom, p.y);
      }
      CHECK(left >= 10);
      CHECK(right <= 310);
      CHECK(top >= 20);
      CHECK(bottom <= 220);
      CHECK(0.5 * (left + right) == doctest::Approx(160).epsilon(0.02));
      CHECK(0.5 * (top + bottom) == doctest::Approx(120).epsilon(0.02));
      // It fills the viewport in one direction.
      CHECK(std::max((right - left) / 300, (bottom - top) / 200) > 0.85);
    }
  }
}

TEST_CASE("the outline is hidden behind what is in front of it and hides what is behind") {
  CameraSettings settings;
  settings.view = Vec3{0, 1, 0};
  const Camera camera(settings, domain, {0, 0, size, size});
  const auto edges_seen = [&](double y) {
    Framebuffer target(size, 0, size);
    Rasteriser rasteriser(camera, target);
    Soup wall;
    wall.points = {{-1, y, -1}, {1, y, -1}, {1, y, 1}, {-1, y, 1}};
    wall.corners = {{0, 1, 2}, {0, 2, 3}};
    Material material;
    material.layer = 1;
    rasteriser.draw(wall.view(), material);
    draw_outline(domain, camera, 2, {255, 0, 0}, rasteriser);
    int red = 0;
    for (const Sample s : all(target)) red += s != empty_sample && colour_of(s) == Colour{255, 0, 0};
    return red;
  };
  // A wall at the back hides none of the twelve edges; one at the front hides all but its own four.
  CHECK(edges_seen(1) > edges_seen(-1) + size);
  CHECK(edges_seen(-1) > 4 * size);
}
