// Balls and discs, by themselves and among triangles, compared with a ray cast through every sample.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>

#include "modules/visualisation/graphics/sample_rays.hpp"
#include "visualisation/graphics/primitives.hpp"

using namespace sidestream::rendering;
using sidestream::rendering::testing::Ray;
using sidestream::rendering::testing::ray_through;

namespace {

constexpr int size = 120;
const Domain domain{{-1, -1, -1}, {1, 1, 1}};

struct Scene {
  std::vector<Vec3> places;
  std::vector<double> radii;
  bool disc = false;
};

Scene random_scene(int count, double radius, unsigned seed, bool disc) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> place(-1, 1), share(0.1, 1);
  Scene scene;
  scene.disc = disc;
  for (int n = 0; n < count; ++n) {
    scene.places.push_back({place(random), place(random), place(random)});
    scene.radii.push_back(radius * share(random));
  }
  return scene;
}

/// The layer of a ball tells its number.
std::uint8_t layer_of(std::size_t ball) { return static_cast<std::uint8_t>(ball + 1); }
std::uint8_t layer_in(Sample sample) { return static_cast<std::uint8_t>(sample >> 24); }

void draw(const Scene& scene, const Camera& camera, Framebuffer& target, bool backwards = false) {
  for (std::size_t n = 0; n < scene.places.size(); ++n) {
    const std::size_t ball = backwards ? scene.places.size() - 1 - n : n;
    Material material;
    material.layer = layer_of(ball);
    material.colour = {200, 120, 40};
    draw_balls({{&scene.places[ball], 1}, {}, scene.radii[ball], 0, scene.disc}, material, camera, target);
  }
}

struct Hit {
  int ball = -1;
  double ahead = std::numeric_limits<double>::infinity();
  Vec3 normal{};
};

/// Solves the ball's quadratic equation in coordinates of the domain, or finds where the ray meets the disc's plane.
Hit cast(const Scene& scene, const Camera& camera, const Ray& ray) {
  const double nearest = camera.parallel() ? -1e30 : camera.near();
  Hit hit;
  for (std::size_t n = 0; n < scene.places.size(); ++n) {
    const Vec3 s = subtract(ray.from, scene.places[n]);
    const double r = scene.radii[n];
    if (scene.disc) {
      const double t = -dot(s, camera.forward());  // the ray goes forward by one for each t
      const Vec3 beside = add(s, scale(ray.along, t));
      if (length(beside) < r && t >= nearest && t < hit.ahead) hit = {static_cast<int>(n), t, {}};
      continue;
    }
    const double a = dot(ray.along, ray.along), b = 2 * dot(ray.along, s), c = dot(s, s) - r * r;
    const double squared = b * b - 4 * a * c;
    if (squared < 0) continue;
    for (const double sign : {-1.0, 1.0}) {
      const double t = (-b + sign * std::sqrt(squared)) / (2 * a);
      if (t < nearest || t >= hit.ahead) continue;
      hit = {static_cast<int>(n), t, add(s, scale(ray.along, t))};
    }
  }
  return hit;
}

/// The hit, or nothing if rays around the sample's centre hit different things, so that rounding decides.
std::optional<Hit> certain_hit(const Scene& scene, const Camera& camera, int x, int y) {
  const Hit hit = cast(scene, camera, ray_through(camera, x + 0.5, y + 0.5));
  for (const double dx : {-1e-4, 1e-4}) {
    for (const double dy : {-1e-4, 1e-4}) {
      if (cast(scene, camera, ray_through(camera, x + 0.5 + dx, y + 0.5 + dy)).ball != hit.ball) return std::nullopt;
    }
  }
  return hit;
}

int apart(Colour a, Colour b) {
  return std::max({std::abs(a.red - b.red), std::abs(a.green - b.green), std::abs(a.blue - b.blue)});
}

