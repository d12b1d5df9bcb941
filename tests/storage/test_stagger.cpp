// Time slots of servers that write one after the other.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "sidestream/kit/storage/results/agreed_commit.hpp"
#include "storage/files/stagger.hpp"

using namespace sidestream;
using namespace sidestream::database;

TEST_CASE("slots follow each other and end in half of the interval") {
  for (const int size : {2, 3, 8, 1000}) {
    for (const double interval : {1e-6, 0.5, 60.0}) {
      for (const double writing : {1e-9, 0.01, 1.0, 1e6}) {
        const bool fits = 1.1 * writing * size <= 0.5 * interval;
        double before = -1;
        for (int rank = 0; rank < size; ++rank) {
          const double begin = slot_begin(rank, size, interval, writing);
          CHECK(begin > before);
          CHECK(begin < 0.5 * interval);
          // No server begins while the previous one still writes, if there is enough time.
          if (fits && rank > 0) CHECK(begin - before >= writing);
          before = begin;
        }
        CHECK(slot_begin(0, size, interval, writing) == 0);
      }
    }
  }
}

TEST_CASE("there are as few rounds as possible") {
  for (int size = 1; size < 20; ++size) {
    CHECK(rounds_of_writing(size, 0) == 1);
    for (int writers = 1; writers < 25; ++writers) {
      const int rounds = rounds_of_writing(size, writers);
      CHECK(rounds * writers >= size);
      CHECK((rounds - 1) * writers < size);
      for (int round = 0; round < rounds; ++round) {
        int members = 0;
        for (int rank = 0; rank < size; ++rank) members += rank % rounds == round;
        CHECK(members <= writers);
      }
    }
  }
}

TEST_CASE("nobody waits if times are unknown, or if there is only one server") {
  CHECK(slot_begin(3, 4, 0, 1) == 0);
  CHECK(slot_begin(3, 4, 1, 0) == 0);
  CHECK(slot_begin(3, 4, -1, 1) == 0);
  CHECK(slot_begin(3, 4, std::nan(""), 1) == 0);
  CHECK(slot_begin(0, 1, 1, 1) == 0);
}
