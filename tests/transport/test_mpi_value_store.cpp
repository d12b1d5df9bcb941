// The value store, compared with a list of all arrays that it ever got.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "transport/mpi/value_store.hpp"

using namespace sidestream;
using namespace sidestream::mpi;

namespace {

/// An array that was put into the value store. `until` is the first iteration that does not have it.
struct Put {
  std::int64_t index, until;
  std::int32_t variable;
  Block block;
  const std::byte* data;
};

class Twin {
 public:
  void put(std::int64_t index, const Arrival& arrival) {
    const BlockRecord& record = arrival.record;
    if (record.persistent) end(index, [&](const Put& p) { return same(p, record.variable, record.block.id); });
    puts.push_back({index, record.persistent ? INT64_MAX : index + 1, record.variable, record.block, arrival.data});
  }
  void forget(std::int64_t index, const Block& block, bool removed) {
    end(index, [&](const Put& p) { return p.block.id == block.id && (removed || !(p.block == block)); });
  }
  [[nodiscard]] const std::byte* find(std::int64_t index, std::int32_t variable, std::int64_t id) const {
    for (const Put& p : puts) {
      if (same(p, variable, id) && p.index <= index && index < p.until) return p.data;
    }
    return nullptr;
  }
  std::vector<Put> puts;

 private:
  static bool same(const Put& p, std::int32_t variable, std::int64_t id) {
    return p.variable == variable && p.block.id == id;
  }
  /// Ends kept arrays, but no arrays of a single iteration.
  template <class Which>
  void end(std::int64_t index, Which&& which) {
    for (Put& p : puts) {
      if (p.until == INT64_MAX && which(p)) p.until = index;
    }
  }
};

Arrival arrival(std::int32_t variable, const Block& block, bool persistent, std::byte* data) {
  Arrival result;
  result.record.variable = variable;
  result.record.block = block;
  result.record.persistent = persistent;
  result.data = data;
  return result;
}

}  // namespace

TEST_CASE("arrays are found in their iterations and given back once, when nobody can ask for them") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    ValueStore value_store;
    Twin twin;
    std::vector<std::byte> memory(4000);
    std::byte* next = memory.data();
    std::set<const std::byte*> freed;
    std::int64_t dropped = 0;
    for (std::int64_t n = 0; n < 60; ++n) {
      for (std::int64_t id = 0; id < 5; ++id) {
        Block block;
        block.id = id;
        block.cells.hi = {static_cast<Index>(random() % 2 + 1), 1, 1};
        if (random() % 5 == 0) {
          const bool removed = random() % 2;
          value_store.forget(n, block, removed);
          twin.forget(n, block, removed);
        }
        for (std::int32_t variable = 0; variable < 4; ++variable) {  // variables 2 and 3 are kept
          if (random() % 3) continue;
          const Arrival put = arrival(variable, block, variable >= 2, next++);
          value_store.put(n, put);
          twin.put(n, put);
        }
      }
      CHECK(!value_store.is_complete(n));
      value_store.complete(n);
      CHECK(value_store.is_complete(n));
      for (std::int64_t index = dropped; index <= n; ++index) {
        for (std::int32_t variable = 0; variable < 4; ++variable) {
          std::set<const std::byte*> all;
          for (std::int64_t id = 0; id < 5; ++id) {
            const std::optional<Arrival> found = value_store.find(index, variable, id);
            const std::byte* expected = twin.find(index, variable, id);
            REQUIRE((found ? found->data : nullptr) == expected);
            if (expected) all.insert(expected);
          }
          const std::vector<Arrival> of = value_store.of(index, variable);
          REQUIRE(of.size() == all.size());
          for (const Arrival& one : of) REQUIRE(all.contains(one.data));
        }
      }
      while (dropped <= n && random() % 3) {
        for (const Arrival& gone : value_store.drop(dropped)) REQUIRE(freed.insert(gone.data).second);
        ++dropped;
        for (const Put& p : twin.puts) REQUIRE(freed.contains(p.data) == (p.until <= dropped));
      }
    }
  }
}
