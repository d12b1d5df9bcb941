// Pictures of particles have the same bytes however they are divided. Odd input still gives a picture, and a wrong
// configuration gets a sentence.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "support/list_blocks.hpp"
#include "support/ranks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const std::string name = "frame-{index:05}.png";
const double none = std::nan("");

struct Particle {
  std::array<double, 3> place;
  double value;
};

std::vector<Particle> cloud(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> place(-1, 2), value(-5, 5);
  std::vector<Particle> particles;
  for (std::size_t n = 0; n < count; ++n)
    particles.push_back({{place(random), place(random), place(random)}, value(random)});
  return particles;
}

/// Particles dealt out to blocks, with ghosts of another colour among them. Ghosts are flagged if there are flags.
/// Otherwise they are in a block with a higher number than the particle's own.
struct Divided {
  ListDomain domain;
  std::vector<ListBlock> blocks;

  Divided(const std::vector<Particle>& particles, std::size_t parts, unsigned deal, int dimensions = 3,
          Type type = Type::float64)
      : domain(MeshKind::points, dimensions) {
    domain.add("pos", type, dimensions, Centering::node, Role::coordinates);
    domain.add("flags", Type::uint8, 1, Centering::node, Role::point_ghosts);
    domain.add("w", Type::float64, 2, Centering::node);
    std::mt19937 dealer(deal);
    std::vector<std::vector<double>> pos(parts), w(parts);
    std::vector<std::vector<std::uint8_t>> flags(parts);
    for (std::size_t n = 0; n < particles.size(); ++n) {
      const std::size_t part = dealer() % parts;
      for (const bool ghost : {true, false}) {
        if (ghost && n % 5 != 0) continue;
        const std::size_t in = ghost ? (part + 1) % parts : part;
        pos[in].insert(pos[in].end(), particles[n].place.begin(), particles[n].place.begin() + dimensions);
        w[in].insert(w[in].end(), {0.0, ghost ? 77.0 : particles[n].value});
        flags[in].push_back(ghost ? 1 : 0);
      }
    }
    for (std::size_t part = 0; part < parts; ++part) {
      const auto points = static_cast<Index>(flags[part].size());
      blocks.push_back({points, points, 0, {}});
      ListValues places = pos[part];
      if (type == Type::float32) places = std::vector<float>(pos[part].begin(), pos[part].end());
      blocks.back().values = {{"pos", places}, {"flags", flags[part]}, {"w", w[part]}};
    }
  }

  [[nodiscard]] Image picture(const std::string& yaml) const {
    MpiCommunicator self(MPI_COMM_SELF);
    return run_lists(render_kind(), yaml, domain, blocks, self).images.at(name);
  }
};

bool same(const Image& a, const Image& b) { return a.width == b.width && a.height == b.height && a.rgba == b.rgba; }

std::array<int, 3> pixel(const Image& image, int x, int y) {
  const std::uint8_t* p = &image.rgba[(static_cast<std::size_t>(y) * image.width + x) * 4];
  return {p[0], p[1], p[2]};
}

const std::string plain = "outline: false, colour_bar: false, caption: none, background: white, size: [64, 64]";

}  // namespace

TEST_CASE("the same bytes for every division and number of servers") {
  MpiCommunicator world(test_ranks());
  const std::vector<Particle> particles = cloud(400, 3);
  const std::string layers[] = {
      "{mesh: m, radius: 0.2, colour_by: w, colour_component: 1}", "{mesh: m}",
      "[{mesh: m, pixels: 5.5, shape: disc, colour_by: w, colour_component: 1, colours: magma}, {mesh: m, radius: 0.1}]"};
  for (const std::string& layer : layers) {
    for (const char* domain : {"", "domain: [0, 0, 0, 1, 1, 1], ", "samples: 3, camera: {projection: parallel}, "}) {
      for (const int dimensions : {2, 3}) {
        const std::string yaml = "{particles: " + layer + ", " + domain + "size: [120, 90]}";
        CAPTURE(yaml);
        const Image alone = Divided(particles, 1, 0, dimensions).picture(yaml);
        for (const std::size_t parts : {2, 3, 8, 600}) {  // 600: some blocks have no particles
          const Divided divided(particles, parts, static_cast<unsigned>(parts), dimensions);
          for (const std::size_t partials : {1, 3}) {
            const auto results = run_lists(render_kind(), yaml, divided.domain, divided.blocks, world, partials);
            CHECK(results.images.size() == (world.rank() == 0 ? 1 : 0));
            if (world.rank() == 0) CHECK(same(results.images.at(name), alone));
          }
        }
      }
    }
  }
}

TEST_CASE("particles without a place are as if they were not there, those without a value are grey") {
  const std::string yaml = "{particles: {mesh: m, radius: 0.3, colour_by: w, colour_component: 1}, size: [100, 100]}";
  std::vector<Particle> particles = cloud(30, 4);
  const Image expected = Divided(particles, 2, 1).picture(yaml);
  const double infinity = std::numeric_limits<double>::infinity();
  // Neither their coordinates along other axes nor their values count for the domain or the colours.
  particles.push_back({{none, 50, 50}, 1e6});
  particles.push_back({{50, infinity, 50}, 1e6});
  particles.push_back({{50, 50, -infinity}, 1e6});
  CHECK(same(Divided(particles, 2, 1).picture(yaml), expected));
  const std::string disc =
      "{particles: {mesh: m, pixels: 20, shape: disc, colour_by: w, colour_component: 1}, " + plain + "}";
  CHECK(pixel(Divided({{{0, 0, 0}, none}}, 1, 0).picture(disc), 32, 32) == std::array<int, 3>{150, 150, 150});
}

