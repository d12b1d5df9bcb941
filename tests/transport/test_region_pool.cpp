// A limit of memory that processes of a node share.
#include "transport/region_uses.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "support/faults.hpp"
#include "transport/shared_memory/memory_limit.hpp"
#include "transport/sidecar.hpp"

using namespace sidestream;
using shared_memory::SharedLimit;

TEST_CASE("a pool borrows what it needs beyond its own part, and gives back unused memory when others want it") {
  test::Alone alone;
  const auto lender = std::make_shared<SharedLimit>(alone, 4096);
  RegionPool one(1024, lender), other(1024, lender);
  CHECK(one.most() == 5120);
  std::vector<std::byte*> regions;
  for (int n = 0; n < 5; ++n) regions.push_back(one.take(1024));
  for (std::byte* region : regions) {
    REQUIRE(region != nullptr);
    std::memset(region, 1, 1024);
  }
  CHECK(one.borrowed() == 4096);
  CHECK(one.take(64) == nullptr);
  std::byte* own = other.take(1024);  // nobody can borrow this part
  REQUIRE(own != nullptr);
  CHECK(other.take(1024) == nullptr);
  CHECK(lender->wanted());
  for (std::byte* region : regions) one.give_back(region);
  CHECK(one.borrowed() == 0);
  CHECK(other.take(4096) != nullptr);
  CHECK(other.borrowed() == 4096);
  CHECK(one.take(1024) != nullptr);
}

TEST_CASE("unused memory stays warm while nobody wants it") {
  test::Alone alone;
  const auto lender = std::make_shared<SharedLimit>(alone, 4096);
  RegionPool pool(1024, lender);
  std::byte* first = pool.take(2048);
  pool.give_back(first);
  CHECK(pool.borrowed() == 1024);
  CHECK(pool.take(2048) == first);
}

TEST_CASE("memory that runs out while regions are taken and given back does not change the limit") {
  for (long n = 1; n < 12; ++n) {
    RegionUses uses(1024);
    std::byte* data = uses.reserve(1024);
    REQUIRE(data != nullptr);
    uses.commit(data, true);
    {
      const testing::FailingAllocation failing(n);
      uses.clear(data);
      uses.release(data);
    }
    CHECK(uses.pool().used() == 0);
    {
      const testing::FailingAllocation failing(n);
      try {
        if (std::byte* some = uses.reserve(512)) uses.clear(some), uses.release(some);
      } catch (const std::bad_alloc&) {
      }
    }
    CHECK(uses.pool().used() == 0);
    CHECK(uses.reserve(1024) != nullptr);
  }
}

TEST_CASE("a pool that ends gives all back, and a fixed one borrows nothing") {
  test::Alone alone;
  const auto lender = std::make_shared<SharedLimit>(alone, 4096);
  { CHECK(RegionPool(0, lender).take(4096) != nullptr); }
  RegionPool next(0, lender);
  CHECK(next.take(4096) != nullptr);
  RegionPool fixed(128);
  CHECK(fixed.take(64) != nullptr);
  CHECK(fixed.take(128) == nullptr);
  std::byte* second = fixed.take(64);
  REQUIRE(second != nullptr);
  fixed.give_back(second);
  CHECK(fixed.take(64) == second);
}
