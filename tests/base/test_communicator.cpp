// Communication between members of a group, on any number of ranks. If one member has no memory, all fail alike.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mpi/abort_flag.hpp"
#include "base/mpi/agree.hpp"
#include "base/mpi/communicator.hpp"
#include "support/faults.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using sidestream::testing::FailingAllocation;

namespace {

/// Bytes that depend on sender and receiver. Member r sends r * 1000 + to of them, so that lengths differ and may be 0.
Bytes letter(int from, int to) {
  return Bytes(static_cast<std::size_t>(from * 1000 + to), static_cast<std::byte>(1 + from + 16 * to));
}

/// Calls `work` once, then with a failure of the n-th allocation of one rank, for all n, then once more. It must fail
/// on all ranks or on none, and be right (true) where it does not fail. Only the tested call may allocate memory in it.
void sweep(MpiCommunicator& group, const std::function<bool()>& work) {
  CHECK(work());
  for (int victim = 0; victim < std::min(group.size(), 3); ++victim) {
    std::int64_t reached = 1;
    for (long n = 1; reached; ++n) {
      std::int64_t failed = 0;
      bool right = true;
      {
        const FailingAllocation failing(group.rank() == victim ? n : 0);
        try {
          right = work();
        } catch (const std::exception&) {
          failed = 1;
        }
        reached = sidestream_test_allocation_failed();
      }
      std::int64_t most = failed;
      group.maximum(std::span(&most, 1));
      group.maximum(std::span(&reached, 1));
      REQUIRE_MESSAGE(failed == most, "victim ", victim, ", allocation ", n);
      REQUIRE(right);
      REQUIRE(n < 1000);
    }
  }
  CHECK(work());
}

/// The bytes that each member sends to member `to`.
std::vector<Bytes> letters_to(int to, int members) {
  std::vector<Bytes> all;
  for (int r = 0; r < members; ++r) all.push_back(letter(r, to));
  return all;
}

bool same(const std::vector<MemberMessage>& a, const std::vector<MemberMessage>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.member == y.member && x.bytes == y.bytes; });
}

}  // namespace

TEST_CASE("gather brings every member's bytes to the root") {
  MpiCommunicator group(testing::test_ranks());
  const int root = group.size() - 1;
  const std::vector<Bytes> expected = group.rank() == root ? letters_to(0, group.size()) : std::vector<Bytes>();
  const Bytes mine = letter(group.rank(), 0);
  sweep(group, [&] { return group.gather(mine, root) == expected; });
}

TEST_CASE("all_gather brings every member's bytes to everybody") {
  MpiCommunicator group(testing::test_ranks());
  const std::vector<Bytes> expected = letters_to(1, group.size());
  const Bytes mine = letter(group.rank(), 1);
  sweep(group, [&] { return group.all_gather(mine) == expected; });
}

TEST_CASE("all_gather goes in rounds where one would be too long") {
  MpiCommunicator group(testing::test_ranks());
  group.set_longest_message(1500);
  const std::vector<Bytes> all = group.all_gather(letter(group.rank(), 1));
  for (int r = 0; r < group.size(); ++r) CHECK(all[static_cast<std::size_t>(r)] == letter(r, 1));
  const std::vector<Bytes> gathered = group.gather(letter(group.rank(), 1), 0);
  if (group.rank() == 0) CHECK(gathered == all);
}

TEST_CASE("all_to_all brings each message to its member") {
  MpiCommunicator group(testing::test_ranks());
  std::vector<Bytes> to;
  for (int r = 0; r < group.size(); ++r) to.push_back(letter(group.rank(), r));
  const std::vector<Bytes> expected = letters_to(group.rank(), group.size());
  sweep(group, [&] { return group.all_to_all(to) == expected; });
}

TEST_CASE("broadcast replaces the bytes everywhere") {
  MpiCommunicator group(testing::test_ranks());
  const int root = group.size() - 1;
  const Bytes expected = letter(root, 2);
  sweep(group, [&] {
    Bytes bytes;
    run_collectively(group, [&] { bytes = letter(group.rank(), 2); });
    group.broadcast(bytes, root);
    return bytes == expected;
  });
}

