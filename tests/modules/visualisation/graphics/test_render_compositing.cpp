// Compositing over any number of servers, compared with the minimum over all samples.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "base/mpi/communicator.hpp"
#include "sidestream/error.hpp"
#include "support/ranks.hpp"
#include "visualisation/graphics/compositing.hpp"

using namespace sidestream;
using namespace sidestream::rendering;

namespace {

Bytes encoded(const Framebuffer& samples, int of_pixel) {
  Drawing drawing(samples.width(), 0, samples.end_row(), of_pixel);
  drawing.opaque = samples;
  return encode(drawing);
}

std::vector<std::uint8_t> pixels_of(const Framebuffer& samples, int of_pixel, const Background& background) {
  Drawing drawing(samples.width(), 0, samples.end_row(), of_pixel);
  drawing.opaque = samples;
  return resolve(drawing, samples.end_row() / of_pixel, background, {});
}

/// A picture of random patches, which depends on member and part, so that every member can make all pictures.
Framebuffer random_picture(std::int64_t width, std::int64_t height, int member, int part, int patches) {
  std::mt19937_64 random(static_cast<unsigned>(1000 * member + part));
  Framebuffer picture(width, 0, height);
  for (int p = 0; p < patches; ++p) {
    const auto x0 = static_cast<std::int64_t>(random() % static_cast<unsigned>(width));
    const auto y0 = static_cast<std::int64_t>(random() % static_cast<unsigned>(height));
    const auto x1 = std::min<std::int64_t>(width, x0 + 1 + static_cast<std::int64_t>(random() % 9));
    const auto y1 = std::min<std::int64_t>(height, y0 + 1 + static_cast<std::int64_t>(random() % 9));
    for (std::int64_t y = y0; y < y1; ++y) {
      // Only few depths occur, so that layer and colour decide many samples.
      for (std::int64_t x = x0; x < x1; ++x) {
        picture.row(y)[x] = make_sample(static_cast<std::uint32_t>(random() % 3), random() % 2,
                                        {static_cast<std::uint8_t>(random()), 7, 9});
      }
    }
  }
  return picture;
}

void check(std::int64_t width, std::int64_t height, int unit, int patches, int parts) {
  MpiCommunicator world(testing::test_ranks());
  CAPTURE(width);
  CAPTURE(height);
  std::vector<Bytes> mine;
  // Some members have no part at all, others several.
  const auto parts_of = [&](int member) { return (member + parts) % 3; };
  for (int part = 0; part < parts_of(world.rank()); ++part) {
    mine.push_back(encoded(random_picture(width, height, world.rank(), part, patches), unit));
  }
  const Framebuffer stripe = composite(mine, width, height, unit, world).opaque;
  Framebuffer expected(width, 0, height);
  for (int member = 0; member < world.size(); ++member) {
    for (int part = 0; part < parts_of(member); ++part) {
      const Framebuffer picture = random_picture(width, height, member, part, patches);
      for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
          expected.row(y)[x] = std::min(expected.row(y)[x], picture.row(y)[x]);
        }
      }
    }
  }
  std::int64_t different = 0;
  for (std::int64_t y = stripe.first_row(); y < stripe.end_row(); ++y) {
    for (std::int64_t x = 0; x < width; ++x) different += stripe.row(y)[x] != expected.row(y)[x];
  }
  CHECK(different == 0);
  // The stripes are the whole picture, each row once, and are cut only between pixels.
  std::vector<std::int64_t> rows{stripe.end_row() - stripe.first_row()};
  CHECK(rows[0] % unit == 0);
  world.sum(rows);
  CHECK(rows[0] == height);
}

}  // namespace

TEST_CASE("the stripes of all servers make the picture of the smallest samples") {
  check(64, 64, 2, 40, 1);
  check(33, 57, 3, 60, 2);
  check(17, 4, 2, 10, 0);  // fewer rows than servers
  check(50, 20, 1, 0, 1);  // nothing was drawn
  check(1, 1, 1, 1, 1);
}

TEST_CASE("runs give the picture back and leave empty samples out") {
  const Framebuffer picture = random_picture(70, 40, 3, 1, 12);
  const Bytes runs = encode_runs(picture);
  Framebuffer again(70, 0, 40);
  merge_runs(runs, again);
  std::size_t covered = 0, different = 0;
  for (std::int64_t y = 0; y < 40; ++y) {
    for (std::int64_t x = 0; x < 70; ++x) {
      covered += picture.row(y)[x] != empty_sample;
      different += picture.row(y)[x] != again.row(y)[x];
    }
  }
  CHECK(different == 0);
  CHECK(covered > 0);
  CHECK(runs.size() < 40 * covered);
  CHECK(encode_runs(Framebuffer(70, 0, 40)).empty());
}

TEST_CASE("runs that are damaged are refused") {
  Bytes runs = encode_runs(random_picture(20, 20, 1, 1, 3));
  Framebuffer small(10, 0, 10);
  CHECK_THROWS_AS(merge_runs(runs, small), Error);
  runs.resize(runs.size() - 3);
  Framebuffer right(20, 0, 20);
  CHECK_THROWS_AS(merge_runs(runs, right), Error);
}

TEST_CASE("a pixel is the mean light of its samples") {
  Framebuffer picture(4, 0, 2);
  const Colour white{255, 255, 255}, red{200, 10, 30};
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 2; ++x) picture.row(y)[x] = make_sample(5, 1, red);
  }
  picture.row(0)[2] = picture.row(1)[3] = make_sample(5, 1, white);
  const auto pixels = pixels_of(picture, 2, {{0, 0, 0}, {0, 0, 0}});
  REQUIRE(pixels.size() == 8);
  CHECK(pixels[0] == red.red);
  CHECK(pixels[1] == red.green);
  CHECK(pixels[2] == red.blue);
  // In sRGB, half the light of white is 187.5.
  CHECK(std::abs(pixels[4] - 187.5) < 1);
  CHECK(pixels[3] == 255);
  CHECK(pixels_of(Framebuffer(4, 0, 2), 2, {red, white})[1] == red.green);
}