TEST_CASE("one particle, all at one place, none") {
  const std::string red = "{particles: {mesh: m, radius: 0.5, shape: disc, colour: '#ff0000'}, " + plain + "}";
  const std::array<int, 3> colour{255, 0, 0}, white{255, 255, 255};
  for (const int dimensions : {1, 2, 3}) {
    CAPTURE(dimensions);
    for (const std::size_t count : {1, 2, 100}) {
      const std::vector<Particle> particles(count, {{3, -7, 1e6}, 0});
      const Image image = Divided(particles, 1, 0, dimensions).picture(red);
      CHECK(pixel(image, 32, 32) == colour);
      CHECK(pixel(image, 1, 1) == white);
      CHECK(same(image, Divided(particles, 3, 2, dimensions).picture(red)));
    }
    const Image dot = Divided({{{3, -7, 1e6}, 0}}, 1, 0, dimensions)
                          .picture("{particles: {mesh: m, pixels: 4, shape: disc, colour: '#ff0000'}, " + plain + "}");
    // The domain is centred in the picture; with perspective the particle is slightly above.
    CHECK(pixel(dot, 32, 27) == colour);
    CHECK(pixel(dot, 32, 36) == white);
    const Image empty = Divided({}, 2, 0, dimensions).picture(red);
    for (int y = 0; y < 64; ++y) CHECK(pixel(empty, y, y) == white);
  }
}

TEST_CASE("where two are at the same depth, the picture does not depend on their order") {
  std::vector<Particle> particles{{{0, 0, 0}, 1}, {{0, 0, 0}, 2}, {{0, 0, 0}, 3}, {{1, 1, 1}, 0}};
  const std::string yaml = "{particles: {mesh: m, pixels: 9, colour_by: w, colour_component: 1}, size: [60, 60]}";
  const Image expected = Divided(particles, 1, 0).picture(yaml);
  for (int turn = 0; turn < 6; ++turn) {
    std::next_permutation(particles.begin(), particles.begin() + 3,
                          [](const Particle& a, const Particle& b) { return a.value < b.value; });
    CHECK(same(Divided(particles, 1 + turn % 3, 1).picture(yaml), expected));
  }
}

TEST_CASE("numbers decide which of several counts") {
  ListDomain domain(MeshKind::points, 3);
  domain.add("pos", Type::float64, 3, Centering::node, Role::coordinates);
  domain.add("flags", Type::uint8, 1, Centering::node, Role::point_ghosts);
  domain.add("w", Type::float64, 1, Centering::node);
  std::vector<ListBlock> blocks{{2, 2, 0, {}}};
  const std::string yaml = "{particles: {mesh: m, radius: 0.5, colour_by: w}, size: [60, 60]}";
  const auto picture = [&](std::vector<double> pos, std::vector<std::uint8_t> flags, std::vector<double> w) {
    MpiCommunicator self(MPI_COMM_SELF);
    const auto points = static_cast<Index>(flags.size());
    blocks[0].cells = blocks[0].points = points;
    blocks[0].values = {{"pos", std::move(pos)}, {"flags", std::move(flags)}, {"w", std::move(w)}};
    return run_lists(render_kind(), yaml, domain, blocks, self).images.at(name);
  };
  const Image expected = picture({0, 0, 0, 1, 1, 1}, {0, 0}, {1, 2});
  CHECK(same(picture({0, 0, 0, 9, 9, 9, 1, 1, 1}, {0, 1, 0}, {1, 50, 2}), expected));
  CHECK(!same(picture({0, 0, 0, 9, 9, 9, 1, 1, 1}, {0, 0, 0}, {1, 50, 2}), expected));
}

TEST_CASE("single precision, a range of 1e-13, places far from the origin") {
  std::vector<Particle> particles = cloud(50, 6);
  for (Particle& p : particles) {
    for (double& x : p.place) x = static_cast<float>(x);
    p.value = 1 + 1e-14 * p.value;
  }
  const std::string yaml = "{particles: {mesh: m, radius: 0.2, colour_by: w, colour_component: 1}, size: [100, 100]}";
  CHECK(same(Divided(particles, 2, 1, 3, Type::float32).picture(yaml), Divided(particles, 2, 1).picture(yaml)));
  for (Particle& p : particles) {
    for (double& x : p.place) x += 1e9;
  }
  CHECK(Divided(particles, 2, 1).picture(yaml).rgba.size() == 100 * 100 * 4);
}

TEST_CASE("errors get a sentence") {
  const Divided some(cloud(3, 1), 1, 0);
  const auto refused = [&](const std::string& layer, const char* text) {
    CHECK_THROWS_WITH_AS(static_cast<void>(some.picture("{particles: {" + layer + "}}")), doctest::Contains(text),
                         Error);
  };
  refused("mesh: m, radius: 1, pixels: 2", "both 'radius' and 'pixels'");
  refused("mesh: m, radius: 0", "radius");
  refused("mesh: m, radius: -1", "radius");
  refused("mesh: m, radius: .nan", "radius");
  refused("mesh: m, colour_by: w, colour: red", "both 'colour' and 'colour_by'");
  refused("mesh: m, colour_by: w, colour_component: 2", "component 2 of 'w'");
  refused("mesh: m, colour: blurple", "expected a colour");
  refused("mesh: m, raduis: 1", "radius");
  refused("radius: 1", "mesh");
}