TEST_CASE("exchange brings messages to those they are for, and nothing to others") {
  MpiCommunicator group(testing::test_ranks());
  const int next = (group.rank() + 1) % group.size(), before = (group.rank() + group.size() - 1) % group.size();
  // Each member sends two messages to the next, one of them empty; odd members also send one to member 0.
  std::vector<MemberMessage> to{{next, letter(group.rank(), 3)}, {next, {}}};
  if (group.rank() % 2) to.push_back({0, letter(group.rank(), 4)});
  std::vector<MemberMessage> expected;
  for (int r = 0; r < group.size(); ++r) {
    if (r == before) expected.push_back({r, letter(r, 3)});
    if (r == before) expected.push_back({r, {}});
    if (r % 2 && group.rank() == 0) expected.push_back({r, letter(r, 4)});
  }
  for (int times = 0; times < 20; ++times) CHECK(same(group.exchange(to), expected));
  sweep(group, [&] {
    std::vector<MemberMessage> copy;
    run_collectively(group, [&] { copy = to; });
    return same(group.exchange(std::move(copy)), expected);
  });
}

TEST_CASE("some send to themselves in an exchange, or nothing at all") {
  MpiCommunicator group(testing::test_ranks());
  for (int talking = 0; talking < group.size(); ++talking) {
    std::vector<MemberMessage> to;
    if (group.rank() == talking) to = {{talking, letter(talking, 1)}, {0, letter(talking, 2)}, {talking, {}}};
    std::vector<MemberMessage> expected;
    if (group.rank() == 0 && talking > 0) expected = {{talking, letter(talking, 2)}};
    if (group.rank() == talking) expected.insert(expected.end(), {{talking, letter(talking, 1)}, {talking, {}}});
    if (group.rank() == 0 && talking == 0) expected.insert(expected.begin() + 1, {0, letter(0, 2)});
    CHECK(same(group.exchange(to), expected));
  }
}

TEST_CASE("exclusive_sum adds what lower members have") {
  MpiCommunicator group(testing::test_ranks());
  std::int64_t expected = 0;
  for (int r = 0; r < group.rank(); ++r) expected += (std::int64_t{1} << 40) + r;
  CHECK(group.exclusive_sum((std::int64_t{1} << 40) + group.rank()) == expected);
}

TEST_CASE("split makes groups that talk among themselves") {
  MpiCommunicator group(testing::test_ranks());
  const std::unique_ptr<Communicator> part = group.split(group.rank() % 2);
  REQUIRE(part);
  CHECK(part->rank() == group.rank() / 2);
  std::int64_t count = 1;
  part->sum(std::span(&count, 1));
  CHECK(count == part->size());
  CHECK(part->size() == (group.size() + 1 - group.rank() % 2) / 2);
  const std::unique_ptr<Communicator> none = group.split(-1);
  CHECK_FALSE(none);
}

TEST_CASE("together fails on all with the sentence of the lowest member") {
  MpiCommunicator group(testing::test_ranks());
  const std::string longer(5000, 'x');
  for (const std::string& text : {std::string("short"), longer}) {
    std::string caught;
    try {
      run_collectively(group, [&] {
        if (group.rank() + 2 >= group.size()) {
          throw Error(Code::file, text + std::to_string(group.rank()));
        }
      });
    } catch (const Error& e) {
      caught = e.what();
      CHECK(e.code() == Code::file);
    }
    CHECK(caught == text + std::to_string(std::max(0, group.size() - 2)));
  }
  sweep(group, [&] {
    run_collectively(group, [] { static_cast<void>(Bytes(100)); });
    return true;
  });
}

TEST_CASE("a bell is heard by members that do not wait for it") {
  MpiCommunicator group(testing::test_ranks());
  Bell bell(group);
  for (int round = 0; round < 20; ++round) {
    bell.listen();
    // Some do not look before they end the round, and others look until the first member has rung.
    const bool looks = group.rank() > 0 && (round + group.rank()) % 3 != 0;
    while (looks && !bell.rung()) {
    }
    int meanwhile = 0;
    CHECK(bell.ring(group.rank() == 0 && round % 4 == 0, [&] { ++meanwhile; }) == (round % 4 == 0));
    CHECK((!looks || meanwhile == 0));
    // Collective calls between two rounds do not disturb it.
    std::int64_t sum = 1;
    group.sum(std::span(&sum, 1));
    CHECK(sum == group.size());
  }
}