void check_against_rays(const CameraSettings& settings, const Scene& scene) {
  const Camera camera(settings, domain, {0, 0, size, size}, *std::ranges::max_element(scene.radii));
  Framebuffer target(size, 0, size);
  draw(scene, camera, target);
  const Lights lights;
  int compared = 0, covered = 0, wrong_ball = 0, wrong_depth = 0, wrong_colour = 0;
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const auto hit = certain_hit(scene, camera, x, y);
      if (!hit) continue;
      ++compared;
      const Sample sample = target.row(y)[x];
      covered += hit->ball >= 0;
      if ((sample == empty_sample ? -1 : layer_in(sample) - 1) != hit->ball) {
        ++wrong_ball;
      } else if (hit->ball >= 0) {
        const double depth = camera.project({0, 0, hit->ahead}).depth;
        wrong_depth += std::abs(depth_of(sample) / 4294967294.0 - depth) > 1e-9;
        const Colour base{200, 120, 40};
        const Colour lit =
            scene.disc ? base : lights.shade(base, camera.turn(hit->normal), camera.towards_eye(x + 0.5, y + 0.5));
        wrong_colour += apart(colour_of(sample), lit) > 1;
      }
    }
  }
  CHECK(compared > size * size * 9 / 10);
  CHECK(covered > size * size / 10);
  CHECK(wrong_ball == 0);
  CHECK(wrong_depth == 0);
  CHECK(wrong_colour == 0);
}

std::vector<Sample> rows_of(const Framebuffer& f, std::int64_t first, std::int64_t end) {
  return {f.row(first), f.row(first) + (end - first) * f.width()};
}

int samples_in(const Framebuffer& f) {
  const std::vector<Sample> all = rows_of(f, f.first_row(), f.end_row());
  return static_cast<int>(std::ranges::count_if(all, [](Sample s) { return s != empty_sample; }));
}

}  // namespace

TEST_CASE("every sample shows what a ray through it hits first") {
  // Balls are larger than a few samples. Another test case has smaller ones, which cover more than their disc.
  const auto both = [](const CameraSettings& settings, double radius, unsigned seed) {
    for (const bool disc : {false, true}) {
      CAPTURE(disc);
      check_against_rays(settings, random_scene(70, radius, seed, disc));
    }
  };
  CameraSettings settings;
  SUBCASE("perspective") { both(settings, 0.5, 1); }
  SUBCASE("wide angle") {
    settings.angle = 120;
    both(settings, 0.5, 2);
  }
  SUBCASE("parallel") {
    settings.parallel = true;
    both(settings, 0.5, 3);
  }
  SUBCASE("camera among them: those around it are cut open, those behind it are not seen") {
    settings.position = Vec3{0.1, -0.2, 0.05};
    settings.focus = Vec3{1, 0.4, 0.2};
    settings.angle = 100;
    both(settings, 0.6, 4);
  }
}

TEST_CASE("the same samples in any order and range of rows") {
  const Scene scene = random_scene(100, 0.3, 5, false);
  const Camera camera({}, domain, {0, 0, size, size}, 0.3);
  Framebuffer whole(size, 0, size), backwards(size, 0, size);
  draw(scene, camera, whole);
  draw(scene, camera, backwards, true);
  CHECK(rows_of(whole, 0, size) == rows_of(backwards, 0, size));
  for (const auto& [first, end] : {std::pair{0, 1}, std::pair{1, 40}, std::pair{40, 41}, std::pair{41, size}}) {
    Framebuffer part(size, first, end - first);
    draw(scene, camera, part);
    CHECK(rows_of(part, first, end) == rows_of(whole, first, end));
  }
  Framebuffer nothing(size, 50, 0);
  draw(scene, camera, nothing);
}

