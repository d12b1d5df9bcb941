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

void check_with(int radix, std::int64_t width, std::int64_t height, int unit, int patches, int parts) {
  MpiCommunicator world(testing::test_ranks());
  CAPTURE(width);
  CAPTURE(height);
  CAPTURE(radix);
  const Stripes stripes(height, unit, world.size(), radix);
  std::vector<Bytes> mine;
  // Some members have no part at all, others several.
  const auto parts_of = [&](int member) { return (member + parts) % 3; };
  for (int part = 0; part < parts_of(world.rank()); ++part) {
    mine.push_back(encoded(random_picture(width, height, world.rank(), part, patches), unit));
  }
  const Framebuffer stripe = composite(mine, width, unit, stripes, world).opaque;
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

void check(std::int64_t width, std::int64_t height, int unit, int patches, int parts) {
  for (const int radix : {2, 3, 8}) check_with(radix, width, height, unit, patches, parts);
}

/// Checks that rounds divide a group, without rest, until each part is one member.
void check_stripes(const Stripes& stripes, const Members& group, int left) {
  if (group.count == 1) return;
  REQUIRE(left > 0);
  int next = group.first;
  for (const Members& part : stripes.parts_of(group)) {
    CHECK(part.first == next);
    CHECK(part.count > 0);
    CHECK(part.count < group.count);
    next += part.count;
    check_stripes(stripes, part, left - 1);
  }
  CHECK(next == group.first + group.count);
}

}  // namespace

TEST_CASE("the stripes of all servers make the picture of the smallest samples") {
  check(64, 64, 2, 40, 1);
  check(33, 57, 3, 60, 2);
  check(17, 4, 2, 10, 0);  // fewer rows than servers
  check(50, 20, 1, 0, 1);  // nothing was drawn
  check(1, 1, 1, 1, 1);
}

TEST_CASE("each row of a picture is completed by one member, whatever the size of the group") {
  for (const int members : {1, 2, 3, 7, 8, 9, 16, 17, 63, 64, 65, 100, 513, 4097}) {
    for (const int radix : {2, 3, 8, 64}) {
      for (const std::int64_t height : {2, 6, 96, 1024}) {
        CAPTURE(members);
        CAPTURE(radix);
        CAPTURE(height);
        const Stripes stripes(height, 2, members, radix);
        std::int64_t rows = 0;
        for (int member = 0; member < members; ++member) {
          const Stripe stripe = stripes.of(member);
          rows += stripe.rows();
          CHECK(stripe.first_row % 2 == 0);
          for (std::int64_t row = stripe.first_row; row < stripe.end_row; ++row) CHECK(stripes.owner(row) == member);
        }
        CHECK(rows == height);
        const std::vector<int> by_row = stripes.members_by_row();
        CHECK(by_row.size() == static_cast<std::size_t>(std::min<std::int64_t>(members, height / 2)));
        std::int64_t row = 0;
        for (const int member : by_row) {
          CHECK(stripes.of(member).first_row == row);
          row = stripes.of(member).end_row;
        }
        check_stripes(stripes, {0, members}, stripes.rounds());
      }
    }
  }
}

TEST_CASE("rounds and messages grow with the logarithm of the group's size") {
  CHECK(Stripes(1024, 1, 1).rounds() == 0);
  CHECK(Stripes(1024, 1, 8).rounds() == 1);
  CHECK(Stripes(1024, 1, 9).rounds() == 2);
  CHECK(Stripes(1024, 1, 512).rounds() == 3);
  CHECK(Stripes(1024, 1, 100000).rounds() == 6);
  CHECK(Stripes(1024, 1, 8, 2).rounds() == 3);
  const auto messages = [](int members, int radix) {
    const Stripes stripes(1024, 1, members, radix);
    std::size_t most = 0;
    for (Members group{0, members}; group.count > 1; group = stripes.parts_of(group)[0]) {
      most += stripes.parts_of(group).size() - 1;
    }
    return most;
  };
  CHECK(messages(100000, 8) == 38);
  CHECK(messages(100000, 2) == 17);
  CHECK(messages(8, 8) == 7);
}

TEST_CASE("neighbouring stripes go to different parts of the group") {
  const Stripes stripes(1024, 1, 64);
  for (std::int64_t stripe = 0; stripe < 63; ++stripe) {
    CHECK(stripes.owner(16 * stripe) / 8 != stripes.owner(16 * (stripe + 1)) / 8);
  }
}

TEST_CASE("lists of runs merge to the picture of the smallest samples, each run once") {
  const Framebuffer one = random_picture(50, 30, 1, 1, 20), two = random_picture(50, 30, 2, 1, 20);
  const Bytes a = encode_runs(one), b = encode_runs(two), none;
  Framebuffer expected(50, 0, 30);
  merge_runs(a, expected);
  merge_runs(b, expected);
  const std::vector<BytesView> lists{a, none, b, a};
  CHECK(merged_runs(lists, 50) == encode_runs(expected));
  CHECK(merged_runs({}, 50).empty());
  CHECK_THROWS_AS(merged_runs(lists, 9), Error);
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
