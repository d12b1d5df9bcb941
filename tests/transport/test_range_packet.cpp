// Questions about ranges and their answers come back from their bytes, which are few.
#include "transport/mpi/packet.hpp"

#include <doctest/doctest.h>

#include <random>

#include "sidestream/error.hpp"

using namespace sidestream;
using namespace sidestream::mpi;

namespace {

std::vector<RangeRegion> random_regions(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<RangeRegion> regions;
  for (int block = 0; block < 20; ++block) {
    const Index far = block % 5 == 0 ? Index{1} << 40 : 50;
    for (std::uint64_t count = random() % 6; count > 0; --count) {
      RangeRegion& region = regions.emplace_back();
      region.block = block % 3 == 0 ? -block : Index{1} << 50;
      region.kind = RangeRegion::Kind(random() % 3);
      region.variable = static_cast<std::int32_t>(random() % 2);
      region.component = static_cast<std::int32_t>(random() % 2);
      region.refined = static_cast<std::int32_t>(random() % 2) - 1;
      for (std::size_t a = 0; a < 3; ++a) {
        region.points.lo[a] = static_cast<Index>(random() % static_cast<std::uint64_t>(far)) - far / 2;
        region.points.hi[a] = region.points.lo[a] + static_cast<Index>(random() % 4);
      }
    }
  }
  return regions;
}

}  // namespace

TEST_CASE("questions come back, with near and far boxes, empty ones, and blocks of any id") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::vector<RangeRegion> regions = random_regions(seed);
    const std::vector<RangeRequest> requests{{3, 0}, {5, 2}};
    const RangeQuestion question = read_question(write_question(requests, regions));
    CHECK(question.requests == requests);
    REQUIRE(question.regions.size() == regions.size());
    for (std::size_t n = 0; n < regions.size(); ++n) {
      const RangeRegion &a = question.regions[n], &b = regions[n];
      CHECK((a.block == b.block && a.kind == b.kind && a.variable == b.variable && a.component == b.component));
      CHECK((a.refined == b.refined && a.owned == b.owned && a.points == b.points));
    }
  }
  CHECK(!write_question({}, {}).empty());
}

TEST_CASE("a region next to others of its block costs twelve bytes") {
  std::vector<RangeRegion> regions(1);
  regions[0].points = {{Index{1} << 60, 0, 5}, {(Index{1} << 60) + 16, 16, 6}};
  const std::size_t one = write_question({}, regions).size();
  regions.resize(27, regions[0]);
  CHECK(write_question({}, regions).size() == one + 26 * 12);
}

TEST_CASE("answers come back; what is cut off is refused") {
  MeasuredRanges measured;
  measured.blocks.resize(2);
  measured.blocks[1].block = 7;
  measured.blocks[1].all = {-1, 2};
  measured.regions = {{0, 1}, {}, {3, 3}};
  const Bytes bytes = write_ranges(measured);
  const MeasuredRanges found = read_ranges(bytes);
  REQUIRE(found.blocks.size() == 2);
  CHECK(found.blocks[1].block == 7);
  CHECK(found.blocks[1].all == Range{-1, 2});
  CHECK(found.regions == measured.regions);
  CHECK_THROWS_AS(static_cast<void>(read_ranges(BytesView(bytes).first(100))), Error);
  const Bytes question = write_question(std::vector<RangeRequest>{{1, 0}}, random_regions(1));
  CHECK_THROWS_AS(static_cast<void>(read_question(BytesView(question).first(question.size() - 1))), Error);
}