TEST_CASE("balls and triangles hide each other") {
  CameraSettings settings;
  settings.view = Vec3{0, 0, -1};
  settings.parallel = true;
  const Camera camera(settings, domain, {0, 0, size, size}, 1);
  // A sloped plane through the centre of the ball. Its left half is in front of the ball.
  const std::vector<Vec3> points{{-1, -1, 2}, {1, -1, -2}, {1, 1, -2}, {-1, 1, 2}};
  const std::vector<std::array<std::int64_t, 3>> corners{{0, 1, 2}, {0, 2, 3}};
  const Vec3 middle{0, 0, 0};
  for (const bool first : {false, true}) {
    Framebuffer target(size, 0, size);
    Material plane, ball;
    plane.layer = 1;
    ball.layer = 2;
    if (first) Rasteriser(camera, target).draw({points, corners, {}, {}}, plane);
    draw_balls({{&middle, 1}, {}, 0.8, 0, false}, ball, camera, target);
    if (!first) Rasteriser(camera, target).draw({points, corners, {}, {}}, plane);
    // The plane is at z = -2 x, the ball's front at sqrt(0.64 - x^2 - y^2).
    for (int x = 0; x < size; ++x) {
      const Ray ray = ray_through(camera, x + 0.5, size / 2.0);
      const double at = ray.from[0], front = 0.64 - at * at;
      if (std::abs(at) > 0.95 || std::abs(front) < 0.02) continue;
      const bool sees_ball = front > 0 && std::sqrt(front) > -2 * at;
      if (front > 0 && std::abs(std::sqrt(front) + 2 * at) < 0.05) continue;
      CHECK(layer_in(target.row(size / 2)[x]) == (sees_ball ? 2 : 1));
    }
  }
}

TEST_CASE("none is too small to be seen, and a size in samples is one") {
  for (const bool parallel : {false, true}) {
    for (const bool disc : {false, true}) {
      CameraSettings settings;
      settings.parallel = parallel;
      const Camera camera(settings, domain, {0, 0, size, size});
      const auto drawn = [&](double radius, double samples, const Vec3& place) {
        Framebuffer target(size, 0, size);
        draw_balls({{&place, 1}, {}, radius, samples, disc}, {}, camera, target);
        return target;
      };
      for (const Vec3& place : {Vec3{0.3, 0.2, 0.1}, Vec3{-0.9, 0.9, -0.9}, Vec3{0.9, -0.9, 0.9}}) {
        const Framebuffer dot = drawn(1e-9, 0, place), few = drawn(0, 0.4, place), many = drawn(0, 20, place);
        const Projection p = camera.project(camera.see(place));
        CHECK(samples_in(dot) == 1);
        CHECK(dot.row(static_cast<std::int64_t>(p.y))[static_cast<std::int64_t>(p.x)] != empty_sample);
        CHECK(samples_in(few) == 1);
        // Perspective stretches balls slightly that are not in the middle of the picture.
        CHECK(samples_in(many) == doctest::Approx(3.14159 * 400).epsilon(disc ? 0.02 : 0.15));
      }
    }
  }
}

TEST_CASE("places that no picture has") {
  const double huge = 1e300, infinity = std::numeric_limits<double>::infinity();
  for (const bool parallel : {false, true}) {
    CameraSettings settings;
    settings.parallel = parallel;
    const Camera camera(settings, domain, {0, 0, size, size});
    Framebuffer target(size, 0, size);
    for (const double far : {1e9, 1e100, huge, infinity}) {
      for (const Vec3& place : {Vec3{far, 0, 0}, Vec3{-far, far, 0}, Vec3{0, 0, far}, Vec3{far, -far, -far}}) {
        draw_balls({{&place, 1}, {}, 0.1, 0, false}, {}, camera, target);
      }
    }
    CHECK(samples_in(target) == 0);
    const Vec3 middle{0, 0, 0};
    draw_balls({{&middle, 1}, {}, 1e9, 0, false}, {}, camera, target);  // the camera is inside the ball
    CHECK(samples_in(target) == size * size);
  }
}
