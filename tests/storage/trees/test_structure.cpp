// Packed flags of trees give every bit back and are small. Other bytes give only errors.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sidestream/error.hpp"
#include "storage/codecs/pipeline.hpp"
#include "storage/trees/random_tree.hpp"
#include "storage/trees/structure.hpp"

using namespace sidestream;
using sidestream::testing::Forest;
using sidestream::testing::WayTree;

namespace {

using Bits = std::vector<std::uint8_t>;

void round_trip(const TreeShape& shape, const Bits& refined, const Bits& owned) {
  Bytes packed;
  REQUIRE(pack_refined(shape, refined, packed));
  Bits flags(refined.size(), 7);
  unpack_refined(shape, packed, flags);
  REQUIRE(flags == refined);
  REQUIRE(pack_owned(shape, refined, owned, packed));
  flags.assign(refined.size(), 7);
  unpack_owned(shape, refined, packed, flags);
  REQUIRE(flags == owned);
}

/// A tree in three dimensions that is refined along a shell, as in a blast. One side is owned.
void shell(int depth, Bits& refined, Bits& owned) {
  struct Cell {
    int level;
    long i, j, k;
  };
  std::vector<Cell> cells{{0, 0, 0, 0}};
  for (std::size_t n = 0; n < cells.size(); ++n) {
    const Cell c = cells[n];
    const double h = 1.0 / static_cast<double>(1L << c.level);
    const auto at = [&](long index) { return (static_cast<double>(index) + 0.5) * h - 0.5; };
    const double r = std::sqrt(at(c.i) * at(c.i) + at(c.j) * at(c.j) + at(c.k) * at(c.k));
    const bool splits = c.level < 3 || (c.level < depth && std::abs(r - 0.3) < 0.7 * h);
    refined.push_back(splits ? 1 : 0);
    owned.push_back(!splits && at(c.i) < 0.1 ? 1 : 0);
    for (int child = 0; splits && child < 8; ++child) {
      cells.push_back({c.level + 1, 2 * c.i + (child & 1), 2 * c.j + (child >> 1 & 1), 2 * c.k + (child >> 2)});
    }
  }
}

}  // namespace

TEST_CASE("flags of random trees come back") {
  std::mt19937 random(7);
  for (int n = 0; n < 300; ++n) {
    const int dimensions = 1 + n % 3;
    const Forest forest(random, dimensions, 1 + static_cast<Index>(random() % 9), 3,
                        static_cast<int>(random() % (9u / unsigned(dimensions) + 1)), 0.5);
    CAPTURE(n);
    const WayTree tree = forest.published(random, 1);
    round_trip(forest.shape, tree.refined, tree.owned);
    Bits last(tree.owned);  // parents have the flags of their last children, as in RAMSES
    const auto step = std::size_t{1} << dimensions;
    std::size_t number = static_cast<std::size_t>(std::count(tree.refined.begin(), tree.refined.end(), 1));
    for (std::size_t cell = last.size(); cell-- > 0;) {
      if (tree.refined[cell] != 0)
        last[cell] = last[static_cast<std::size_t>(forest.shape.roots) + --number * step + step - 1];
    }
    round_trip(forest.shape, tree.refined, last);
  }
}

TEST_CASE("small and deep trees come back") {
  round_trip({3, 1}, {}, {});
  round_trip({3, 1}, {0}, {1});
  round_trip({1, 5}, {0, 0, 0, 0, 0}, {0, 1, 0, 1, 1});
  Bits refined, owned;
  for (int level = 0; level < 500; ++level) {  // in one dimension: refines the second child each time
    if (level > 0) refined.push_back(0);
    refined.push_back(level < 499 ? 1 : 0);
  }
  owned.assign(refined.size(), 1);
  round_trip({1, 1}, refined, owned);
}

TEST_CASE("a blast's million cells take a few thousand bytes, parents' ownership none") {
  Bits refined, owned;
  shell(9, refined, owned);
  REQUIRE(refined.size() > 500000);
  round_trip({3, 1}, refined, owned);
  if (!built_in_codecs().contains("zstd")) return;
  Bytes packed;
  REQUIRE(pack_refined({3, 1}, refined, packed));
  CHECK(packed.size() < refined.size() / 8 / 4);
  // For comparison: one byte for eight siblings, on all levels, packed by the same zstd.
  Bytes masks, plain;
  for (std::size_t n = 1; n < refined.size(); n += 8) {
    unsigned mask = 0;
    for (unsigned child = 0; child < 8; ++child) mask |= unsigned{refined[n + child]} << child;
    masks.push_back(static_cast<std::byte>(mask));
  }
  REQUIRE(Pipeline({"zstd"}, Type::uint8, built_in_codecs()).encode(masks, plain));
  CHECK(packed.size() <= plain.size());
  REQUIRE(pack_owned({3, 1}, refined, owned, packed));
  CHECK(packed.size() < refined.size() / 8 / 20);
}

TEST_CASE("what would be lost is not packed") {
  Bytes packed;
  CHECK(!pack_refined({1, 1}, Bits{2, 0, 0}, packed));
  CHECK(!pack_refined({1, 1}, Bits{1, 0}, packed));
  CHECK(!pack_refined({1, 1}, Bits{0, 0}, packed));
  CHECK(!pack_owned({1, 1}, Bits{1, 0, 0}, Bits{0, 255, 0}, packed));
  CHECK(!pack_owned({1, 1}, Bits{1, 0, 0}, Bits{0, 1}, packed));
}

TEST_CASE("bytes that are not those of a tree give errors, whatever they are") {
  std::mt19937 random(99);
  Bits refined, owned;
  shell(5, refined, owned);
  Bytes of_refined, of_owned;
  REQUIRE(pack_refined({3, 1}, refined, of_refined));
  REQUIRE(pack_owned({3, 1}, refined, owned, of_owned));
  int refused = 0;
  const auto attempt = [&](auto&& unpack) {
    try {
      unpack();
    } catch (const Error& error) {
      CHECK(error.code() == Code::file);
      ++refused;
    }
  };
  Bits flags(refined.size());
  for (int n = 0; n < 2000; ++n) {
    Bytes a = of_refined, b = of_owned;
    for (Bytes* bytes : {&a, &b}) {
      const std::size_t at = random() % bytes->size();
      if (n % 3 == 0) {
        bytes->resize(at);
      } else {
        (*bytes)[at] ^= static_cast<std::byte>(1 + random() % 255);
      }
    }
    attempt([&] { unpack_refined({3, 1}, a, flags); });
    attempt([&] { unpack_owned({3, 1}, refined, b, flags); });
  }
  CHECK(refused > 1000);
  Bits short_by_one(refined.size() - 1);
  CHECK_THROWS_AS(unpack_refined({3, 1}, of_refined, short_by_one), Error);
  CHECK_THROWS_AS(unpack_refined({2, 1}, of_refined, flags), Error);
}
